"""What a product's SELECT must keep to: known columns, types, and one result each time."""

from __future__ import annotations

from typing import Callable, Dict, List, Mapping, Optional, Tuple, Type, Union

from lake_check.messages.product_ids import ProductId
from lake_desk.products.aggregates import aggregates, is_aggregate
from lake_desk.products.findings import Findings, Place, listed, place_of
from lake_desk.products.inputs import Columns
from lake_desk.products.spark_functions import BY_RUN_NAMES, FUNCTIONS
from lake_desk.products.sql_tree import (
    Scope,
    exp,
    kind_of,
    scopes,
    sources_by_alias,
    sources_of,
    text_of,
)
from lake_spec.diagnostics.diagnostic import shown
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.model import TableSpec
from lake_spec.model.type_conversion import family_of, is_lossless
from lake_spec.text.patterns import slow_in_java

BY_RUN = (
    *(exp.Rand, exp.Randn, exp.Uuid, exp.Shuffle, exp.CurrentTimestamp),
    *(exp.CurrentDate, exp.CurrentTime, exp.Localtimestamp, exp.CurrentUser),
    *(exp.CurrentTimezone, exp.SessionUser, exp.CurrentCatalog, exp.CurrentDatabase),
    exp.CurrentSchema,
)
"""Functions whose result differs by run, session or cluster; others have only names."""

BY_ROW_ORDER = (
    *(exp.First, exp.FirstValue, exp.Last, exp.LastValue, exp.AnyValue),
    *(exp.ArrayAgg, exp.ArrayUniqueAgg, exp.GroupConcat),
)
"""Aggregates whose result depends on the order of the rows, which Spark does not keep."""

_NO_ORDER = "Rows of a table have no order. Remove it"
OF_QUERIES = {
    "order": ("ORDER BY", f"{_NO_ORDER}, or use `storage.sort_by`."),
    "sort": ("SORT BY", f"{_NO_ORDER}, or use `storage.sort_by`."),
    "cluster": ("CLUSTER BY", f"{_NO_ORDER}."),
    "distribute": ("DISTRIBUTE BY", f"{_NO_ORDER}."),
    "limit": (
        "LIMIT",
        "It may choose other rows each time. Use QUALIFY row_number() OVER (...) = 1, "
        "or remove it.",
    ),
    "offset": ("OFFSET", "It may choose other rows each time. Remove it."),
    "into": ("INTO", "A product's rows go to its own table. Remove it."),
}
"""Parts of a query that a product cannot have: their words, and what to do."""

_OF_PATTERNS = (
    *(exp.RegexpLike, exp.RegexpILike, exp.RegexpExtract, exp.RegexpExtractAll),
    *(exp.RegexpReplace, exp.RegexpCount, exp.RegexpInstr, exp.RegexpSplit),
)
"""Functions of a regular expression, which Java runs."""

OTHERS: Dict[Type[exp.Expr], Tuple[str, str]] = {
    exp.TableSample: ("TABLESAMPLE", "Its rows differ each time: remove it."),
    exp.QueryTransform: (
        "TRANSFORM ... USING",
        "It runs another program: remove it.",
    ),
    exp.Version: (
        "a version of a table",
        "Each build reads the newest commit: remove it.",
    ),
    exp.Pivot: ("PIVOT", "Write CASE or FILTER in aggregates, and GROUP BY."),
}
"""Other parts of SQL that it cannot have, in the same way."""


def check_supported(tree: exp.Query, found: Findings) -> None:
    """Refuse what gives another result each time, or is no part of a product."""
    for query in tree.find_all(exp.Query):
        for name, (what, hint) in OF_QUERIES.items():
            part = query.args.get(name)
            if part is not None:
                _refuse(part, what, hint, found)
    for node in tree.find_all(exp.Expr):
        _check_node(node, found)


def _check_node(node: exp.Expr, found: Findings) -> None:
    other = OTHERS.get(type(node))
    if other is not None:
        _refuse(node, *other, found)
    elif isinstance(node, (exp.Placeholder, exp.Parameter, exp.SessionParameter)):
        hint = "Nothing is filled in: write the value."
        _refuse(node, f"the parameter {text_of(node)}", hint, found)
    elif isinstance(node, exp.SetOperation):
        _check_lengths(node, found)
    elif isinstance(node, exp.Join) and (node.args.get("using") or node.method):
        hint = "Write ON with both columns, as in ON c.customer_id = o.customer_id."
        _refuse(node, "USING" if node.args.get("using") else node.method, hint, found)
    elif isinstance(node, BY_ROW_ORDER) and not _is_ordered(node):
        hint = (
            "Its result depends on the order of the rows, which differs each time: use "
            "min, max, max_by, or sort_array around a collected list."
        )
        _refuse(node, text_of(node), hint, found)
    elif isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):
        hint = "Write a function of Spark 3.5 by its name alone."
        _refuse(node, f"the function {text_of(node)}", hint, found)
    elif isinstance(node, exp.Func):
        _check_function(node, found)


