"""The sensitivity of each column: what it declares, and what its values bring with them.

Values that are copied keep their sensitivity, whatever is declared. Where they are
computed or summed, the declaration counts, else the sensitivity of what they are made
of. A count has nothing of the values. A column of a product that is not followed through
SQL and declares nothing is personal if the product reads a table with personal columns.
The columns of a table that is not known count as personal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Dict, Iterable, Iterator, List, Optional, Set

from lake_spec.facts.product_inputs import product_levels, reads_of
from lake_spec.lineage.columns import (
    Edge,
    Field,
    Kind,
    Layer,
    edges_of,
    unfollowed_columns,
)
from lake_spec.model import ProductTable, Sensitivity, TableSpec

_ORDER = tuple(Sensitivity)
_SHOWN = (Layer.CURRENT.value, Layer.HISTORY.value)


@dataclass(frozen=True)
class Mark:
    """The sensitivity of a column; `source` is the column that it comes from.

    Without `source` and `reads` it is declared.
    """

    sensitivity: Sensitivity = Sensitivity.NONE
    source: Optional[Field] = None
    reads: str = ""
    """The table for whose sake a column that SQL makes is personal."""


@dataclass(frozen=True)
class Lowered:
    """A column that declares less than the one that its values come from."""

    table: str
    column: str
    declared: Sensitivity
    mark: Mark
    is_copied: bool


class ColumnSensitivity:
    """Knows the sensitivity of the columns of a domain, or of several."""

    def __init__(self, tables: Iterable[TableSpec]) -> None:
        tables = sorted(tables, key=lambda table: table.domain)
        self._declared = {
            (table.full_name, name): column.sensitivity
            for table in tables
            for name, column in table.columns
        }
        self._fields: Dict[str, Dict[Field, None]] = {t.full_name: {} for t in tables}
        self._into: Dict[Field, List[Edge]] = {}
        for field in (_current(*each) for each in self._declared):
            self._fields[field.table][field] = None
        by_domain = groupby(tables, key=lambda table: table.domain)
        for edge in chain.from_iterable(edges_of(own) for _, own in by_domain):
            if edge.target.layer in _SHOWN:
                self._fields[edge.target.table][edge.target] = None
            if edge.kind != Kind.DERIVED.value:
                self._into.setdefault(edge.target, []).append(edge)
        self._marks: Dict[Field, Mark] = {}
        self._columns: Dict[str, Dict[str, Mark]] = {}
        self._quoted: Set[str] = set()
        products = (table for table in tables if isinstance(table, ProductTable))
        for product in chain.from_iterable(product_levels(products)):
            self._settle(product)
            if any(map(self.is_guarded, reads_of(product))):
                self._quoted.add(product.full_name)

    def columns(self, table: str) -> Dict[str, Mark]:
        """Return the sensitivity of each known column of current and history."""
        found = self._columns.get(table)
        if found is None:
            found = self._columns[table] = {}
            for field in self._fields.get(table, ()):
                known = found.get(field.column, Mark())
                found[field.column] = _more(known, self._of(field))
        return found

    def mark(self, table: str, column: str) -> Mark:
        """Return the sensitivity of a column, and where it comes from."""
        return self.columns(table).get(column, Mark())

    def of(self, table: str, column: str) -> Sensitivity:
        """Return the sensitivity of a column."""
        return self.mark(table, column).sensitivity

    def personal(self, table: str) -> Dict[str, Mark]:
        """Return the personal columns of a table, also those whose values come from one."""
        return {
            name: mark
            for name, mark in self.columns(table).items()
            if mark.sensitivity is Sensitivity.PERSONAL
        }

    def is_personal(self, table: str) -> bool:
        """Return whether a table has a personal column, or is not known."""
        return table not in self._fields or bool(self.personal(table))

    def is_guarded(self, table: str) -> bool:
        """Return whether messages on a table may have a personal value.

        That is one with a personal column, and a product that reads such a table: what
        SQL makes of a value on the way is not known.
        """
        return table in self._quoted or self.is_personal(table)

    def may_show(self, table: TableSpec, column: str) -> bool:
        """Return whether values of a column may be shown.

        In a guarded table only known columns that are neither personal nor part of the
        key are.
        """
        if not self.is_guarded(table.full_name):
            return True
        found = self.columns(table.full_name).get(column)
        if found is None or column in table.key:
            return False
        return found.sensitivity is not Sensitivity.PERSONAL

    def lowered(self) -> Iterator[Lowered]:
        """List the columns that declare less than what their values come from.

        Totals and means may: what is left in them of a value is for people to say.
        """
        for (table, column), declared in self._declared.items():
            for edge in self._into.get(_current(table, column), ()):
                mark = self._brought_by(edge)
                if declared is None or not _is_more(mark.sensitivity, declared):
                    continue
                if edge.kind != Kind.SUMMED.value:
                    is_copied = edge.kind == Kind.COPIED.value
                    yield Lowered(table, column, declared, mark, is_copied)
                    break

    def _settle(self, product: TableSpec) -> None:
        """Mark the columns that SQL makes of tables with personal columns."""
        personal = (name for name in reads_of(product) if self.is_personal(name))
        unknown = unfollowed_columns(product)
        reads = next(personal, None) if unknown else None
        if reads is None:
            return
        for name in unknown:
            if self._declared[product.full_name, name] is None:
                field = _current(product.full_name, name)
                self._marks[field] = Mark(Sensitivity.PERSONAL, reads=reads)

    def _of(self, field: Field) -> Mark:
        if field not in self._marks:
            self._marks[field] = Mark()  # ends a circle of products
            self._marks[field] = self._found(field)
        return self._marks[field]

    def _found(self, field: Field) -> Mark:
        if field.table not in self._fields:
            return Mark(Sensitivity.PERSONAL)
        declared = self._declared.get((field.table, field.column))
        found = Mark(declared or Sensitivity.NONE)
        if field.layer != Layer.SOURCE.value:
            for edge in self._into.get(field, ()):
                if declared is None or edge.kind == Kind.COPIED.value:
                    found = _more(found, self._brought_by(edge))
        return found

    def _brought_by(self, edge: Edge) -> Mark:
        """Return the sensitivity of an edge's source, with the column that it is from."""
        mark, source = self._of(edge.source), edge.source
        if source.table == edge.target.table:  # another layer of the same table
            return mark
        return replace(mark, source=mark.source or source)


def _current(table: str, column: str) -> Field:
    return Field(table, Layer.CURRENT.value, column)


def _is_more(one: Sensitivity, other: Sensitivity) -> bool:
    return _ORDER.index(one) > _ORDER.index(other)


def _more(one: Mark, other: Mark) -> Mark:
    return other if _is_more(other.sensitivity, one.sensitivity) else one
