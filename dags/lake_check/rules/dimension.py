"""Rules on dimensions: alone, and next to the two tables that they are made of."""

from __future__ import annotations

from typing import Iterator, List, Sequence, Set, Tuple

from lake_check.rules.columns import references
from lake_check.rules.rule_set import RuleSet, rule
from lake_check.rules.table_names import (
    Found,
    NamedTable,
    missing_column,
    with_other_names,
)
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.model import DimensionTable, FileTable, Side, TableSpec
from lake_spec.model import names
from lake_spec.model.column_type import BadType, parse_type
from lake_spec.model.history_columns import added_columns
from lake_spec.model.names import RESERVED_PREFIXES
from lake_spec.model.shown_columns import shown_columns

DIMENSION = RuleSet()

SIDES = ("main", "joined")


def sides(spec: DimensionTable) -> Iterator[Tuple[Path, Side]]:
    """Return both tables of a dimension with the key paths of their names."""
    for name in SIDES:
        yield ("source", name), getattr(spec.source, name)


@DIMENSION.rule("source")
def dimension_has_two_other_tables(spec: DimensionTable) -> Iterator[Problem]:
    """Refuse a dimension that names itself, or one table twice.

    Fix: Name two other tables of the domain under `source.main` and `source.joined`.
    """
    seen = {spec.name: "the dimension itself"}
    for path, side in sides(spec):
        if side.table in seen:
            hint = f"That is {seen[side.table]}: name two other tables of the domain."
            yield got((*path, "table"), side.table, hint)
        seen.setdefault(side.table, "the main table")


@DIMENSION.rule("source")
def dimension_columns_are_plain(spec: DimensionTable) -> Iterator[Problem]:
    """Refuse names of a dimension's columns with unsupported characters.

    Fix: Write the names of columns that the main or the joined table declares.
    """
    for path, side in sides(spec):
        for position, name in enumerate(side.columns):
            yield from names.source_name((*path, "columns", position), name)
        for name, _ in side.rename:
            yield from names.source_name((*path, "rename", name), name)


@DIMENSION.rule("source", "history")
def dimension_renames_are_free(spec: DimensionTable) -> Iterator[Problem]:
    """Refuse a new name of a column that the lake or the key uses.

    Fix: Choose another name under `rename`; a key column keeps its name.
    """
    added = {name for _, name in added_columns(spec)}
    for path, side in sides(spec):
        for column, name in side.rename:
            at = (*path, "rename", column)
            yield from names.name(at, name)
            if name in added or name.startswith(RESERVED_PREFIXES):
                yield got(
                    at,
                    name,
                    ("The lake adds a column of that name: choose another name."),
                )
            if column in spec.key:
                hint = "Remove it: a key column keeps its name in a dimension."
                yield got(at, name, hint)


def dimension_problems(
    specs: Sequence[TableSpec], files: Set[Tuple[str, str]]
) -> Iterator[Found]:
    """List problems between dimensions and their tables; `files` as in
    `with_other_names`."""
    for each in with_other_names(specs, files):
        if isinstance(each.spec, DimensionTable):
            for problem in _problems(each, each.spec):
                yield each.position, problem


def _problems(each: NamedTable, spec: DimensionTable) -> Iterator[Problem]:
    unfit = list(dimension_tables_exist(each, spec))
    yield from unfit
    names = [side.table for _, side in sides(spec)]
    found = [each.tables[name] for name in names if name in each.tables]
    if not unfit and len(found) == len(names) and spec.key:
        for judge in _AMONG_TABLES:
            yield from judge(spec, *found)


@rule
def dimension_tables_exist(each: NamedTable, spec: DimensionTable) -> Iterator[Problem]:
    """Refuse a dimension of tables that do not exist, are dimensions or products.

    Fix: Name two tables of the domain that have landing files.
    """
    for path, side in sides(spec):
        at, table = (*path, "table"), each.tables.get(side.table)
        if side.table == spec.name:
            continue  # reported by a rule of its own
        if side.table not in each.names:
            yield each.missing(at, side.table)
        elif table is not None and not isinstance(table, FileTable):
            kind = table.source.kind
            hint = f"It is a {kind}: name a table that has landing files."
            yield got(at, side.table, hint)


