"""The tables that products depend on, and the order in which they are built."""

from __future__ import annotations

from typing import Iterable, List, Set, Tuple

from lake_spec.model import Dimension, DomainSpec, Product, TableSpec


def logs_of(table: TableSpec) -> Tuple[str, ...]:
    """List the tables whose change logs name the changed keys of a table.

    That is the table itself, or the two of a dimension; a product has none.
    """
    source = table.source
    if isinstance(source, Dimension):
        sides = (source.main, source.joined)
        return tuple(f"{table.domain}.{each.table}" for each in sides)
    return () if table.is_product else (table.full_name,)


def reads_of(table: TableSpec) -> Tuple[str, ...]:
    """List the tables that a product reads; none for another table."""
    return table.source.reads if isinstance(table.source, Product) else ()


def read_by_products(
    domains: Iterable[DomainSpec], lake: Iterable[DomainSpec]
) -> List[str]:
    """List the tables that products of some domains read, with those of their logs.

    `lake` are all domains, or those that are known.
    """
    specs = {table.full_name: table for domain in lake for table in domain.tables}
    found: Set[str] = set()
    for table in (each for domain in domains for each in domain.tables):
        for name in reads_of(table):
            found.add(name)
            found.update(logs_of(specs[name]) if name in specs else ())
    return sorted(found)


def product_levels(products: Iterable[TableSpec]) -> List[List[TableSpec]]:
    """Group products so that each reads only tables of groups before its own.

    The products of a group can be built side by side. Those that read each other in a
    circle, which `validate` reports, are the last group.
    """
    waiting = {each.full_name: each for each in products}
    levels: List[List[TableSpec]] = []
    while waiting:
        ready = [
            name
            for name, each in sorted(waiting.items())
            if not set(each.source.reads) & set(waiting)
        ]
        levels.append([waiting.pop(name) for name in ready or sorted(waiting)])
    return levels
