"""Rules on enrichment: of a feed alone, and next to its reference tables."""

from __future__ import annotations

from typing import Iterator, Sequence, Set, Tuple

from lake_check.rules.rule_set import RuleSet, rule
from lake_check.rules.table_names import (
    Found,
    NamedTable,
    missing_column,
    with_other_names,
)
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.model import Engine, Enrichment, FeedTable, FileTable, TableSpec
from lake_spec.model import names
from lake_spec.model.history_columns import added_columns
from lake_spec.model.names import RESERVED_PREFIXES

ENRICHMENT = RuleSet()


def _each(spec: FeedTable) -> Iterator[Tuple[Path, Enrichment]]:
    for position, each in enumerate(spec.enrich):
        yield ("source", "enrich", position), each


@ENRICHMENT.rule("source", "engine")
def enrichment_is_done_by_pyspark(spec: FeedTable) -> Iterator[Problem]:
    """Refuse enrichment with `engine: streamer`: its rows are judged too early.

    Fix: Write `engine: pyspark`, or remove `source.enrich`.
    """
    if spec.enrich and spec.engine is not Engine.PYSPARK:
        hint = (
            "Rows for HoodieStreamer are prepared before any table of the run is built, so "
            "before its reference tables: write engine: pyspark, or remove source.enrich."
        )
        yield got(("engine",), spec.engine.value, hint)


@ENRICHMENT.rule("source")
def enrichment_is_complete(spec: FeedTable) -> Iterator[Problem]:
    """Refuse enrichment without another table, join columns or columns to add.

    Fix: Name another table of the domain under `table`, the columns to join by under
    `by`, and the columns to add under `columns`.
    """
    for path, each in _each(spec):
        if each.table == spec.name:
            hint = "That is the table itself: name another table of the domain."
            yield got((*path, "table"), each.table, hint)
        if not each.by:
            hint = "Name the columns to join by, as in by: {country: name}."
            yield got((*path, "by"), {}, hint)
        if not each.columns:
            hint = f"List the columns of {each.table} to add to each row."
            yield got((*path, "columns"), [], hint)
        for name, _ in each.rename:
            if name not in each.columns:
                hint = "Add it to `columns`, or remove it: rows do not get it."
                yield got((*path, "rename", name), name, hint)


@ENRICHMENT.rule("source", "columns")
def enrichment_join_columns_exist(spec: FeedTable) -> Iterator[Problem]:
    """Refuse enrichment by columns that the table does not declare.

    Fix: Correct the name under `by`, or declare the column under `columns`.
    """
    declared = [name for name, _ in spec.columns]
    for path, each in _each(spec):
        for name, _ in each.by:
            if name not in declared:
                hint = did_you_mean(name, declared)
                hint = f"{hint}Declared columns: {', '.join(declared) or 'none'}."
                at = (*path, "by", name)
                yield Problem(at, name, f"{name!r} is not a declared column", hint)


@ENRICHMENT.rule("source", "columns", "history")
def enrichment_names_are_free(spec: FeedTable) -> Iterator[Problem]:
    """Refuse an added column whose name is in use.

    Fix: Give the column another name under `rename`.
    """
    taken = {name: "a column that the lake adds" for _, name in added_columns(spec)}
    taken.update({name.lower(): "a column of this table" for name, _ in spec.columns})
    for path, each in _each(spec):
        for column, name in each.given:
            renamed = column in dict(each.rename)
            at = (
                (*path, "rename", column)
                if renamed
                else (*path, "columns", each.columns.index(column))
            )
            yield from names.name(at, name)
            first = taken.get(name.lower())
            taken.setdefault(name.lower(), f"a column of {each.table}")
            if name.startswith(RESERVED_PREFIXES):
                first = (
                    "reserved, as is every name that begins with "
                    f"{RESERVED_PREFIXES[0]}"
                )
            if first:
                hint = f"That is {first}: write rename: {{{column}: {each.table}_{column}}}."
                yield got(at, name, hint)


def enrichment_problems(
    specs: Sequence[TableSpec], files: Set[Tuple[str, str]]
) -> Iterator[Found]:
    """List problems between feeds and reference tables; `files` as in
    `with_other_names`."""
    for each in with_other_names(specs, files):
        if not isinstance(each.spec, FeedTable):
            continue
        for path, enrichment in _each(each.spec):
            if enrichment.table != each.spec.name:  # reported by a rule of its own
                for problem in enrichment_fits_table(each, path, enrichment):
                    yield each.position, problem


@rule
def enrichment_fits_table(
    each: NamedTable, path: Path, enrichment: Enrichment
) -> Iterator[Problem]:
    """Refuse enrichment by a table that cannot be joined.

    Fix: Name a table of the domain that is built from landing files and declares its
    columns, join by its whole key, and give both sides the same types.
    """
    at, table = (*path, "table"), each.tables.get(enrichment.table)
    if enrichment.table not in each.names:
        yield each.missing(at, enrichment.table)
    elif table is not None and (not isinstance(table, FileTable) or table.enrich):
        kind = "enriched itself" if table.enrich else f"a {table.source.kind}"
        hint = f"It is {kind}: name a table that is built from landing files only."
        yield got(at, enrichment.table, hint)
    elif table is not None:
        yield from _columns_unfit(each.spec, path, enrichment, table)


def _columns_unfit(
    spec: TableSpec, path: Path, each: Enrichment, table: TableSpec
) -> Iterator[Problem]:
    declared = [name for name, _ in table.columns]
    if not declared:
        hint = "It declares no columns, so their types are unknown: declare them."
        yield got((*path, "table"), each.table, hint)
        return
    for position, name in enumerate(each.columns):
        if name not in declared:
            yield missing_column((*path, "columns", position), table, name)
            continue
        kind = table.type_of(name)
        if kind and kind.is_nested:
            hint = f"It is of type {kind.name}: give a column with single values."
            yield got((*path, "columns", position), name, hint)
    if sorted(name for _, name in each.by) != sorted(table.key):
        hint = (
            f"The key of {table.name} is [{', '.join(table.key)}]: give each of its "
            "columns once, so that a row matches at most one row."
        )
        yield got((*path, "by"), dict(each.by), hint)
        return
    for ours, theirs in each.by:
        one, other = spec.type_of(ours), table.type_of(theirs)
        if one and other and one.stored != other.stored:
            hint = (
                f"It is {one.text}, and {theirs!r} of {table.name} is {other.text}: give"
                " both the same type."
            )
            yield got((*path, "by", ours), theirs, hint)
