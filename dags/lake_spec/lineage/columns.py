"""Column lineage of a domain: source column, change log, current and history, dimension.

Of a product whose rows are those of one table (`from`), columns of the same name are
followed; what SQL makes is followed by the plan of the product, where it has one.

An edge says that values of one column turn up in another, as they are or parsed
(`COPIED`), computed or summed, or that they decide its values (`DERIVED`: a count, the
times of a version, its surrogate key). What only decides which rows there are, such as an
operation or the key of a join, is no edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Dict, Iterable, Iterator, List, Mapping, Optional, Set, Tuple

from lake_spec.model import (
    Column,
    ColumnOrigin,
    ColumnUse,
    DimensionTable,
    DomainSpec,
    FileTable,
    Product,
    ProductTable,
    TableSpec,
    VersionedTable,
)
from lake_spec.model.shown_columns import shown_columns
from lake_spec.model.sources import Side


class Layer(str, Enum):
    """What a column belongs to: a file of the source, or one of a table's layers."""

    SOURCE = "source"
    LOG = "log"
    CURRENT = "current"
    HISTORY = "history"


FOLDERS = {
    Layer.CURRENT.value: "current",
    Layer.HISTORY.value: "history",
    Layer.LOG.value: "changes",
}
"""The folder of each layer in the folder of a table."""


Kind = ColumnUse
"""How values come from a column."""


@dataclass(frozen=True, order=True)
class Field:
    """A column of a layer of a table; of its source files for Layer.SOURCE."""

    table: str
    layer: str
    column: str


@dataclass(frozen=True, order=True)
class Edge:
    """Values of `source` turn up in `target`, or decide its values."""

    source: Field
    target: Field
    kind: str = Kind.COPIED.value


def lineage_of(domain: DomainSpec) -> Tuple[Edge, ...]:
    """Return the edges into every column of a domain's tables."""
    return edges_of(domain.tables)


def edges_of(domain_tables: Iterable[TableSpec]) -> Tuple[Edge, ...]:
    """Return the edges into every column of these tables, which are those of a domain."""
    tables = {table.name: table for table in domain_tables}
    found: List[Edge] = []
    for table in tables.values():
        if isinstance(table, DimensionTable):
            found += _of_dimension(table, tables)
        elif isinstance(table, ProductTable):
            found += _of_product(table)
        elif isinstance(table, FileTable):
            found += _of_files(table)
    return tuple(dict.fromkeys(found))


def layers_of(table: TableSpec) -> Tuple[str, ...]:
    """Return the layers that a table has, its current first."""
    layers = tuple(FOLDERS)
    if isinstance(table, ProductTable):
        return layers[:1]
    return layers[:2] if isinstance(table, DimensionTable) else layers


def columns_of_table(
    domain: DomainSpec, table: TableSpec
) -> Tuple[Tuple[str, Optional[Column]], ...]:
    """List the columns of a table with their declarations, also those of other tables.

    Returns:
        (name, the column's declaration where the values come from; None if there is
        none) for each: a dimension's are those of its two tables, and enrichment's those
        of the reference tables.
    """
    tables = {each.name: each for each in domain.tables}
    names = tuple(dict.fromkeys(_columns(table, tables)))
    return tuple((name, _declaration(table, name, tables)) for name in names)


def _declaration(
    table: TableSpec, name: str, tables: Mapping[str, TableSpec]
) -> Optional[Column]:
    if isinstance(table, DimensionTable):
        pairs = {
            shown: (of, its) for shown, of, its in dimension_columns(table, tables)
        }
    else:
        pairs = {
            shown: (each.table, column)
            for each in table.enrich
            for column, shown in each.given
        }
    if name in pairs and table.column(name) is None:
        of, its = pairs[name]
        return _declaration(tables[of], its, tables) if of in tables else None
    return table.column(name)


def origins(edges: Iterable[Edge], field: Field) -> Tuple[Field, ...]:
    """Return the source columns whose values a column has, through all layers."""
    into: Dict[Field, List[Field]] = {}
    for edge in edges:
        into.setdefault(edge.target, []).append(edge.source)
    seen: Set[Field] = set()
    waiting = [field]
    while waiting:
        at = waiting.pop()
        if at not in seen:
            seen.add(at)
            waiting += into.get(at, ())
    return tuple(sorted(f for f in seen if f.layer == Layer.SOURCE.value))


def dimension_columns(
    table: DimensionTable, tables: Mapping[str, TableSpec]
) -> Tuple[Tuple[str, str, str], ...]:
    """List (column of the dimension, table that it comes from, column of that)."""
    source = table.source
    found = [(name, source.main.table, name) for name in table.key]
    for side in (source.main, source.joined):
        found += [(shown, side.table, name) for name, shown in _shown(side, tables)]
    return tuple(found)


def _shown(side: Side, tables: Mapping[str, TableSpec]) -> Iterable[Tuple[str, str]]:
    of = tables.get(side.table)
    if of is None:
        return ()
    return shown_columns(side, _columns(of, tables), of.key)


