"""Rules on the history table."""

from __future__ import annotations

from typing import Dict, Iterator

from lake_check.rules.order import load_time
from lake_check.rules.rule_set import RuleSet
from lake_spec.diagnostics.diagnostic import Path, Problem, got, key_path
from lake_spec.model import VersionedTable
from lake_spec.model import names
from lake_spec.model.history_columns import added_columns
from lake_spec.model.names import RESERVED_PREFIXES
from lake_spec.text.times import parse_timestamp

HISTORY = RuleSet()


@HISTORY.rule("history")
def track_or_ignore(spec: VersionedTable) -> Iterator[Problem]:
    """Refuse `history.track` together with `history.ignore`.

    Fix: Keep `track` (only these columns open versions) or `ignore` (all columns but
    these do).
    """
    if spec.history.track and spec.history.ignore:
        yield got(
            ("history", "ignore"),
            list(spec.history.ignore),
            "`track` is set too: keep `track` (only these columns open versions) or "
            "`ignore` (all columns but these do).",
        )


@HISTORY.rule("history", "key")
def tracked_columns_are_not_keys(spec: VersionedTable) -> Iterator[Problem]:
    """Refuse key columns in `track` or `ignore`: they never change.

    Fix: Remove the key column from the list.
    """
    for name in ("track", "ignore"):
        for position, column in enumerate(getattr(spec.history, name)):
            if column in spec.key:
                hint = "Remove it: a key column never changes within its history."
                yield got(("history", name, position), column, hint)


@HISTORY.rule("history")
def history_column_names_are_free(spec: VersionedTable) -> Iterator[Problem]:
    """Refuse names of history's columns that are reserved or in use.

    Fix: Choose another name under `history`.
    """
    first: Dict[str, Path] = {}
    for path, name in added_columns(spec):
        yield from names.name(path, name)
        if name.startswith(RESERVED_PREFIXES):
            yield got(
                path, name, "The prefix `lake_` is reserved. Choose another name."
            )
        if first.setdefault(name, path) != path:
            other = key_path(first[name])
            yield got(path, name, f"{other} has that name: choose another name.")


@HISTORY.rule("history", "load_effective_at")
def open_end_is_after_load(spec: VersionedTable) -> Iterator[Problem]:
    """Refuse an open end that is not after the beginning of history.

    Fix: Choose a `history.open_end` after `load_effective_at`, as in 9999-12-31.
    """
    end = parse_timestamp(spec.history.open_end or "")
    load = load_time(spec)
    start = parse_timestamp(load or "")
    if end and start and end <= start:
        yield got(
            ("history", "open_end"),
            spec.history.open_end,
            f"Choose a time after load_effective_at ({load}).",
        )
