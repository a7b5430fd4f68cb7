"""Which tables of a stage precede which: others need what they ingest."""

from __future__ import annotations

from typing import List, Protocol, Sequence, Set, TypeVar

from lake_spec.facts.product_inputs import levels, product_levels
from lake_spec.model import ProductTable, TableSpec


class OfTable(Protocol):
    """Whatever is about one table."""

    @property
    def spec(self) -> TableSpec:
        """Return the table's spec."""


Each = TypeVar("Each", bound=OfTable)


def waves(tables: Sequence[Each]) -> List[List[Each]]:
    """Return the tables in groups, each of which needs only those before it.

    Tables without references are first, then those that are given values of others, or
    whose checks refer to others: so a row finds what landed with it. A product follows
    the tables that it reads.
    """
    others = [each for each in tables if not isinstance(each.spec, ProductTable)]
    of_products = product_levels(
        each.spec for each in tables if isinstance(each.spec, ProductTable)
    )
    groups = [
        *levels({each.spec.name: each for each in others}, _needs),
        *([each for each in tables if each.spec in level] for level in of_products),
    ]
    return [each for each in groups if each]


def _needs(of: OfTable) -> Set[str]:
    """Return the names of the other tables that a table needs."""
    checks = {each.other_table for each in of.spec.checks if each.other_table}
    return checks.union(each.table for each in of.spec.enrich) - {of.spec.name}
