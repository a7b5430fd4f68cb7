"""One product: its SQL checked against the specs of its inputs, and made into a plan."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import (
    Callable,
    Collection,
    Dict,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from lake_check.messages.product_ids import ProductId
from lake_desk.products import checks, statement
from lake_desk.products.findings import Findings, Place, listed
from lake_desk.products.inputs import Columns, Tables, how_to_declare
from lake_desk.products.matches import add_match_columns
from lake_desk.products.origins import origins_of
from lake_desk.products.parts import PLAIN, parts_of
from lake_desk.products.spec_sql import written
from lake_desk.products.sql_tree import (
    BadSql,
    exp,
    qualified,
    scopes,
    sources_of,
)
from lake_spec.diagnostics.diagnostic import shown
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.model import Layer, ProductInput, ProductPlan, ProductTable, TableSpec
from lake_spec.model.json_codec import to_data
from lake_spec.model.type_conversion import is_value_of
from lake_spec.text.sql_references import Reference

KEEP = "lake_keep"
"""Column of the condition of QUALIFY, which Spark does not have."""


@dataclass(frozen=True)
class Compiled:
    """The plan of a product, or what is wrong with its SQL."""

    plan: Optional[ProductPlan]
    findings: Findings


def compile_product(spec: TableSpec, text: str, tables: Tables) -> Compiled:
    """Compile a product; `text` is that of its SQL file, if it has one."""
    found = Findings()
    plan = _Compiler(spec, tables, found).plan(text)
    return Compiled(None if found else plan, found)


class _Compiler:
    """One product and the tables of its lake."""

    def __init__(self, spec: TableSpec, tables: Tables, found: Findings) -> None:
        assert isinstance(spec, ProductTable)
        self.spec, self.source = spec, spec.source
        self.tables, self.found = tables, found
        self.columns: Dict[str, Columns] = {}
        self.inputs: Dict[str, ProductInput] = {}

    def plan(self, text: str) -> Optional[ProductPlan]:
        tree, references = self._tree(text)
        for reference in references:
            self._add_input(reference)
        if tree is None or self.found:
            return None
        checks.check_supported(tree, self.found)
        views = statement.name_tables(tree, references)
        statement.join_by_time(views, references, self.tables, self.found)
        if self.found:
            return None
        try:
            tree = qualified(tree, self.columns)
        except BadSql as error:
            hint = "Correct the SQL."
            rule = ProductId.INVALID_SQL
            self.found.add(error.line, None, error.message, hint, rule)
            return None
        checks.check_columns(tree, self.columns, self.found)
        if not self.found:
            checks.check_types(tree, self.found)
            checks.check_output(tree, self.spec, self._is_exact(tree), self.found)
        unknown = self._unknown(tree)
        by_time = {each.view for each in references if each.as_of}
        return None if self.found else self._planned(tree, unknown, by_time)

    def _tree(self, text: str) -> Tuple[Optional[exp.Query], List[Reference]]:
        if self.source.sql is not None:
            return statement.of_file(text, self.found)
        return statement.of_keys(self.spec, self.source, self.tables, self.found)

    def _add_input(self, reference: Reference) -> None:
        """Add a table that is read. Reports one that is unknown or declares nothing."""
        table = reference.table
        is_file = self.source.sql is not None
        place: Place = reference.line if is_file else ("source", "from")
        add = self.found.add
        if table not in self.tables:
            hint = f"{did_you_mean(table, self.tables)}Tables: {listed(self._nearby(table))}."
            message = f"unknown table {table!r}"
            add(place, table, message, hint, ProductId.UNKNOWN_INPUT)
            return
        if not self.tables.may_read(self.spec.domain, table):
            owner, name = table.split(".")
            message = f"{owner} does not grant {table} to {self.spec.domain}"
            grant = f"{{tables: [{name}], to: [{self.spec.domain}]}}"
            hint = f"Write table_grants: [{grant}] in {owner}/_domain.yml."
            add(place, table, message, hint, ProductId.NOT_GRANTED)
            return
        spec, layer = self.tables.spec(table), Layer(reference.layer)
        if isinstance(spec, ProductTable) and layer is Layer.HISTORY:
            hint = f"Read {{{{ current('{table}') }}}}."
            message = f"{table} is a product, which has no history"
            add(place, table, message, hint, ProductId.UNKNOWN_INPUT)
            return
        columns = self.tables.columns(table, layer)
        if not columns:
            message = f"the columns of {table} are unknown"
            hint = how_to_declare(spec)
            add(place, table, message, hint, ProductId.UNKNOWN_INPUT)
            return
        self.columns[reference.view] = columns
        self.inputs[reference.view] = self.tables.input(reference.view, table, layer)

    def _nearby(self, table: str) -> List[str]:
        """List the tables of the domain that is meant, or all."""
        domain = table.split(".")[0]
        own = [each for each in self.tables if each.split(".")[0] == domain]
        return sorted(own or self.tables)

    def _is_exact(self, tree: exp.Query) -> Callable[[exp.Expr], bool]:
        """Return a test of expressions whose type is Spark's: casts, columns of inputs."""
        of_inputs = {
            each.alias_or_name for each in sources_of(tree) if each.name in self.inputs
        }

        def is_exact(value: exp.Expr) -> bool:
            if isinstance(value, exp.Column):
                return value.table in of_inputs
            return isinstance(value, (exp.Cast, exp.TryCast))

        return is_exact

    def _unknown(self, tree: exp.Query) -> Dict[str, Dict[str, exp.Expr]]:
        """Return the values of `unknown` by alias and column; reports what does not fit."""
        found: Dict[str, Dict[str, exp.Expr]] = {}
        joined = {
            join.this.alias_or_name: self.inputs[join.this.name]
            for join in tree.args.get("joins") or ()
            if join.side == "LEFT" and join.this.name in self.inputs
        }
        for table, values in self.source.unknown:
            aliases = [name for name, each in joined.items() if each.table == table]
            if not aliases:
                message = f"the SQL does not join {table} by LEFT JOIN"
                hint = "Name a table that it joins so, or remove it."
                path = ("source", "unknown", table)
                self.found.add(path, table, message, hint, ProductId.BAD_UNKNOWN)
                continue
            columns = self.columns[joined[aliases[0]].view]
            found.update(dict.fromkeys(aliases, self._typed(table, values, columns)))
        return found

    def _typed(
        self,
        table: str,
        values: Sequence[Tuple[str, Union[int, str]]],
        columns: Columns,
    ) -> Dict[str, exp.Expr]:
        typed: Dict[str, exp.Expr] = {}
        for name, value in values:
            path = ("source", "unknown", table, name)
            kind = columns.get(name)
            if kind is None:
                hint = f"{did_you_mean(name, columns)}Columns: {listed(list(columns))}."
                message = f"{table} has no column {name!r}"
                self.found.add(path, name, message, hint, ProductId.BAD_UNKNOWN)
            elif not is_value_of(value, kind):
                hint = f"Column {name!r} is {kind.text}: write a value of that type."
                message = f"got {shown(value)}"
                self.found.add(path, value, message, hint, ProductId.BAD_UNKNOWN)
            else:
                literal = exp.Literal.string(str(value))
                typed[name] = exp.cast(literal, kind.text, dialect="spark")
        return typed

    def _planned(
        self,
        tree: exp.Query,
        unknown: Mapping[str, Mapping[str, exp.Expr]],
        by_time: Collection[str],
    ) -> ProductPlan:
        parts = parts_of(tree, self.inputs)
        if self.spec.storage.is_plain and not parts.whole_because:
            parts = replace(parts, whole_because=PLAIN)
        columns = origins_of(tree, self.inputs)
        _replace_unknown(tree, unknown, self.inputs)
        inputs = tuple(self.inputs.values())
        digest = _digest(self._written(tree.copy()), inputs)
        time_joins = add_match_columns(tree, self.inputs, by_time)
        return ProductPlan(
            sql=self._written(tree),
            inputs=inputs,
            digest=digest,
            driver=parts.driver,
            driver_columns=parts.driver_columns,
            unit=parts.unit,
            unit_columns=parts.unit_columns,
            lookups=parts.lookups,
            whole_because=parts.whole_because,
            time_joins=time_joins,
            columns=columns,
        )

    def _written(self, tree: exp.Query) -> str:
        return written(_without_qualify(tree), self.inputs, self.found)