def _check_lengths(node: exp.SetOperation, found: Findings) -> None:
    one, other = len(node.this.selects), len(node.expression.selects)
    if one != other and not any(each.is_star for each in (node.this, node.expression)):
        message = f"{node.key.upper()} of {one} and {other} columns"
        hint = "Select as many columns on both sides."
        found.add(place_of(node), None, message, hint, ProductId.UNSUPPORTED_SQL)


def _check_function(node: exp.Func, found: Findings) -> None:
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    pattern = node.args.get("expression") if isinstance(node, _OF_PATTERNS) else None
    if isinstance(pattern, exp.Literal):
        hint = slow_in_java(pattern.name)
        if hint:
            _refuse(node, f"the expression {shown(pattern.name)}", hint, found)
    if isinstance(node, BY_RUN) or name in BY_RUN_NAMES:
        hint = "Its result differs each time: use a column of an input."
        _refuse(node, text_of(node), hint, found)
    elif name and name not in FUNCTIONS:
        hint = f"{did_you_mean(name, FUNCTIONS)}Use a function of Spark 3.5."
        message = f"unknown function {name!r}"
        found.add(place_of(node), name, message, hint, ProductId.UNSUPPORTED_SQL)


def _is_ordered(node: exp.Expr) -> bool:
    """Return whether a window or a sort gives an aggregate's rows an order."""
    above = node.parent
    while isinstance(above, (exp.IgnoreNulls, exp.RespectNulls, exp.Filter)):
        above = above.parent
    if isinstance(above, exp.Window):
        return above.args.get("order") is not None
    is_sorted = isinstance(above, (exp.SortArray, exp.ArraySort))
    return is_sorted and isinstance(node, (exp.ArrayAgg, exp.ArrayUniqueAgg))


def _refuse(node: exp.Expr, what: str, hint: str, found: Findings) -> None:
    message = f"{what} is not supported"
    found.add(place_of(node), None, message, hint, ProductId.UNSUPPORTED_SQL)


def check_columns(
    tree: exp.Query, columns: Mapping[str, Columns], found: Findings
) -> None:
    """Refuse columns that the tables of their query do not have."""
    for scope in scopes(tree):
        sources = _sources(scope, columns)
        for column in scope.find_all(exp.Column):
            _check_column(column, sources, found)
    for select in tree.find_all(exp.Select):
        _check_order_of_joins(select, found)
        _check_groups(select, found)


def _check_order_of_joins(select: exp.Select, found: Findings) -> None:
    """Refuse an ON with a column of a table that is joined after it."""
    joins = select.args.get("joins") or []
    later = {each.this.alias_or_name for each in joins}
    for join in joins:
        later.discard(join.this.alias_or_name)
        on = join.args.get("on")
        for column in on.find_all(exp.Column) if on else ():
            if column.table in later:
                message = f"{text_of(column)} is used before {column.table} is joined"
                hint = "Join that table first."
                found.add(
                    place_of(column), None, message, hint, ProductId.UNKNOWN_COLUMN
                )


def _check_groups(select: exp.Select, found: Findings) -> None:
    """Refuse columns of an aggregating SELECT that are not those of its groups."""
    group = select.args.get("group")
    others = [name for name, each in group.args.items() if each] if group else []
    if others not in ([], ["expressions"]) or not (group or aggregates(select)):
        return
    groups = list(group.expressions) if group else []
    own = {each.alias_or_name for each in sources_of(select)}

    def is_left_out(node: exp.Expr) -> bool:
        is_whole = isinstance(node, (exp.Query, exp.Filter)) or is_aggregate(node)
        return is_whole or node in groups

    having = select.args.get("having")
    for value in [*select.selects, *([having] if having else [])]:
        for node in value.walk(prune=is_left_out):
            is_own = isinstance(node, exp.Column) and node.table in own
            if is_own and not is_left_out(node):
                message = f"{text_of(node)} is neither in GROUP BY nor in an aggregate"
                hint = "Add it to GROUP BY, or write for example max() around it."
                rule = ProductId.UNSUPPORTED_SQL
                found.add(place_of(node), None, message, hint, rule)


Sources = Dict[str, Optional[List[str]]]
"""Column names by alias; None where only Spark knows them."""


def _sources(scope: Scope, columns: Mapping[str, Columns]) -> Sources:
    outer = _sources(scope.parent, columns) if scope.parent else {}
    own = sources_by_alias(scope)
    return {**outer, **{n: _names(s, columns) for n, s in own.items()}}


def _names(
    source: Union[Scope, exp.Table], columns: Mapping[str, Columns]
) -> Optional[List[str]]:
    if isinstance(source, exp.Table):
        return list(columns.get(source.name, ()))
    if isinstance(source.expression, exp.Query):
        return list(source.expression.named_selects)
    return None


