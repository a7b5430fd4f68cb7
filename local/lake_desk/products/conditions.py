"""Conditions of checks: SQL over the columns of one row, checked where specs are."""

from __future__ import annotations

from typing import Tuple

from lake_check.messages.product_ids import ProductId
from lake_desk.products import checks
from lake_desk.products.aggregates import is_aggregate
from lake_desk.products.findings import Findings
from lake_desk.products.inputs import Columns
from lake_desk.products.spec_sql import written
from lake_desk.products.sql_tree import BadSql, exp, kind_of, qualified, text_of
from lake_desk.products.statement import expression
from lake_spec.diagnostics.diagnostic import Path
from lake_spec.model.column_type import ColumnType
from lake_spec.model.type_conversion import family_of

_VIEW = "input_0"


def compile_condition(sql: str, columns: Columns, path: Path) -> Tuple[str, Findings]:
    """Return the text of a condition that Spark gets, and what is wrong with it.

    `columns` are empty where nobody knows them.
    """
    found = Findings()
    value = expression(sql, path, found)
    if value is None:
        return "", found
    for node in value.walk():
        what = _of_many_rows(node)
        if what:
            hint = "A condition is about one row: remove it, or make a product of it."
            message = f"{what} in {text_of(value)!r}"
            found.add(path, sql, message, hint, ProductId.BAD_CONDITION)
            return "", found
    _check_columns(value, columns, path, found)
    return "" if found else written(value, (), found), found


def _check_columns(
    value: exp.Expr, columns: Columns, path: Path, found: Findings
) -> None:
    tree = exp.select(exp.alias_(value, "holds")).from_(_VIEW)
    tree.meta["path"] = path
    checks.check_supported(tree, found)
    if found or not columns:
        return
    try:
        tree = qualified(tree, {_VIEW: columns})
    except BadSql as error:
        found.add(path, None, error.message, "Correct it.", ProductId.INVALID_SQL)
        return
    checks.check_columns(tree, {_VIEW: columns}, found)
    if not found:
        _check_types(tree, path, found)


def _of_many_rows(node: exp.Expr) -> str:
    """Return what part of SQL reads more than one row; nothing if it does not."""
    if isinstance(node, (exp.Query, exp.Table)):
        return "a subquery"
    if isinstance(node, exp.Window):
        return "a window"
    return "an aggregate" if is_aggregate(node) else ""


def _check_types(tree: exp.Query, path: Path, found: Findings) -> None:
    condition = tree.selects[0].unalias()
    kind = kind_of(condition)
    if kind is not None and kind.name != "boolean":
        message = f"it is {kind.text}, not true or false"
        hint = "Write a comparison, as in shipped_at >= ordered_at."
        found.add(path, None, message, hint, ProductId.BAD_CONDITION)
    for node in condition.find_all(exp.Predicate):
        both = (node.args.get("this"), node.args.get("expression"))
        sides = [each for each in both if isinstance(each, exp.Column)]
        if len(sides) < 2:
            continue
        one, two = (kind_of(each) for each in sides)
        if one and two and _comparable(one) != _comparable(two):
            names = [each.name for each in sides]
            message = f"compares {names[0]} ({one.text}) with {names[1]} ({two.text})"
            hint = f"Cast one of the two, as in CAST({names[0]} AS {two.text})."
            found.add(path, None, message, hint, ProductId.COMPARED_TYPES)


def _comparable(kind: ColumnType) -> str:
    return "time" if kind.is_time else family_of(kind)
