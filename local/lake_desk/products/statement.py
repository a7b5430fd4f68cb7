"""The SELECT of a product as a tree over views: from its SQL file, or from its keys."""

from __future__ import annotations

from typing import Dict, List, Mapping, Optional, Tuple

from lake_check.messages.product_ids import ProductId
from lake_desk.products.findings import Findings, place_of
from lake_desk.products.inputs import Tables
from lake_desk.products.spec_sql import read, without_reference
from lake_desk.products.sql_tree import exp
from lake_spec.diagnostics.diagnostic import Path, shown
from lake_spec.model import Keep, Product, TableSpec, VersionedTable
from lake_spec.text.sql_references import CURRENT, VIEW, Reference, find_references

_SIDES, _KINDS = ("", "LEFT"), ("", "INNER", "OUTER", "SEMI", "ANTI")
"""Sides and kinds of joins by time."""


def of_file(text: str, found: Findings) -> Tuple[Optional[exp.Query], List[Reference]]:
    """Parse a SQL file; no tree if it is not one SELECT."""
    sql = find_references(text)
    references = list(sql.references)
    trees = read(sql.sql, found)
    if trees is None:
        return None, references
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        kinds = ", ".join(each.key.upper() for each in trees) or "no statement"
        message = f"got {kinds} where one SELECT is expected"
        hint = "Write one SELECT; WITH and UNION are part of it."
        found.add(1, None, message, hint, ProductId.INVALID_SQL)
        return None, references
    tree = trees[0]
    _check_tables(tree, references, found)
    return tree, references


def of_keys(
    spec: TableSpec, source: Product, tables: Tables, found: Findings
) -> Tuple[Optional[exp.Query], List[Reference]]:
    """Build the SELECT of `from`, `where`, `derive` and `deduplicate`."""
    assert source.from_ is not None
    reference = Reference("input_0", source.from_, CURRENT, 1)
    derived = dict(source.derive)
    select = exp.Select()
    select.meta["path"] = ("source",)
    for name, _ in spec.columns:
        path: Path = (
            ("source", "derive", name) if name in derived else ("columns", name)
        )
        value: Optional[exp.Expr] = exp.column(name)
        if name in derived:
            value = _of_one_row(derived[name], path, found)
        if value is not None:
            made = exp.alias_(value, name)
            made.meta["path"] = path
            select.append("expressions", made)
    view = exp.alias_(exp.to_table("input_0"), source.from_.split(".")[1], table=True)
    select.set("from_", exp.From(this=view))
    if source.where is not None:
        where = _of_one_row(source.where, ("source", "where"), found)
        select.set("where", exp.Where(this=where))
    if source.deduplicate is not None and source.from_ in tables:
        select.set("qualify", _kept_row(source, tables.spec(source.from_).key))
    return (None if found else select), [reference]


def expression(text: str, path: Path, found: Findings) -> Optional[exp.Expr]:
    """Parse an expression of the spec; it is never more than that."""
    trees = read(text, found, path)
    if trees is None:
        return None
    tree = trees[0] if len(trees) == 1 else None
    parts = {name for name, each in tree.args.items() if each} if tree else set()
    if tree is None or parts != {"expressions"} or len(tree.expressions) != 1:
        table = "`from`" if path[0] == "source" else "the table"
        hint = f"Write one expression over the columns of {table}."
        found.add(path, text, f"got {shown(text)}", hint, ProductId.INVALID_SQL)
        return None
    value: exp.Expr = tree.expressions[0].unalias().pop()
    value.meta["path"] = path
    return value


def _of_one_row(text: str, path: Path, found: Findings) -> Optional[exp.Expr]:
    """Parse an expression over the columns of `from`, which reads no other table."""
    value = expression(text, path, found)
    if value is not None and value.find(exp.Query, exp.Table):
        hint = "Write the join in a SQL file: `sql` in place of `from`."
        message = "a subquery is not supported"
        found.add(path, text, message, hint, ProductId.UNSUPPORTED_SQL)
    return value


def _kept_row(source: Product, key: Tuple[str, ...]) -> exp.Expr:
    """Return a QUALIFY of the row to keep; the key decides among equal ones."""
    asked = source.deduplicate
    assert asked is not None
    is_last = asked.keep is Keep.LAST
    ties = [name for name in key if name not in asked.order_by]
    at = ("source", "deduplicate")
    window = exp.Window(
        this=exp.RowNumber(),
        partition_by=[_column(name, (*at, "by")) for name in asked.by],
        order=exp.Order(
            expressions=[
                exp.Ordered(
                    this=_column(name, (*at, "order_by")),
                    desc=is_last,
                    nulls_first=not is_last,
                )
                for name in (*asked.order_by, *ties)
            ]
        ),
    )
    return exp.Qualify(this=exp.EQ(this=window, expression=exp.Literal.number(1)))