def _check_column(column: exp.Column, sources: Sources, found: Findings) -> None:
    table, name, place = column.table, column.name, place_of(column)
    if not table:
        owners = [alias for alias, names in sources.items() if name in (names or ())]
        if len(owners) > 1:
            hint = f"Write one of: {', '.join(f'{each}.{name}' for each in owners)}."
            message = f"{name!r} is a column of {' and '.join(owners)}"
            found.add(place, name, message, hint, ProductId.AMBIGUOUS_COLUMN)
            return
        if owners or None in sources.values():
            return
        known = list(dict.fromkeys(n for each in sources.values() for n in each or ()))
        _unknown(place, f"unknown column {name!r}", name, known, found)
    elif table not in sources:
        aliases = list(sources)
        hint = (
            f"{did_you_mean(table, aliases)}Tables of this SELECT: {listed(aliases)}."
        )
        message = f"unknown table or alias {table!r}"
        found.add(place, table, message, hint, ProductId.UNKNOWN_COLUMN)
    else:
        of_table = sources[table]
        if of_table is not None and name not in of_table:
            words = f"{table} has no column {name!r}"
            _unknown(place, words, name, of_table, found)


def _unknown(
    place: Place, message: str, name: str, known: List[str], found: Findings
) -> None:
    hint = f"{did_you_mean(name, known)}Columns: {listed(known)}."
    found.add(place, name, message, hint, ProductId.UNKNOWN_COLUMN)


def check_types(tree: exp.Query, found: Findings) -> None:
    """Refuse joins by columns of different types, and joins by time at no time."""
    for join in tree.find_all(exp.Join):
        for equal in (join.args.get("on") or join).find_all(exp.EQ):
            one, other = equal.this, equal.expression
            if isinstance(one, exp.Column) and isinstance(other, exp.Column):
                _check_equality(one, other, found)
    for column in tree.find_all(exp.Column):
        kind = kind_of(column)
        if "as_of" in column.meta and kind and not kind.is_time:
            hint = f"It is {kind.text}: name a date or timestamp column, or cast it before."
            message = f"as_of({column.meta['as_of']}) at {text_of(column)}"
            found.add(place_of(column), None, message, hint, ProductId.BAD_AS_OF)


def _check_equality(one: exp.Column, other: exp.Column, found: Findings) -> None:
    kind, another = kind_of(one), kind_of(other)
    if kind and another and family_of(kind) != family_of(another):
        message = (
            f"joins {text_of(one)} ({kind.text}) with {text_of(other)} ({another.text})"
        )
        hint = f"Cast one of the two, as in CAST({text_of(one)} AS {another.text})."
        found.add(place_of(one), None, message, hint, ProductId.COMPARED_TYPES)


def check_output(
    tree: exp.Query,
    spec: TableSpec,
    is_exact: Callable[[exp.Expr], bool],
    found: Findings,
) -> None:
    """Refuse a SELECT whose columns are not those that the spec declares."""
    declared = [name for name, _ in spec.columns]
    made: Dict[str, exp.Expr] = {}
    for select in tree.selects:
        name, place = select.alias_or_name, place_of(select)
        if not name or name.startswith("_col_"):
            message = f"{shown(text_of(select.unalias()))} has no name"
            hint = "Give it one by AS."
            found.add(place, name, message, hint, ProductId.OUTPUT_COLUMNS)
        elif name in made:
            message = f"the SELECT has two columns {name!r}"
            hint = "Remove one, or give it another name by AS."
            found.add(place, name, message, hint, ProductId.OUTPUT_COLUMNS)
        elif name not in declared:
            message = f"column {name!r} of the SELECT is not declared"
            near = did_you_mean(name, [each for each in declared if each not in made])
            hint = f"{near}Declare it under `columns`, or remove it."
            found.add(place, name, message, hint, ProductId.OUTPUT_COLUMNS)
        else:
            _check_output_type(select, spec, is_exact, found)
        made.setdefault(name, select)
    for name in declared:
        if name not in made:
            message = "the SELECT has no such column"
            near = did_you_mean(name, [each for each in made if each not in declared])
            hint = f"{near}Add it to the SELECT, or remove it here."
            at = ("columns", name)
            found.add(at, name, message, hint, ProductId.OUTPUT_COLUMNS)


def _check_output_type(
    select: exp.Expr,
    spec: TableSpec,
    is_exact: Callable[[exp.Expr], bool],
    found: Findings,
) -> None:
    name, value = select.alias_or_name, select.unalias()
    declared, kind = spec.type_of(name), kind_of(value)
    if declared is None or kind is None:
        return
    to = declared.stored
    fits = is_lossless(kind, to)
    if not is_exact(value):  # sqlglot knows the kind of values, Spark their digits
        fits = fits or family_of(kind) == family_of(to) or not _is_known(value)
    if not fits:
        message = f"{name!r} is {kind.text} in the SELECT and {to.text} in `columns`"
        hint = f"Declare {kind.text}, or write CAST({text_of(value)} AS {to.text})."
        found.add(place_of(select), name, message, hint, ProductId.OUTPUT_TYPE)


def _is_known(value: exp.Expr) -> bool:
    """Return whether the kind of an expression is known without Spark.

    It is not for sums, which may be of times and intervals, and next to functions that
    make several rows.
    """
    makes_rows = any(value.root().find_all(exp.Lateral, exp.Explode, exp.Inline))
    return not makes_rows and not isinstance(value, (exp.Add, exp.Sub))
