"""Tests of a product, in a file beside its SQL: given rows, and the rows that it makes of them.

    # tables/shop/enriched_orders.tests.yml
    - name: an order has the customer's name of its time
      given:
        shop.orders:
          - {order_id: 1, customer_id: 7, placed_at: 2026-01-03}
        shop.customers_history:
          - {customer_id: 7, name: Ann, valid_from: 2026-01-01, valid_to: 2026-01-05}
      expect:
        - {order_id: 1, name: Ann}

Tables are named as `sql` names them. A column that is not given is NULL, but for those that
say whether a version is current, and whether it or a row is deleted. Rows are compared by
the columns that `expect` names, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
)

from lake_check.messages.product_ids import ProductId
from lake_check.parsing.discovery import read_document, Survey, TESTS_ENDING
from lake_check.parsing.node import Node
from lake_desk.notes import file_of
from lake_spec.diagnostics.diagnostic import Diagnostic, Path as KeyPath, Problem, shown
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.layout.glue_names import glue_name
from lake_spec.model import (
    DomainSpec,
    Layer,
    ProductPlan,
    ProductTable,
    TableSpec,
    VersionedTable,
)
from lake_spec.model.table_parts import History

if TYPE_CHECKING:
    from lake_desk.products.inputs import Columns, Tables

Row = Dict[str, Optional[str]]
"""The values of a row as texts, by column; None is NULL."""


@dataclass(frozen=True)
class ProductTest:
    """Rows of tables by their names, and the rows that are made of them."""

    name: str
    given: Mapping[str, List[Row]]
    expect: List[Row]


@dataclass
class ProductTests:
    """The tests of a product's file, and what is wrong with it."""

    tests: List[ProductTest] = field(default_factory=list)
    diagnostics: List[Diagnostic] = field(default_factory=list)


def tests_file(spec_file: Path) -> Path:
    """Return the file that has the tests of the product of a spec's file."""
    return spec_file.with_name(spec_file.stem + TESTS_ENDING)


def input_names(plan: ProductPlan) -> Dict[str, Tuple[str, Layer]]:
    """Return the tables that a product reads, by the names that tests have for them."""
    return {
        glue_name(each.table, each.layer.value): (each.table, each.layer)
        for each in plan.inputs
    }


def tests_of(domains: Sequence[DomainSpec], tables: Path) -> Dict[str, ProductTests]:
    """Read the tests of all products that have some, by `domain.product`.

    Args:
        domains: all of the folder `tables`, whose products have their plans.
    """
    from lake_desk.products.inputs import Tables

    known, found = Tables(domains), {}
    for spec in (each for domain in domains for each in domain.tables):
        file = tests_file(file_of(spec.full_name, tables))
        plan = spec.source.plan if isinstance(spec, ProductTable) else None
        if plan is not None and file.exists():
            tests = _read(file, spec, plan, known)
            found[spec.full_name] = tests
    return found


def _read(
    file: Path, spec: TableSpec, plan: ProductPlan, tables: "Tables"
) -> ProductTests:
    found = ProductTests()
    survey = Survey()
    root = read_document(survey, file).root
    found.diagnostics += survey.diagnostics
    if root is not None and not survey.found:
        reader = _Reader(root, spec, plan, tables)
        found.tests = list(reader.tests())
        found.diagnostics += reader.diagnostics
    return found


class _BadTest(Exception):
    """A test cannot be read; the reason is noted."""


