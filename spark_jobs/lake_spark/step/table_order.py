"""Which tables of a stage precede which: others need what they ingest."""

from __future__ import annotations

from typing import Iterator, List, Protocol, Sequence, Set, TypeVar

from lake_spec.contract.product_inputs import product_levels
from lake_spec.model import References, TableSpec


class OfTable(Protocol):
    """Whatever is about one table."""

    spec: TableSpec


Each = TypeVar("Each", bound=OfTable)


def waves(tables: Sequence[Each]) -> List[List[Each]]:
    """Return the tables in groups, each of which needs only those before it.

    Tables without references are first, then those that are given values of others, or
    whose checks refer to others: so a row finds what landed with it. A product follows
    the tables that it reads.
    """
    others = [each for each in tables if not each.spec.is_product]
    levels = product_levels(each.spec for each in tables if each.spec.is_product)
    groups = [
        *_levels(others),
        *([each for each in tables if each.spec in level] for level in levels),
    ]
    return [each for each in groups if each]


def _levels(tables: Sequence[Each]) -> Iterator[List[Each]]:
    """Yield the tables in groups, each after those that it needs; a circle is one group."""
    left = {each.spec.name: each for each in tables}
    while left:
        ready = [
            each
            for name, each in left.items()
            if not (_needs(each.spec) - {name}) & left.keys()
        ]
        group = ready or list(left.values())
        yield group
        for each in group:
            del left[each.spec.name]


def _needs(spec: TableSpec) -> Set[str]:
    checks = (each for each in spec.checks if isinstance(each, References))
    return {*(each.table for each in spec.enrich), *(each.table for each in checks)}