def _digest(sql: str, inputs: Sequence[ProductInput]) -> str:
    """Return what differs where rows may: it is the same however inputs are stored."""
    said = [to_data(each) for each in inputs]
    for each in said:
        each.pop("is_plain")
    data = json.dumps([sql, said], sort_keys=True)
    return sha256(data.encode()).hexdigest()[:16]


def _replace_unknown(
    tree: exp.Query,
    unknown: Mapping[str, Mapping[str, exp.Expr]],
    inputs: Mapping[str, ProductInput],
) -> None:
    """Put the value of `unknown` where a joined table has no row, but not into ON.

    Subqueries may have the same aliases for tables of their own, which are not meant.
    """
    if not unknown:
        return
    keys = {
        each.alias_or_name: inputs[each.name].key[0]
        for each in sources_of(tree)
        if each.name in inputs
    }
    for column in scopes(tree)[-1].columns:
        value = unknown.get(column.table, {}).get(column.name)
        if value is not None and column.find_ancestor(exp.Join) is None:
            key = exp.column(keys[column.table], table=column.table)
            case = exp.Case().when(key.is_(exp.Null()), value.copy())
            column.replace(case.else_(column.copy()))


def _without_qualify(tree: exp.Query) -> exp.Query:
    """Return the tree with each QUALIFY as the condition of a query around its own.

    Inner queries come first, as an outer one is copied.
    """
    for select in reversed(list(tree.find_all(exp.Select))):
        qualify = select.args.get("qualify")
        if qualify is None:
            continue
        names = [each.alias_or_name for each in select.selects]
        inner = select.copy()
        inner.set("qualify", None)
        inner.set("distinct", None)
        inner.set("with_", None)
        inner.append("expressions", exp.alias_(qualify.this.copy(), KEEP))
        outer = exp.select(*(exp.column(name) for name in names))
        outer = outer.from_(inner.subquery("lake_rows")).where(exp.column(KEEP))
        for part in ("distinct", "with_"):
            outer.set(part, select.args.get(part))
        if select is tree:
            tree = outer
        else:
            select.replace(outer)
    return tree
