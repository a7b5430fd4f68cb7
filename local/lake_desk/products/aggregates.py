"""Aggregates of a SELECT: functions that make one value of many rows."""

from __future__ import annotations

from lake_desk.products.spark_functions import AGGREGATES
from lake_desk.products.sql_tree import exp


def is_aggregate(node: exp.Expr) -> bool:
    """Return whether a node aggregates rows, in groups or over a window."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in AGGREGATES
    return isinstance(node, exp.AggFunc)


def aggregates(select: exp.Select) -> bool:
    """Return whether a SELECT aggregates its rows, other than over a window."""
    in_windows = set()
    for window in select.find_all(exp.Window):
        inner = window.this
        while isinstance(inner, (exp.IgnoreNulls, exp.RespectNulls, exp.Filter)):
            inner = inner.this
        in_windows.add(id(inner))
    return any(
        is_aggregate(node) and id(node) not in in_windows
        for value in [*select.selects, select.args.get("having")]
        if value is not None
        for node in value.walk(prune=lambda each: isinstance(each, exp.Query))
    )
