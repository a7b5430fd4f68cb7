"""Quality rules proposed from the profile of a table: what all of its rows keep today."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Iterator, List

from lake_check.rules.quality import tests_of
from lake_desk.docgen.meanings import meanings_of, setting_of
from lake_spec.model import Rule, TableSpec
from lake_spec.model.choices import OnFail
from lake_spec.model.column_type import parse_type
from lake_spec.state.table_profile import LONGEST, ColumnProfile, TableProfile
from lake_spec.text.patterns import LONGEST_MATCHED

from lake_local.onboard.spec_text import flow, one_line

FEWEST = 100
"""Rows below which a profile says too little of what comes."""

_EXAMPLES = 3
_LARGEST, _SMALLEST, _DIGITS = 1e99, Decimal("1e-99"), 1e16
"""Limits of numbers that a spec takes; whole ones from 1e16 on are written as floats."""


@dataclass(frozen=True)
class Suggestion:
    """A rule, and the figures that speak for it."""

    column: str
    test: str
    value: Any
    why: str


def suggestions(spec: TableSpec, profile: TableProfile) -> List[Suggestion]:
    """List the rules that all measured rows keep and the spec does not have yet.

    Of columns whose values may not be shown only required values are proposed.
    """
    if profile.rows < FEWEST:
        return []
    taken = {(rule.column, test) for rule in spec.quality for test in tests_of(rule)}
    return [
        each
        for column in profile.columns
        for each in _of_column(column, profile.rows, column.name in spec.key)
        if (each.column, each.test) not in taken
    ]


def rules_text(spec: TableSpec, profile: TableProfile, found: List[Suggestion]) -> str:
    """Return the rules as YAML for the table's file, the figures as comments.

    Each only warns, so that a wrong one quarantines nothing.
    """
    head = [
        f"Rules proposed for {spec.full_name}, from {profile.rows:,} rows of current on "
        f"{profile.at[:10]}."
    ]
    if not found:
        few = f"a profile of fewer than {FEWEST} rows says too little"
        why = (
            few if profile.rows < FEWEST else "the spec has all that the profile shows"
        )
        return f"# {head[0]}\n# No rule to propose: {why}.\n"
    head += [
        "All of these rows keep them; whether later rows must is for you to decide. Add",
        f"what is right to `quality` of {spec.domain}/{spec.name}.yml. `on_fail` is what",
        "becomes of a row that fails; where it is left out, it is "
        f"`{setting_of(Rule, 'on_fail').default.value}`.",
        *(f"  {each}: {what}" for each, what in meanings_of(OnFail).items()),
    ]
    lines = [*(f"# {each}" for each in head), "quality:"]
    for each in found:
        lines.append(f"  # {one_line(f'{each.column}: {each.why}')}")
        test = {"column": each.column, each.test: each.value}
        rule = {**test, "on_fail": OnFail.WARN.value}
        lines.append(f"  - {flow(rule)}")
    return "\n".join(lines) + "\n"


def _of_column(column: ColumnProfile, rows: int, is_key: bool) -> Iterator[Suggestion]:
    known = rows - column.nulls
    if not column.nulls and not is_key:
        yield Suggestion(
            column.name, "not_null", True, f"each of {rows:,} rows has a value"
        )
    if column.counts_only or is_key or known < FEWEST:
        return
    kind = parse_type(column.type)
    is_listable = kind.name == "string" or kind.is_whole
    if is_listable and _has_all_values(column, known):
        yield _accepted(column, known)
    elif kind.is_numeric:
        yield from _limits(column, known)
    elif kind.name == "string" and _has_one_length(column):
        pattern = f"(?s)^.{{{column.max_length}}}$"
        words = f"each of {known:,} values has {column.max_length} characters"
        yield Suggestion(column.name, "matches", pattern, words)


def _has_all_values(column: ColumnProfile, known: int) -> bool:
    """Return whether the most frequent values are all values, none of them cut."""
    values = [value for value, _ in column.top]
    all_of_them = sum(count for _, count in column.top) == known
    return all_of_them and all(value and len(value) < LONGEST for value in values)


def _has_one_length(column: ColumnProfile) -> bool:
    """Return whether all texts have one length, that a pattern may test."""
    length = column.max_length or 0
    return 0 < length <= LONGEST_MATCHED and column.min_length == length


def _accepted(column: ColumnProfile, known: int) -> Suggestion:
    shown = [f"{value} {count:,}" for value, count in column.top[:_EXAMPLES]]
    more = ", ..." if len(column.top) > _EXAMPLES else ""
    words = f"{len(column.top)} different values in {known:,} rows: "
    values = [value for value, _ in column.top]
    return Suggestion(column.name, "one_of", values, f"{words}{', '.join(shown)}{more}")


def _limits(column: ColumnProfile, known: int) -> Iterator[Suggestion]:
    """Propose round limits around the values; none above where most values differ.

    Numbers that nearly all differ are counters as a rule, and grow.
    """
    low, high = Decimal(column.min or "NaN"), Decimal(column.max or "NaN")
    if not (low.is_finite() and high.is_finite()):
        return
    words = f"{column.min} to {column.max} in {known:,} rows"
    least = 0 if low >= 0 else -_round_above(low.copy_abs())
    if abs(least) <= _LARGEST:
        yield Suggestion(column.name, "at_least", least, words)
    most = 0 if high <= 0 else _round_above(high)
    if most <= _LARGEST and (column.distinct or 0) < known / 2:
        yield Suggestion(column.name, "at_most", most, words)


def _round_above(value: Decimal) -> float:
    """Return the least of 1, 2, 5 times a power of ten that is not below."""
    value = max(value, _SMALLEST)
    power = Decimal(10) ** value.adjusted()
    found = float(next(n * power for n in (1, 2, 5, 10) if n * power >= value))
    return int(found) if found.is_integer() and found < _DIGITS else found