def _column(name: str, path: Path) -> exp.Column:
    column = exp.column(name)
    column.meta["path"] = path
    return column


def _check_tables(
    tree: exp.Query, references: List[Reference], found: Findings
) -> None:
    """Refuse tables without a reference, and names that views have."""
    views = {each.view: each for each in references}
    seen = {each.name for each in tree.find_all(exp.Table)}
    for table in without_reference(tree, views):
        text = ".".join(part.name for part in table.parts)
        given = text if "." in text else f"domain.{text or 'table'}"
        hint = f"Write {{{{ current('{given}') }}}}, or history in place of current."
        message = f"reads {shown(text)} without a reference"
        found.add(place_of(table), text, message, hint, ProductId.BAD_REFERENCE)
    _check_names_of_views(tree, views, found)
    for view, reference in views.items():
        if view not in seen:
            hint = "Write it after FROM or JOIN."
            message = f"does not read {reference.table} where its reference stands"
            place, rule = reference.line, ProductId.BAD_REFERENCE
            found.add(place, reference.table, message, hint, rule)


def _check_names_of_views(
    tree: exp.Query, views: Mapping[str, Reference], found: Findings
) -> None:
    tables = [each.name for each in tree.find_all(exp.Table) if each.name in views]
    queries = {each.alias for each in tree.find_all(exp.CTE)}
    for name in (*tables, *queries):
        if VIEW.fullmatch(name) and (*tables, *queries).count(name) > 1:
            hint = "Names of that form are reserved: choose another."
            message = f"uses the name {name!r}"
            found.add(1, name, message, hint, ProductId.UNSUPPORTED_SQL)


def name_tables(tree: exp.Query, references: List[Reference]) -> Dict[str, exp.Table]:
    """Give each view without an alias the name of its table; return them by view."""
    tables = {each.view: each.table.split(".")[1] for each in references}
    found = {}
    for table in tree.find_all(exp.Table):
        if table.name in tables and not table.db:
            found[table.name] = table
            if not table.alias:
                table.set(
                    "alias", exp.TableAlias(this=exp.to_identifier(tables[table.name]))
                )
    return found


def join_by_time(
    views: Mapping[str, exp.Table],
    references: List[Reference],
    tables: Tables,
    found: Findings,
) -> None:
    """Add to each join by time the condition of the version that was valid then."""
    for reference in references:
        if reference.as_of is None or reference.view not in views:
            continue
        table = views[reference.view]
        join = table.parent
        if (
            not isinstance(join, exp.Join)
            or join.side not in _SIDES
            or join.kind not in _KINDS
            or not join.args.get("on")
        ):
            hint = "Write JOIN or LEFT JOIN {{ as_of(...) }} AS c ON c.key = a column before it."
            message = f"as_of({reference.table}) is not joined by ON"
            found.add(reference.line, None, message, hint, ProductId.BAD_AS_OF)
            continue
        spec = tables.spec(reference.table)
        if isinstance(spec, VersionedTable):  # a product is reported as an input
            valid = _valid_at(table.alias, reference, spec)
            join.set("on", exp.and_(join.args["on"], *valid))


def _valid_at(alias: str, reference: Reference, spec: VersionedTable) -> List[exp.Expr]:
    """List the conditions of a version that is valid at a time, and of no deleted row."""
    names = spec.history.columns
    assert reference.as_of is not None
    of, at = reference.as_of

    def column(name: str) -> exp.Column:
        return _at_line(exp.column(name, table=alias), reference.line)

    def time() -> exp.Column:
        found = _at_line(exp.column(at, table=of), reference.line)
        found.meta["as_of"] = reference.table
        return found

    ends: exp.Expr = exp.LT(this=time(), expression=column(names.valid_to))
    if spec.history.open_end is None:
        is_open = exp.Is(this=column(names.valid_to), expression=exp.Null())
        ends = exp.paren(exp.or_(is_open, ends))
    return [
        exp.LTE(this=column(names.valid_from), expression=time()),
        ends,
        exp.Not(this=column(names.is_deleted)),
    ]


def _at_line(node: exp.Column, line: int) -> exp.Column:
    node.this.meta["line"] = line
    return node