@rule
def dimension_keys_are_equal(
    spec: DimensionTable, main: TableSpec, joined: TableSpec
) -> Iterator[Problem]:
    """Refuse a dimension whose tables do not have the same key.

    Fix: Give the dimension and both tables the same key columns, in the same order and
    of the same types.
    """
    if spec.key != main.key:
        hint = f"Write the key of the main table: {_listed(main.key)}."
        yield got(("key",), list(spec.key), hint)
    at = ("source", "joined", "table")
    if joined.key != main.key:
        hint = (
            f"Its key is {_listed(joined.key)}, the key of {main.name} is "
            f"{_listed(main.key)}: give both tables the same key columns in the same "
            "order."
        )
        yield got(at, joined.name, hint)
        return
    ours, theirs = dict(main.columns), dict(joined.columns)
    for name in main.key:
        if name not in ours or name not in theirs:
            continue
        one, other = ours[name].type, theirs[name].type
        if _stored(one) != _stored(other):
            hint = (
                f"Its key column {name!r} is {other}, in {main.name} it is {one}: "
                "give both the same type."
            )
            yield got(at, joined.name, hint)


def _stored(kind: str) -> str:
    """Return the stored type; an invalid one has its own diagnostic."""
    try:
        return parse_type(kind).stored.text
    except BadType:
        return kind


@rule
def dimension_columns_exist(
    spec: DimensionTable, main: TableSpec, joined: TableSpec
) -> Iterator[Problem]:
    """Refuse a dimension that shows or renames columns its tables lack.

    Fix: Correct the name, or add the column to the table or to `columns`.
    """
    for (path, side), table in zip(sides(spec), (main, joined)):
        declared = [name for name, _ in table.columns]
        named = [((*path, "columns", i), c) for i, c in enumerate(side.columns)]
        named += [((*path, "rename", column), column) for column, _ in side.rename]
        for at, name in named:
            if declared and name not in declared:
                yield missing_column(at, table, name)
            elif at[2] == "rename" and side.columns and name not in side.columns:
                hint = (
                    "Add it to `columns`, or remove it: the dimension does not show it."
                )
                yield got(at, name, hint)


@rule
def dimension_names_are_unique(
    spec: DimensionTable, main: TableSpec, joined: TableSpec
) -> Iterator[Problem]:
    """Refuse a dimension in which two columns have one name.

    Fix: Rename one of them under `rename`, or list the columns to show under `columns`.
    """
    taken = {name: "a column that the lake adds" for _, name in added_columns(spec)}
    taken.update((name.lower(), "a column of the key") for name in spec.key)
    for (path, side), table in zip(sides(spec), (main, joined)):
        for column, name in shown_columns(side, _names(table), spec.key):
            first = taken.get(name.lower())
            taken.setdefault(name.lower(), f"a column of {table.name}")
            if first:
                hint = (
                    f"Its column {column!r} would be {name!r}, which is {first}: write"
                    f" rename: {{{column}: {table.name}_{column}}}, or list the columns to"
                    " show without it in `columns`."
                )
                yield got((*path, "table"), table.name, hint)


@rule
def dimension_references_are_shown(
    spec: DimensionTable, main: TableSpec, joined: TableSpec
) -> Iterator[Problem]:
    """Refuse history and storage settings that name columns the dimension lacks.

    Fix: Correct the name, or show the column.
    """
    if not (main.columns and joined.columns):
        return
    shown = list(spec.key)
    for (_, side), table in zip(sides(spec), (main, joined)):
        shown += [name for _, name in shown_columns(side, _names(table), spec.key)]
    for path, name in references(spec):
        if path[0] in ("history", "storage") and name not in shown:
            hint = did_you_mean(name, shown)
            hint = f"{hint}Columns of the dimension: {', '.join(shown)}."
            yield Problem(
                path, name, (f"{name!r} is not a column of the dimension"), hint
            )


_AMONG_TABLES = (
    dimension_keys_are_equal,
    dimension_columns_exist,
    dimension_names_are_unique,
    dimension_references_are_shown,
)


def _names(table: TableSpec) -> List[str]:
    return [name for name, _ in table.columns]


def _listed(columns: Sequence[str]) -> str:
    return f"[{', '.join(columns)}]"
