"""The tables that products depend on, and the order in which they are built."""

from __future__ import annotations

from typing import AbstractSet, Callable, Iterable, List, Mapping, Set, Tuple, TypeVar

from lake_spec.model import Dimension, DomainSpec, ProductTable, TableSpec

Each = TypeVar("Each")


def logs_of(table: TableSpec) -> Tuple[str, ...]:
    """List the tables whose change logs name the changed keys of a table.

    That is the table itself, or the two of a dimension; a product has none.
    """
    source = table.source
    if isinstance(source, Dimension):
        sides = (source.main, source.joined)
        return tuple(f"{table.domain}.{each.table}" for each in sides)
    return () if isinstance(table, ProductTable) else (table.full_name,)


def stored_names(
    names: Iterable[str], specs: Mapping[str, TableSpec]
) -> Tuple[str, ...]:
    """Return the names that folders of tables have; an unknown table keeps its own."""
    return tuple(specs[n].stored_as if n in specs else n for n in names)


def reads_of(table: TableSpec) -> Tuple[str, ...]:
    """List the tables that a product reads; none for another table."""
    return table.source.reads if isinstance(table, ProductTable) else ()


def read_by_products(
    domains: Iterable[DomainSpec], lake: Iterable[DomainSpec]
) -> List[str]:
    """List the tables that products of some domains read, with those of their logs.

    As their folders are named. `lake` are all domains, or those that are known.
    """
    specs = {table.full_name: table for domain in lake for table in domain.tables}
    found: Set[str] = set()
    for table in (each for domain in domains for each in domain.tables):
        for name in reads_of(table):
            found.add(name)
            found.update(logs_of(specs[name]) if name in specs else ())
    return sorted({*stored_names(found, specs)})


def product_levels(products: Iterable[ProductTable]) -> List[List[ProductTable]]:
    """Group products so that each reads only tables of groups before its own.

    The products of a group can be built side by side. Those that read each other in a
    circle, which `validate` reports, are the last group.
    """
    named = {each.full_name: each for each in products}
    return levels(dict(sorted(named.items())), lambda each: set(each.source.reads))


def levels(
    named: Mapping[str, Each], needs: Callable[[Each], AbstractSet[str]]
) -> List[List[Each]]:
    """Group what has names so that each needs only names of groups before its own.

    Names that are not there count as done. A circle is the last group.
    """
    waiting = dict(named)
    found: List[List[Each]] = []
    while waiting:
        ready = [
            name for name, each in waiting.items() if not needs(each) & waiting.keys()
        ]
        found.append([waiting.pop(name) for name in ready or list(waiting)])
    return found
