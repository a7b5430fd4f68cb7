"""Which tables of a stage precede which: others need what they ingest."""

from __future__ import annotations

from typing import List, Protocol, Sequence, TypeVar

from lake_spec.contract.product_inputs import product_levels
from lake_spec.model import TableSpec


class OfTable(Protocol):
    """Whatever is about one table."""

    spec: TableSpec


Each = TypeVar("Each", bound=OfTable)


def waves(tables: Sequence[Each]) -> List[List[Each]]:
    """Return the tables in groups, each of which needs only those before it.

    Tables without references are first, then those that are given values of others: so a
    row finds what landed with it. A product follows the tables that it reads.
    """
    others = [each for each in tables if not each.spec.is_product]
    levels = product_levels(each.spec for each in tables if each.spec.is_product)
    groups = [
        [each for each in others if not each.spec.enrich],
        [each for each in others if each.spec.enrich],
        *([each for each in tables if each.spec in level] for level in levels),
    ]
    return [each for each in groups if each]
