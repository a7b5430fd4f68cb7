"""What the specs say of the tables that products read: their columns, types and keys."""

from __future__ import annotations

from typing import Dict, Iterable, Iterator

from lake_spec.facts.product_inputs import logs_of, stored_names
from lake_spec.model import (
    CurrentDeletes,
    DimensionTable,
    DomainSpec,
    Layer,
    ProductInput,
    SurrogateKind,
    TableSpec,
    VersionedTable,
)
from lake_spec.model.column_type import ColumnType
from lake_spec.model.shown_columns import shown_columns

Columns = Dict[str, ColumnType]
_TIMESTAMP, _BOOLEAN = ColumnType("timestamp"), ColumnType("boolean")


class Tables:
    """All tables of a lake, by `domain.table`."""

    def __init__(self, domains: Iterable[DomainSpec]) -> None:
        domains = list(domains)
        self._specs = {t.full_name: t for domain in domains for t in domain.tables}
        self._grants = {domain.name: domain.table_grants for domain in domains}

    def __contains__(self, table: str) -> bool:
        return table in self._specs

    def __iter__(self) -> Iterator[str]:
        return iter(self._specs)

    def spec(self, table: str) -> TableSpec:
        """Return the spec of a table. Raises KeyError for an unknown one."""
        return self._specs[table]

    def may_read(self, domain: str, table: str) -> bool:
        """Return whether products of a domain may read a table."""
        owner, name = table.split(".")
        return owner == domain or any(
            domain in grant.to and (not grant.tables or name in grant.tables)
            for grant in self._grants[owner]
        )

    def input(self, view: str, table: str, layer: Layer) -> ProductInput:
        """Describe a use of a table for the step that reads it."""
        spec = self._specs[table]
        return ProductInput(
            *(view, table, layer, spec.key),
            logs=stored_names(logs_of(spec), self._specs),
            is_plain=spec.storage.is_plain,
            stored_as=spec.formerly,
        )

    def columns(self, table: str, layer: Layer) -> Columns:
        """Return the columns of a layer with their types; none if nothing declares them."""
        spec = self._specs[table]
        columns = self._declared(spec)
        if not columns or not isinstance(spec, VersionedTable):
            return columns
        if layer is Layer.HISTORY:
            columns.update(_of_history(spec))
        elif spec.current.deletes is CurrentDeletes.SOFT:
            columns[spec.history.columns.is_deleted] = _BOOLEAN
        return columns

    def _declared(self, spec: TableSpec) -> Columns:
        if isinstance(spec, DimensionTable):
            return self._of_dimension(spec)
        columns = _typed(spec, (name for name, _ in spec.columns))
        for each in spec.enrich if columns else ():
            other = self._specs.get(f"{spec.domain}.{each.table}")
            for theirs, ours in each.given:
                kind = other.type_of(theirs) if other else None
                if kind is not None:
                    columns[ours] = kind.stored
        return columns

    def _of_dimension(self, spec: DimensionTable) -> Columns:
        columns: Columns = {}
        for side in (spec.source.main, spec.source.joined):
            table = self._specs.get(f"{spec.domain}.{side.table}")
            known = self._declared(table) if table else {}
            if not known:
                return {}
            keys = {name: known[name] for name in spec.key if name in known}
            shown = shown_columns(side, list(known), spec.key)
            named = {ours: known[name] for name, ours in shown if name in known}
            columns = {**keys, **columns, **named}
        return columns


def _typed(spec: TableSpec, names: Iterable[str]) -> Columns:
    kinds = ((name, spec.type_of(name)) for name in names)
    return {name: kind.stored for name, kind in kinds if kind is not None}


def _of_history(spec: VersionedTable) -> Columns:
    history = spec.history
    counts_up = history.surrogate_key.kind is SurrogateKind.INCREASING
    return {
        history.columns.valid_from: _TIMESTAMP,
        history.columns.valid_to: _TIMESTAMP,
        history.columns.is_current: _BOOLEAN,
        history.columns.is_deleted: _BOOLEAN,
        history.surrogate_key.column: ColumnType("bigint" if counts_up else "string"),
    }


def how_to_declare(spec: TableSpec) -> str:
    """Return what to do about a table whose columns are unknown."""
    if isinstance(spec, DimensionTable):
        return "Declare `columns` in both tables of this dimension."
    return f"Declare `columns` in {spec.name}.yml."
