"""Which tables of a stage precede which: others need what they ingest."""

from __future__ import annotations

from typing import List, Protocol, Sequence, TypeVar

from lake_spec.model import TableSpec


class OfTable(Protocol):
    """Whatever is about one table."""

    spec: TableSpec


Each = TypeVar("Each", bound=OfTable)


def waves(tables: Sequence[Each]) -> List[List[Each]]:
    """Return the tables without references, then those that are given values of others.

    So a row finds what landed with it.
    """
    first = [each for each in tables if not each.spec.enrich]
    return [first, [each for each in tables if each.spec.enrich]]
