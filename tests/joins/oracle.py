"""What the products of pairs must hold, from the events alone.

Written from docs/contract.md and the products' SQL, in plain Python: nothing here knows
how rows are found or built.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from tests.joins.pairs import CUSTOMER, ORDERS, REGION, Event, Values

Row = Tuple[Any, ...]


class Version(NamedTuple):
    """The values of a key over [start, end)."""

    start: datetime
    end: Optional[datetime]
    values: Values


class Truth:
    """What is true after these events, in whatever order they arrived."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._of: Dict[str, Dict[str, List[Event]]] = defaultdict(dict)
        for each in sorted(events, key=lambda event: event.at):
            self._of[each.table].setdefault(each.key, []).append(each)

    def current(self, table: str) -> Dict[str, Values]:
        """The values of the keys that live."""
        last = {key: events[-1].values for key, events in self._of[table].items()}
        return {key: values for key, values in last.items() if values is not None}

    def versions(self, key: str) -> List[Version]:
        """The versions of a customer; equal neighbours are one."""
        events = self._of[CUSTOMER].get(key, [])
        found: List[Version] = []
        for event, later in zip(events, [*events[1:], None]):
            end = later.at if later else None
            if event.values is None:
                continue
            last = found[-1] if found else None
            if last and last.end == event.at and last.values == event.values:
                found[-1] = last._replace(end=end)
            else:
                found.append(Version(event.at, end, event.values))
        return found

    def enriched(self) -> List[Row]:
        """Each order with its customer's segment at its time."""
        rows = []
        for order, (buyer, at, amount) in self.current(ORDERS).items():
            valid = [
                version.values[0]
                for version in self.versions(str(buyer))
                if version.start <= at and (version.end is None or at < version.end)
            ]
            rows.append((order, at, amount, valid[0] if valid else "Unknown"))
        return rows

    def by_segment(self) -> List[Row]:
        """Counts and sums of these."""
        amounts = _grouped(self.enriched(), key=lambda row: row[3])
        return [
            (segment, len(rows), sum(row[2] for row in rows))
            for segment, rows in amounts.items()
        ]

    def by_buyer(self) -> List[Row]:
        """Counts of orders, and the last one; those without a buyer are no group."""
        rows = _grouped(self.current(ORDERS).values(), key=lambda row: row[0])
        return [
            (buyer, len(orders), max(at for _, at, _ in orders))
            for buyer, orders in rows.items()
            if buyer is not None
        ]

    def by_way(self) -> List[Row]:
        """Orders of living customers, with their regions' titles, as they are now."""
        customers, regions = self.current(CUSTOMER), self.current(REGION)
        rows = []
        for order, (buyer, _, _) in self.current(ORDERS).items():
            if buyer in customers:
                segment, region = customers[buyer]
                (title,) = regions.get(region, (None,))
                rows.append((order, segment, title))
        return rows

    def history(self) -> List[Row]:
        """Every version of a customer."""
        return [
            (key, version.start, version.end, version.values[0])
            for key in self._of[CUSTOMER]
            for version in self.versions(key)
        ]

    def latest(self) -> List[Row]:
        """The last order of each buyer, and of those without one."""
        found: Dict[Any, Tuple[datetime, int]] = {}
        for order, (buyer, at, _) in self.current(ORDERS).items():
            best = found.get(buyer)
            if best is None or (at, -int(order)) > (best[0], -best[1]):
                found[buyer] = (at, int(order))
        return [(order, buyer) for buyer, (_, order) in found.items()]


def _grouped(rows, key: Callable[[Row], Any]) -> Dict[Any, List[Row]]:
    found: Dict[Any, List[Row]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def expected(events: Sequence[Event]) -> Dict[str, Set[Tuple[Optional[str], ...]]]:
    """The rows of each product as texts."""
    truth = Truth(events)
    products = {
        "enriched": truth.enriched(),
        "by_segment": truth.by_segment(),
        "by_buyer": truth.by_buyer(),
        "by_way": truth.by_way(),
        "versions": truth.history(),
        "latest": truth.latest(),
    }
    return {
        name: {tuple(None if v is None else str(v) for v in row) for row in rows}
        for name, rows in products.items()
    }
