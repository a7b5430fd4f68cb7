"""Rules on full loads after the first: where in the order each of them started."""

from __future__ import annotations

import re
from typing import Iterator, Tuple

from lake_check.rules.rule_set import RuleSet
from lake_check.rules.source import gives_a_time
from lake_spec.diagnostics.diagnostic import Problem, got
from lake_spec.model import FeedTable
from lake_spec.text import patterns

FULL_REFRESH = RuleSet()

_PATTERN = ("source", "full_refresh", "pattern")


@FULL_REFRESH.rule("source", "order_by", "columns")
def full_refresh_pattern_names_the_order(spec: FeedTable) -> Iterator[Problem]:
    """Refuse a full refresh whose path does not give its place in the order.

    Fix: Name the groups of `source.full_refresh.pattern` after the columns of
    `order_by`, up to the first timestamp.
    """
    full_refresh = spec.full_refresh
    if full_refresh is None:
        return
    hint = patterns.hint(full_refresh.pattern)
    if hint is not None:
        yield got(_PATTERN, full_refresh.pattern, hint)
        return
    groups = tuple(re.compile(full_refresh.pattern).groupindex)
    needed = columns_that_date(spec)
    unknown = [name for name in groups if name not in spec.order_by]
    missing = [name for name in needed if name not in groups]
    if unknown or missing or not needed:
        example = "".join(f"(?P<{name}>[^/]+)/" for name in needed or ("updated_at",))
        yield got(
            _PATTERN,
            full_refresh.pattern,
            "Name its groups after the columns of order_by, from the first up to the "
            f"first timestamp, as in reload/{example} (order_by: "
            f"{list(spec.order_by)}).",
        )


def columns_that_date(spec: FeedTable) -> Tuple[str, ...]:
    """Return order_by up to its first date or timestamp; empty without one."""
    for position, name in enumerate(spec.order_by):
        kind = spec.type_of(name)
        if kind and kind.is_time:
            return spec.order_by[: position + 1]
    return ()


@FULL_REFRESH.rule("source")
def full_refresh_format_gives_a_date(spec: FeedTable) -> Iterator[Problem]:
    """Refuse a time format of full refreshes without at least the year, or with %Z.

    Fix: Write strptime's directives, as in %Y-%m-%d, %Y%m%dT%H%M%S or %Y-%m-%dT%H%z.
    """
    full_refresh = spec.full_refresh
    if full_refresh is not None:
        yield from gives_a_time(
            ("source", "full_refresh", "format"), full_refresh.format
        )
