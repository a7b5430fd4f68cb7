"""The columns of a table as its page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from lake_spec.lineage.columns import Kind, Layer
from lake_spec.lineage.sensitivity import Mark
from lake_spec.model import Term
from lake_spec.model.history_columns import history_columns
from lake_spec.model.table_parts import Column
from lake_spec.state.table_profile import ColumnProfile

from lake_site.facts import TableFacts
from lake_site.glossary import terms_of
from lake_site.pictures import ColumnLineage, column_lineage


@dataclass(frozen=True)
class ColumnRow:
    """A column: what it means, what it is called in the source, and its lineage."""

    name: str
    type: str
    description: Optional[str]
    tags: tuple[str, ...]
    mark: Mark
    is_key: bool
    is_added: bool
    lineage: ColumnLineage
    terms: tuple[tuple[str, Term], ...]
    profile: Optional[ColumnProfile] = None

    @property
    def source_names(self) -> tuple[str, ...]:
        """Its names in the source's files."""
        sources = self.lineage.sources if self.lineage.kind == Kind.COPIED.value else ()
        return tuple(f.column for f in sources if f.layer == Layer.SOURCE.value)


def columns_of(table: TableFacts) -> tuple[ColumnRow, ...]:
    """List the columns of current and history: declared, given, measured, added ones."""
    spec, edges = table.spec, table.domain.edges_of.get(table.spec.full_name, ())
    added = history_columns(spec)
    found = {each.column: each for each in column_lineage(spec.full_name, edges)}
    measured = [each.name for each in table.profile.columns] if table.profile else []
    names = dict.fromkeys((*dict(spec.columns), *found, *measured, *added))
    rows = [
        _row(table, found.get(name, ColumnLineage(name, (), ())), added.get(name))
        for name in names
    ]
    return tuple(sorted(rows, key=lambda row: row.is_added))


def _row(
    table: TableFacts, lineage: ColumnLineage, added: Optional[tuple[str, str]]
) -> ColumnRow:
    name, spec = lineage.column, table.spec
    profile = table.profile.column(name) if table.profile else None
    column = spec.column(name) or _origin(table, lineage)
    kind, meaning = added or (
        column.type if column else profile.type if profile else "",
        column.description if column else None,
    )
    tags = column.tags if column else ()
    return ColumnRow(
        name=name,
        type=kind,
        description=meaning,
        tags=tags,
        mark=table.domain.guard.mark(spec.full_name, name),
        is_key=name in spec.key,
        is_added=added is not None,
        lineage=lineage,
        terms=tuple(terms_of(table.domain.spec, name, tags)),
        profile=profile,
    )


def _origin(table: TableFacts, lineage: ColumnLineage) -> Optional[Column]:
    """Return the declared column of another table of the domain that it is copied from."""
    tables = table.domain.specs
    for source in lineage.sources:
        if source.table in tables and source.table != table.spec.full_name:
            return tables[source.table].column(source.column)
    return None
