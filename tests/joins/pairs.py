"""Random customers with histories, and orders of theirs: all from a seed.

Every pair has keys of its own (they begin with its number), so that many share tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Dict, List, Optional, Sequence, Tuple

DAY = datetime(2026, 1, 1)
TIMES = [DAY + timedelta(days=days) for days in range(9)] + [
    DAY + timedelta(days=3, microseconds=1),
    DAY + timedelta(days=3, microseconds=-1),
    DAY + timedelta(days=5, seconds=1),
]
"""When customers change and when orders are: the same instants, and just before and after."""

ORDERS, CUSTOMER, REGION = "orders", "customer", "region"
COLUMNS = {
    ORDERS: ("buyer", "ordered_at", "amount"),
    CUSTOMER: ("segment", "region"),
    REGION: ("title",),
}

Values = Tuple[object, ...]


@dataclass(frozen=True)
class Event:
    """What a source says of a key since a time; no values: it was deleted."""

    table: str
    key: str
    at: datetime
    values: Optional[Values]

    @property
    def line(self) -> str:
        """The event as a record of a landing file."""
        values = self.values or (None,) * len(COLUMNS[self.table])
        texts = [self.key, *map(_text, values), _text(self.at)]
        return ",".join(["U" if self.values else "D", *texts])


def _text(value: object) -> str:
    if value is None:
        return ""
    return value.isoformat() if isinstance(value, datetime) else str(value)


def events_of(seed: int, number: int) -> List[Event]:
    """All events of a pair: two customers, two regions, up to four orders."""
    random = Random(f"{seed}/{number}")
    regions, customers = [f"{number}r{i}" for i in (0, 1)], [
        f"{number}{i}" for i in "01"
    ]
    buyers = [*customers, customers[0], f"{number}9", None]

    def region() -> Values:
        return (f"{number}{random.choice('NS')}",)

    def customer() -> Values:
        return f"{number}{random.choice('xyz')}", random.choice([*regions, None])

    def order() -> Values:
        return random.choice(buyers), random.choice(TIMES), random.randrange(5)

    found: List[Event] = []
    for table, keys, values in (
        (REGION, regions, region),
        (CUSTOMER, customers, customer),
        (ORDERS, [f"{number}{i}" for i in range(random.randint(1, 4))], order),
    ):
        for key in keys:
            for at in random.sample(TIMES, random.randint(1, 5)):
                is_delete = random.random() < 0.2
                found.append(Event(table, key, at, None if is_delete else values()))
    return found


def batches(seed: int, numbers: Sequence[int], count: int) -> List[List[Event]]:
    """The events of these pairs in random batches: whatever is late is late."""
    random = Random(f"{seed}/batches {numbers[0]}")
    found: List[List[Event]] = [[] for _ in range(count)]
    for number in numbers:
        for event in events_of(seed, number):
            random.choice(found).append(event)
    return found


def files_of(events: Sequence[Event]) -> Dict[str, str]:
    """The records of each table."""
    found: Dict[str, str] = {ORDERS: "", CUSTOMER: "", REGION: ""}
    for each in events:
        found[each.table] += f"{each.line}\n"
    return found
