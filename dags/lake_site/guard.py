"""Decides which words of runs may be shown: never values of personal columns.

Messages of errors and warnings may quote a value. Those of a table with a personal column
are cut to what names table, stage and id; so are those of the steps of its domain, and
those of products that read such a table or one of another domain: what SQL makes of a
value is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Optional

from lake_spec.contract.product_inputs import product_levels
from lake_spec.lineage.columns import Edge, Field, Kind, Layer, lineage_of
from lake_spec.model import DomainSpec, TableSpec
from lake_spec.model.choices import Sensitivity

CUT = "(the message is in the run's log)"
_ORDER = (Sensitivity.NONE, Sensitivity.INTERNAL, Sensitivity.PERSONAL)


class Guard:
    """Knows the personal columns of a domain, also those copied from another table."""

    def __init__(
        self, domain: DomainSpec, edges: Optional[Iterable[Edge]] = None
    ) -> None:
        edges = tuple(lineage_of(domain) if edges is None else edges)
        self._domain = domain
        self._into: dict[Field, list[Field]] = {}
        for edge in edges:
            if edge.kind == Kind.COPIED.value:
                self._into.setdefault(edge.target, []).append(edge.source)
        self._declared = {
            (table.full_name, name): column.sensitivity
            for table in domain.tables
            for name, column in table.columns
        }
        self._columns: dict[str, dict[str, Sensitivity]] = {}
        made = (edge.target for edge in edges)
        declared = (Field(t, Layer.CURRENT.value, name) for t, name in self._declared)
        for field in dict.fromkeys((*made, *declared)):
            if field.layer in (Layer.CURRENT.value, Layer.HISTORY.value):
                of = self._columns.setdefault(field.table, {})
                found = self._of(field, frozenset())
                of[field.column] = _more(of.get(field.column, found), found)
        self._guarded = {
            table
            for table, columns in self._columns.items()
            if Sensitivity.PERSONAL in columns.values()
        }
        self._known = {table.full_name for table in domain.tables}
        products = (table for table in domain.tables if table.is_product)
        for product in chain.from_iterable(product_levels(products)):
            reads = product.source.reads
            if any(t in self._guarded or t not in self._known for t in reads):
                self._guarded.add(product.full_name)

    def sensitivity(self, table: str, column: str) -> Sensitivity:
        """Return the declared or inherited sensitivity of a column."""
        return self._columns.get(table, {}).get(column, Sensitivity.NONE)

    def is_guarded(self, table: str) -> bool:
        """Return whether the table of this full name may show a personal value."""
        return table in self._guarded

    def words(self, table: str, text: str) -> str:
        """Return a message of a table's report, or what of it may be shown."""
        return _cut(text, 1) if self.is_guarded(table) else text

    def cause(self, text: str) -> str:
        """Return a cause or warning of a summary: `<domain>.<table> <stage>: <words>`."""
        name = text.partition(":")[0].split(" ")[0].rstrip(",")
        guarded = self.is_guarded(name) if name in self._known else bool(self._guarded)
        return _cut(text, 2) if guarded else text

    def samples(
        self, table: TableSpec, report: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Return the quarantined rows that a report shows, without personal values.

        In a table with personal columns only declared columns that are neither personal
        nor part of the key are left.
        """
        found = []
        for sample in report.get("samples") or ():
            values = {
                str(name): str(value)
                for name, value in sample.get("values", {}).items()
                if self._may_show(table, str(name))
            }
            reason = self.words(table.full_name, str(sample.get("reason", "")))
            found.append({"reason": reason, "values": values})
        return found

    def _may_show(self, table: TableSpec, name: str) -> bool:
        if not self.is_guarded(table.full_name):
            return True
        of = self._columns.get(table.full_name, {})
        is_known = name in of and name not in table.key
        return is_known and of[name] is not Sensitivity.PERSONAL

    def _of(self, field: Field, seen: frozenset[Field]) -> Sensitivity:
        found = self._declared.get((field.table, field.column), Sensitivity.NONE)
        if field in seen or field.layer == Layer.SOURCE.value:
            return found
        for each in self._into.get(field, ()):
            found = _more(found, self._of(each, seen | {field}))
        return found


def _more(one: Sensitivity, other: Sensitivity) -> Sensitivity:
    return max(one, other, key=_ORDER.index)


def _cut(text: str, parts: int) -> str:
    """Keep the first parts of `a: b: c`."""
    kept = text.split(": ")[:parts]
    return f"{': '.join(kept)} {CUT}" if len(kept) < len(text.split(": ")) else text
