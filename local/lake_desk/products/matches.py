"""Rows of a product that found no version in a history that is joined by time.

A LEFT JOIN keeps such rows, and nothing fails: where a history begins later than the facts,
nearly all of them may be such. So the SQL says of each row whether it is one.
"""

from __future__ import annotations

from typing import Collection, List, Mapping, Tuple

from lake_desk.products.aggregates import aggregates
from lake_desk.products.sql_tree import exp
from lake_spec.model import ProductInput, TimeJoin

COLUMN = "lake_without_match_{}"
"""The column that is true of a row without a match, by the number of its join."""


def add_match_columns(
    tree: exp.Query, inputs: Mapping[str, ProductInput], by_time: Collection[str]
) -> Tuple[TimeJoin, ...]:
    """Add to the SELECT a column for each LEFT JOIN of a view in `by_time`; return those.

    None where rows are put together after the joins: then a row is of several matches.
    """
    if not isinstance(tree, exp.Select) or aggregates(tree):
        return ()
    if any(tree.args.get(part) for part in ("group", "distinct", "having")):
        return ()
    found: List[TimeJoin] = []
    for join in tree.args.get("joins") or ():
        view, alias = join.this.name, join.this.alias_or_name
        if join.side != "LEFT" or view not in by_time or join.kind in ("SEMI", "ANTI"):
            continue
        made = TimeJoin(inputs[view].table, COLUMN.format(len(found)))
        key = exp.column(inputs[view].key[0], table=alias)
        tree.append("expressions", exp.alias_(key.is_(exp.Null()), made.column))
        found.append(made)
    return tuple(found)
