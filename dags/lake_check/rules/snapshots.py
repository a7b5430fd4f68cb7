"""Rules on the time and the scope of snapshots."""

from __future__ import annotations

import re
from typing import Iterator

from lake_check.rules.rule_set import RuleSet
from lake_check.rules.source import gives_a_time
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.model import SnapshotTable
from lake_spec.model import names
from lake_spec.text import patterns

SNAPSHOTS = RuleSet()

TIME = ("source", "snapshot_time")
_COMPLETE = ("source", "complete")
_WAYS = ("marker", "parts", "manifest")
_MOST_PARTS = 1_000_000
_NO_SCOPE = ("float", "double", "binary")


def one_group(path: Path, pattern: str, what: str) -> Iterator[Problem]:
    """Require a regular expression whose one group is `what`."""
    hint = patterns.hint(pattern)
    if hint is not None:
        yield got(path, pattern, hint)
        return
    groups = re.compile(pattern).groups
    if groups != 1:
        yield got(
            path,
            pattern,
            f"It has {groups} groups; put one pair of parentheses around {what}, and"
            " write (?:...) for others.",
        )


@SNAPSHOTS.rule("source", "source.snapshot_time")
def snapshot_time_pattern_has_one_group(spec: SnapshotTable) -> Iterator[Problem]:
    """Refuse a pattern that does not have one group for the snapshot's time.

    Fix: Put one pair of parentheses around the time, and write (?:...) for other
    groups.
    """
    pattern = spec.source.snapshot_time.pattern
    if pattern is not None:
        yield from one_group((*TIME, "pattern"), pattern, "the time")


@SNAPSHOTS.rule("source", "source.snapshot_time")
def snapshot_time_has_one_place(spec: SnapshotTable) -> Iterator[Problem]:
    """Refuse a snapshot time without a place, or with two.

    Fix: Write `pattern` for a time in the path, or `column` for one in the rows.
    """
    where = spec.source.snapshot_time
    if not where.pattern and not where.column:
        hint = (
            "Write `pattern` for a time in the path, or `column` for one in the rows."
        )
        yield Problem(TIME, None, "has no group for the time", hint)
    if where.pattern and where.column:
        hint = "`pattern` has the time already: remove one of the two."
        yield got((*TIME, "column"), where.column, hint)


@SNAPSHOTS.rule("source", "source.snapshot_time")
def snapshot_time_format_gives_a_date(spec: SnapshotTable) -> Iterator[Problem]:
    """Refuse a format of snapshot times without at least the year, or with %Z.

    Fix: Write strptime's directives, as in %Y-%m-%d, %Y%m%dT%H%M%S or %Y-%m-%dT%H%z.
    """
    yield from gives_a_time((*TIME, "format"), spec.source.snapshot_time.format)


@SNAPSHOTS.rule("source", "source.snapshot_time", "columns")
def snapshot_time_column_is_not_stored(spec: SnapshotTable) -> Iterator[Problem]:
    """Refuse a time column that is also stored: each row would always change.

    Fix: Remove the source's column from `columns`; the change log keeps the time as
    lake_snapshot_at.
    """
    column = spec.source.snapshot_time.column
    if column is None:
        return
    yield from names.text_of_source((*TIME, "column"), column, is_csv=False)
    for name, declared in spec.columns:
        if column.lower() in [each.lower() for each in declared.source or (name,)]:
            hint = (
                f"Column {name!r} reads it, so that every row would change with every "
                "snapshot: remove it from that column. The change log keeps the time "
                "as lake_snapshot_at."
            )
            yield got((*TIME, "column"), column, hint)


@SNAPSHOTS.rule("source", "source.complete")
def complete_has_one_way(spec: SnapshotTable) -> Iterator[Problem]:
    """Refuse several signs of a complete snapshot, or none.

    Fix: Write exactly one of marker, parts and manifest; none for a pulled table.
    """
    complete = spec.source.complete
    if complete is None:
        return
    chosen = [name for name in _WAYS if getattr(complete, name) is not None]
    if len(chosen) != 1:
        message = f"has {' and '.join(chosen) or 'no way to recognize it'}"
        hint = f"Write exactly one of: {', '.join(_WAYS)}."
        yield Problem(_COMPLETE, chosen, message, hint)
    if spec.source.pulled_from is not None:
        hint = "Remove it: a pull lands its snapshot as a whole."
        yield Problem(_COMPLETE, chosen, "not allowed with `pulled_from`", hint)


@SNAPSHOTS.rule("source", "source.complete")
def complete_signs_match_one_object(spec: SnapshotTable) -> Iterator[Problem]:
    """Refuse a sign of completeness that matches the snapshot's own files.

    Fix: Write a glob that matches only the object which is written last.
    """
    complete = spec.source.complete
    for name in ("marker", "manifest"):
        sign = getattr(complete, name, None)
        if sign is None:
            continue
        path = (*_COMPLETE, name)
        yield from names.glob(path, sign)
        if sign in (spec.source.files, "*", "**", "**/*"):
            hint = (
                "It matches the files of the snapshot too: write one that matches "
                "only the object that ends it."
            )
            yield got(path, sign, hint)


@SNAPSHOTS.rule("source", "source.complete")
def parts_are_a_number_or_two_groups(spec: SnapshotTable) -> Iterator[Problem]:
    r"""Refuse `parts` that do not say how many files a snapshot has.

    Fix: Write a number, or an expression with groups for the part and the count, as in
    part-(\d+)-of-(\d+).
    """
    complete = spec.source.complete
    parts, path = complete.parts if complete else None, (*_COMPLETE, "parts")
    if isinstance(parts, int) and not 1 <= parts <= _MOST_PARTS:
        yield got(path, parts, f"Write a number of files from 1 to {_MOST_PARTS:,}.")
    if not isinstance(parts, str):
        return
    hint = patterns.hint(parts)
    if hint is not None:
        yield got(path, parts, hint)
        return
    compiled = re.compile(parts)
    named = set(compiled.groupindex)
    if named != {"part", "count"} and (named or compiled.groups != 2):
        hint = (
            "Put parentheses around the number of the part and around how many there"
            r" are, as in part-(\d+)-of-(\d+), or name the groups `part` and `count`;"
            " write (?:...) for others."
        )
        yield got(path, parts, hint)


@SNAPSHOTS.rule("source", "source.scope", "columns")
def scope_is_a_column_of_plain_values(spec: SnapshotTable) -> Iterator[Problem]:
    """Refuse a scope that is not a declared column of plain values.

    Fix: Declare the column under `columns` as string, whole number or date; string if
    the value is in the path.
    """
    scope = spec.scope
    if scope is None:
        return
    path = ("source", "scope", "column")
    kind = spec.type_of(scope.column)
    if not spec.columns:
        yield got(path, scope.column, "Declare it, with its type, under `columns`.")
    elif kind and scope.pattern and kind.name != "string":
        hint = f"Values from a path are text: declare it as string, not {kind.name}."
        yield got(path, scope.column, hint)
    elif kind and (kind.is_nested or kind.name in _NO_SCOPE):
        hint = f"It is of type {kind.name}: choose a text, a whole number or a date."
        yield got(path, scope.column, hint)


@SNAPSHOTS.rule("source", "source.scope")
def scope_pattern_has_one_group(spec: SnapshotTable) -> Iterator[Problem]:
    """Refuse a pattern that does not have one group for the scope's value.

    Fix: Put one pair of parentheses around the value, and write (?:...) for other
    groups.
    """
    scope = spec.scope
    if scope is not None and scope.pattern is not None:
        path = ("source", "scope", "pattern")
        yield from one_group(path, scope.pattern, "the value")