def _columns(table: TableSpec, tables: Mapping[str, TableSpec]) -> Tuple[str, ...]:
    if isinstance(table, DimensionTable):
        return tuple(name for name, _, _ in dimension_columns(table, tables))
    given = tuple(name for each in table.enrich for _, name in each.given)
    declared = tuple(name for name, _ in table.columns)
    return tuple(dict.fromkeys((*declared, *table.key, *given)))


def _of_files(table: FileTable) -> Iterator[Edge]:
    """Edges of a table with landing files: each column through its layers."""
    name = table.full_name
    given = {
        shown: Field(f"{table.domain}.{each.table}", Layer.CURRENT.value, column)
        for each in table.enrich
        for column, shown in each.given
    }
    for column in _columns(table, {}):
        log = Field(name, Layer.LOG.value, column)
        if column in given:
            yield Edge(given[column], log)
        else:
            declared = table.column(column)
            for each in (declared.source if declared else ()) or (column,):
                yield Edge(Field(name, Layer.SOURCE.value, each), log)
        yield Edge(log, Field(name, Layer.CURRENT.value, column))
        yield Edge(log, Field(name, Layer.HISTORY.value, column))
    yield from _of_versions(table)


def _of_versions(table: FileTable) -> Iterator[Edge]:
    """Edges into the columns that history adds: times, and the surrogate key."""
    history = table.history
    times = [
        Field(table.full_name, Layer.LOG.value, each) for each in time_columns(table)
    ]
    if table.snapshot_time is not None and table.snapshot_time.column:
        column = table.snapshot_time.column
        times.append(Field(table.full_name, Layer.SOURCE.value, column))
    for name in (history.columns.valid_from, history.columns.valid_to):
        target = Field(table.full_name, Layer.HISTORY.value, name)
        yield from (Edge(each, target, Kind.DERIVED.value) for each in times)
    surrogate = Field(
        table.full_name, Layer.HISTORY.value, history.surrogate_key.column
    )
    keys = [Field(table.full_name, Layer.LOG.value, each) for each in table.key]
    for each in dict.fromkeys((*keys, *times)):
        yield Edge(each, surrogate, Kind.DERIVED.value)


def time_columns(table: TableSpec) -> Tuple[str, ...]:
    """Return the columns that give the time since which a row is valid.

    The second one counts where the first is null: the first timestamp of `order_by`.
    """
    ordered = (
        name
        for name in table.order_by
        if (column := table.column(name)) and column.type.lower() == "timestamp"
    )
    first = next(ordered, None)
    return tuple(dict.fromkeys(filter(None, (table.effective_at, first))))


def unfollowed_columns(table: TableSpec) -> Tuple[str, ...]:
    """List the columns of a product that SQL makes, without a plan that follows them."""
    source = table.source
    if not isinstance(source, Product) or _origins(source) is not None:
        return ()
    computed = dict(source.derive)
    names = (name for name, _ in table.columns)
    return tuple(n for n in names if source.from_ is None or n in computed)


def _origins(source: Product) -> Optional[Tuple[ColumnOrigin, ...]]:
    return source.plan.columns if source.plan else None


def _of_product(table: ProductTable) -> Iterator[Edge]:
    """Edges from the tables that a product reads."""
    source = table.source
    current, name = Layer.CURRENT.value, table.full_name
    if source.plan is not None:
        for each in _origins(source) or ():
            of = source.plan.input(each.view)
            origin = Field(of.table, of.layer.value, each.source)
            yield Edge(origin, Field(name, current, each.column), each.how.value)
    if source.from_ is None or _origins(source) is not None:
        return
    unknown = unfollowed_columns(table)
    for column, _ in table.columns:
        if column not in unknown:
            origin = Field(source.from_, current, column)
            yield Edge(origin, Field(name, current, column))


def _of_dimension(
    table: DimensionTable, tables: Mapping[str, TableSpec]
) -> Iterator[Edge]:
    """Edges from the histories of its two tables."""
    source = table.source
    name, history = table.full_name, Layer.HISTORY.value
    for column, of, its in dimension_columns(table, tables):
        origin = Field(f"{table.domain}.{of}", history, its)
        yield Edge(origin, Field(name, Layer.CURRENT.value, column))
        yield Edge(origin, Field(name, history, column))
    own = table.history
    sides = (tables.get(each.table) for each in (source.main, source.joined))
    for side in sides:
        if not isinstance(side, VersionedTable):
            continue
        theirs = side.history.columns
        for each in (theirs.valid_from, theirs.valid_to):
            origin = Field(side.full_name, history, each)
            for target in (own.columns.valid_from, own.columns.valid_to):
                yield Edge(origin, Field(name, history, target), Kind.DERIVED.value)
            surrogate = Field(name, history, own.surrogate_key.column)
            yield Edge(origin, surrogate, Kind.DERIVED.value)
    for key in table.key:
        origin = Field(f"{table.domain}.{source.main.table}", history, key)
        surrogate = Field(name, history, own.surrogate_key.column)
        yield Edge(origin, surrogate, Kind.DERIVED.value)
