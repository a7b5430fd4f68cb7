"""Rules on the time and the scope of extracts."""

from __future__ import annotations

import re
from typing import Iterator

from lake_spec.faults import Path, Problem, got
from lake_spec.model import ExtractTime, Snapshot, TableSpec
from lake_spec.rules import names
from lake_spec.rules.book import RuleBook
from lake_spec.rules.columns import type_of

EXTRACTS = RuleBook()

TIME = ("source", "extract_time")
_NO_SCOPE = ("float", "double", "binary")


def one_group(path: Path, pattern: str, what: str) -> Iterator[Problem]:
    """A regular expression whose one group is `what`."""
    try:
        groups = re.compile(pattern).groups
    except (re.error, RecursionError, OverflowError) as error:
        yield got(path, pattern, f"Mend the regular expression: {error}.")
        return
    if groups != 1:
        yield got(
            path,
            pattern,
            f"It has {groups} groups; put one pair of parentheses around {what}, and"
            " write (?:...) for others.",
        )


@EXTRACTS.rule("source", "source.extract_time")
def extract_time_pattern_has_one_group(spec: TableSpec) -> Iterator[Problem]:
    pattern = _time_of(spec).pattern
    if pattern is not None:
        yield from one_group((*TIME, "pattern"), pattern, "the time")


@EXTRACTS.rule("source", "source.extract_time")
def extract_time_has_one_place(spec: TableSpec) -> Iterator[Problem]:
    where = _time_of(spec)
    if isinstance(spec.source, Snapshot) and not where.pattern and not where.column:
        remedy = (
            "Write `pattern` for a time in the path, or `column` for one in the rows."
        )
        yield Problem(TIME, None, "names no place of the time", remedy)
    if where.pattern and where.column:
        remedy = "`pattern` says where the time is already: remove one of the two."
        yield got((*TIME, "column"), where.column, remedy)


@EXTRACTS.rule("source", "source.extract_time", "columns")
def extract_time_column_is_of_the_source(spec: TableSpec) -> Iterator[Problem]:
    column = _time_of(spec).column
    if column is None:
        return
    yield from names.source_name((*TIME, "column"), column)
    for name, declared in spec.columns:
        if column.lower() in [each.lower() for each in declared.source or (name,)]:
            remedy = (
                f"Column {name!r} reads it, so that every row would change with every"
                " extract: take it out there. The change log keeps the time as"
                " lake_extract_at."
            )
            yield got((*TIME, "column"), column, remedy)


def _time_of(spec: TableSpec) -> ExtractTime:
    return spec.extract_time or ExtractTime()


@EXTRACTS.rule("source", "source.scope", "columns")
def scope_is_a_column_of_plain_values(spec: TableSpec) -> Iterator[Problem]:
    scope = spec.scope
    if scope is None:
        return
    path = ("source", "scope", "column")
    kind = type_of(spec, scope.column)
    if not spec.columns:
        yield got(path, scope.column, "Declare it, with its type, under `columns`.")
    elif kind and scope.pattern and kind.name != "string":
        remedy = f"What a path says is text: declare it as string, not {kind.name}."
        yield got(path, scope.column, remedy)
    elif kind and (kind.is_nested or kind.name in _NO_SCOPE):
        remedy = f"It is of type {kind.name}: choose a text, a whole number or a date."
        yield got(path, scope.column, remedy)


@EXTRACTS.rule("source", "source.scope")
def scope_pattern_has_one_group(spec: TableSpec) -> Iterator[Problem]:
    scope = spec.scope
    if scope is not None and scope.pattern is not None:
        path = ("source", "scope", "pattern")
        yield from one_group(path, scope.pattern, "the value")
