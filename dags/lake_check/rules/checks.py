"""Rules on checks of whole tables: of a table alone, and next to those it refers to."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, Iterator, Mapping, Optional, Sequence, Set, Tuple

from lake_check.rules.columns import columns_of_check, readable_checks
from lake_check.rules.rule_set import RuleSet, rule
from lake_check.rules.table_names import (
    Found,
    NamedTable,
    missing_column,
    with_other_names,
)
from lake_spec.diagnostics.diagnostic import Path, Problem, got, key_path
from lake_spec.model import (
    CheckedLayer,
    Engine,
    FileTable,
    ProductTable,
    References,
    Sensitivity,
    TableSpec,
)
from lake_spec.model import names
from lake_spec.model.column_type import ColumnType

CHECKS = RuleSet()

LONGEST_NAME = 64
SHOWN = "checks-show-no-values"


@CHECKS.rule("checks")
def checks_have_limits(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a check without anything to compare with, or with limits that cross.

    Fix: Write what the message asks for: columns, at_least, at_most, change, share or
    sigma.
    """
    for path, check in readable_checks(spec):
        for problem in check.problems():
            yield replace(problem, path=(*path, *problem.path))


@CHECKS.rule("checks", "columns")
def checks_fit_types(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a check that the type of its column cannot have.

    Fix: Name a column of a type that the message lists, or use another check.
    """
    for path, check in readable_checks(spec):
        needs = check.needs
        for at, name in columns_of_check(path, check):
            kind = spec.type_of(name)
            if kind is None or needs is None or needs.has(kind):
                continue
            of = f"{check.operation} needs {needs.value}"
            yield got(at, name, f"It is {kind.text}, and {of}. Name another column.")


@CHECKS.rule("checks", "columns", "key")
def checks_show_no_values(spec: TableSpec) -> Iterator[Problem]:
    """Refuse aggregates whose results would be values of persons or of the key.

    Fix: Use count_distinct, null_share or an expression, or another column.
    """
    # Results are kept and shown, and such a value may have to be erased.
    for path, check in readable_checks(spec):
        name = check.shown_column
        column = spec.column(name) if name else None
        if column is not None and column.sensitivity is Sensitivity.PERSONAL:
            yield _shown(path, name, "its values are data of persons")
        elif name in spec.key and check.shows_one_value:
            yield _shown(
                path, name, "it is part of the key, whose values may be erased"
            )


def _shown(path: Path, name: Optional[str], why: str) -> Problem:
    hint = f"The result is kept and shown, and {why}. Name another column."
    return got((*path, "column"), name, hint)


@CHECKS.rule("checks", "source", "engine")
def checked_layers_exist(spec: TableSpec) -> Iterator[Problem]:
    """Refuse a check of a layer that the table does not have, or does not write itself.

    Fix: Remove `layer`, or write one that the message names.
    """
    layers = [CheckedLayer.CURRENT]
    if not isinstance(spec, ProductTable):
        layers.append(CheckedLayer.HISTORY)
    if isinstance(spec, FileTable) and spec.engine is Engine.PYSPARK:
        layers.append(CheckedLayer.CHANGES)
    for path, check in readable_checks(spec):
        if check.layer not in layers:
            listed = ", ".join(each.value for each in layers)
            hint = f"Layers that can be checked here: {listed}."
            yield got((*path, "layer"), check.layer.value, hint)


@CHECKS.rule("checks")
def check_names_differ(spec: TableSpec) -> Iterator[Problem]:
    """Refuse two checks of a layer with one name: their results would have the same name.

    Fix: Give one of the two another `name`.
    """
    taken: Dict[Tuple[CheckedLayer, str], Path] = {}
    for path, check in readable_checks(spec):
        if check.name is not None:
            yield from names.label((*path, "name"), check.name, LONGEST_NAME)
        first = taken.setdefault((check.layer, check.title), path)
        if first != path:
            message = f"{check.title!r} is the name of {key_path(first)} too"
            yield Problem(path, check.title, message, "Give one of them a `name`.")


def personal_by_origin(
    spec: TableSpec, origins: Mapping[str, str]
) -> Iterator[Problem]:
    """List checks that would show personal values that a table has from others.

    `origins` says by column where its values come from. A column that is declared as
    personal is refused where the spec is read.
    """
    for path, check in readable_checks(spec):
        name = check.shown_column
        if name is not None and name in origins:
            why = f"its values are data of persons: they come from {origins[name]}"
            yield replace(_shown(path, name, why), rule=SHOWN)


def check_problems(
    specs: Sequence[TableSpec], files: Set[Tuple[str, str]]
) -> Iterator[Found]:
    """List problems between tables and those that their checks refer to; `files` as in
    `with_other_names`."""
    for each in with_other_names(specs, files):
        for path, check in readable_checks(each.spec):
            if isinstance(check, References):
                for problem in references_lead_to_columns(each, path, check):
                    yield each.position, problem


@rule
def references_lead_to_columns(
    each: NamedTable, path: Path, check: References
) -> Iterator[Problem]:
    """Refuse a reference to a table or column that does not exist or has another type.

    Fix: Write a table of the domain and one of its columns, as in `to: customers.id`, of
    the same type.
    """
    at = (*path, "to")
    if not check.other_table or not check.other_column or "." in check.other_column:
        hint = "Write a table of this domain and its column, as in customers.id."
        yield got(at, check.to, hint)
        return
    other = each.tables.get(check.other_table)
    if check.other_table not in (*each.names, each.spec.name):
        yield each.missing(at, check.other_table)
    elif other is not None and other.columns:
        if other.column(check.other_column) is None:
            yield replace(missing_column(at, other, check.other_column), value=check.to)
            return
        one, two = each.spec.type_of(check.column), other.type_of(check.other_column)
        if one and two and _family(one) != _family(two):
            hint = f"It is {two.text}, and {check.column} is {one.text}. Correct one."
            yield got(at, check.to, hint)


def _family(kind: ColumnType) -> str:
    whole = ("int", "bigint")
    return "whole number" if kind.stored.name in whole else kind.stored.name