class _Reader:
    """Reads the tests of one file, and notes what is wrong with them."""

    def __init__(
        self, root: Node, spec: TableSpec, plan: ProductPlan, tables: "Tables"
    ) -> None:
        self.diagnostics: List[Diagnostic] = []
        self._root = root
        self._made = [name for name, _ in spec.columns]
        self._tables = tables
        self._inputs = input_names(plan)

    def tests(self) -> Iterator[ProductTest]:
        """Yield the tests that can be read."""
        try:
            positions = range(len(self._list((), "tests, each with `name`")))
        except _BadTest:
            return
        names: Dict[str, int] = {}
        for position in positions:
            try:
                test = self._test((position,))
            except _BadTest:
                continue
            if test.name in names:
                hint = f"Test {names[test.name] + 1} has it too: give each its own."
                self._note((position, "name"), "the name is there twice", hint)
            names.setdefault(test.name, position)
            yield test

    def _test(self, path: KeyPath) -> ProductTest:
        keys = self._mapping(path, "`name`, `given` and `expect`")
        for key in keys:
            if key not in ("name", "given", "expect"):
                hint = "A test has `name`, `given` and `expect`."
                self._refuse((*path, key), "unknown key", hint)
        for key in ("name", "given", "expect"):
            if key not in keys:
                self._refuse(path, f"{key!r} is missing", f"Write `{key}`.")
        name = keys["name"].value
        if not isinstance(name, str) or not name.strip():
            what = f"got {shown(keys['name'].plain())}"
            self._refuse((*path, "name"), what, "Say in words what is tested.")
        given = {
            table: self._rows(
                (*path, "given", table), list(self._columns(path, table)), table
            )
            for table in self._mapping((*path, "given"), "tables with their rows")
        }
        for table in self._inputs:
            given.setdefault(table, [])
        expect = self._rows((*path, "expect"), self._made, "the product")
        self._refuse_uneven((*path, "expect"), expect)
        return ProductTest(name, self._with_defaults(given), expect)

    def _columns(self, path: KeyPath, table: str) -> "Columns":
        if table not in self._inputs:
            names = list(self._inputs)
            hint = f"{did_you_mean(table, names)}It reads {', '.join(names)}."
            self._refuse((*path, "given", table), "the product does not read it", hint)
        return self._tables.columns(*self._inputs[table])

    def _rows(self, path: KeyPath, columns: List[str], of: str) -> List[Row]:
        rows = []
        for position in range(len(self._list(path, "rows"))):
            row: Row = {}
            here = (*path, position)
            for name, node in self._mapping(here, "columns with values").items():
                if name not in columns:
                    hint = f"{did_you_mean(name, columns)}It has {', '.join(columns)}."
                    self._refuse((*here, name), f"{of} has no such column", hint)
                row[name] = self._text((*here, name), node.value)
            rows.append(row)
        return rows

    def _text(self, path: KeyPath, value: Any) -> Optional[str]:
        if isinstance(value, (dict, list)):
            hint = "Leave the column out: tests give single values."
            self._refuse(path, "got a value with parts", hint)
        if isinstance(value, bool):
            return str(value).lower()
        return None if value is None else str(value)

    def _refuse_uneven(self, path: KeyPath, rows: List[Row]) -> None:
        """Refuse expected rows of different columns: what is not named is not compared."""
        for position, row in enumerate(rows):
            if set(row) != set(rows[0]):
                names = ", ".join(rows[0])
                what = f"its columns are not those of the first row: {names}"
                hint = "Write `null` for a value that is NULL."
                self._refuse((*path, position), what, hint)

    def _with_defaults(self, given: Mapping[str, List[Row]]) -> Dict[str, List[Row]]:
        """Return the rows; versions that do not say so are current until they end."""
        made = {}
        for name, rows in given.items():
            table, layer = self._inputs[name]
            spec = self._tables.spec(table)
            if isinstance(spec, VersionedTable):
                is_deleted = spec.history.columns.is_deleted
                if layer is Layer.HISTORY:
                    rows = [_version(row, spec.history) for row in rows]
                elif is_deleted in self._tables.columns(table, layer):
                    rows = [{is_deleted: "false", **row} for row in rows]
            made[name] = rows
        return made

    def _list(self, path: KeyPath, of: str) -> List[Node]:
        value = self._at(path).value
        if not isinstance(value, list):
            what = f"got {shown(self._at(path).plain())}"
            self._refuse(path, what, f"Write a list of {of}.")
        return list(value)

    def _mapping(self, path: KeyPath, of: str) -> Dict[str, Node]:
        value = self._at(path).value
        if not isinstance(value, dict):
            what = f"got {shown(self._at(path).plain())}"
            self._refuse(path, what, f"Write a mapping of {of}.")
        return dict(value)

    def _at(self, path: KeyPath) -> Node:
        return self._root.nearest(path)

    def _note(self, path: KeyPath, what: str, hint: str) -> None:
        rule = ProductId.INVALID_PRODUCT_TEST.value
        problem = Problem(path, None, what, hint, rule)
        self.diagnostics.append(self._root.diagnostic(problem))

    def _refuse(self, path: KeyPath, what: str, hint: str) -> None:
        self._note(path, what, hint)
        raise _BadTest


def _version(row: Row, history: History) -> Row:
    names, end = history.columns, history.open_end
    is_open = row.get(names.valid_to) in (None, end)
    return {
        names.valid_to: end,
        names.is_current: str(is_open).lower(),
        names.is_deleted: "false",
        **row,
    }
