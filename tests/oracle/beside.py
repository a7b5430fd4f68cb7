"""A lake and, next to it, the records that landed: told by a test, not at random."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, List, Optional, Sequence, Tuple

from tests.oracle import comparison, oracle
from tests.oracle.histories import LANDED
from tests.oracle.landing_files import file_text
from tests.oracle.oracle import DELETE, UPSERT, Delivery
from tests.oracle.tables import settings_of
from tests.spark.lake import Lake

FIRST_DAY = datetime(2026, 1, 1)
HISTORY = (*comparison.TIMES, "is_current")


def upsert(key: Any, day: float, **values: Any) -> Delivery:
    """An upsert whose `ts` is that many days after the first one."""
    timestamp = FIRST_DAY + timedelta(days=day)
    return Delivery((key,), UPSERT, {"ts": timestamp, **values}, "", 0, LANDED)


def delete(key: Any, day: float) -> Delivery:
    """A delete: key and order, nothing else."""
    return replace(upsert(key, day), op=DELETE)


class Beside:
    """Lands records in a lake and compares its tables with the oracle's."""

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        self.landed: List[Delivery] = []

    def land(
        self, path: str, *records: Delivery, at: Optional[str] = None
    ) -> List[Delivery]:
        """A landing file of these records, as they are in it."""
        names = [n for n, _ in self.lake.spec.columns if n not in self.lake.spec.key]
        placed = [
            replace(
                each,
                values={name: each.values.get(name) for name in names},
                path=path,
                record=i,
                is_load=path.startswith("load/"),
            )
            for i, each in enumerate(records, 1)
        ]
        self.lake.land(path, file_text(self.lake.spec, placed), at=at or "2026-02-01")
        return placed

    def landing(self, path: str, *records: Delivery, at: Optional[str] = None) -> None:
        """Land a file that the next run ingests."""
        self.landed += self.land(path, *records, at=at)

    def run(self, *stages: str) -> List[Any]:
        """Run stages and history; both tables must be the oracle's. The reports."""
        reports = self.lake.done(*(stages or ("incremental",)), "scd2")
        self.agree()
        return reports

    def agree(self) -> None:
        """Both tables are what the oracle makes of all that landed."""
        spec = self.lake.spec
        wanted = oracle.tables(self.landed, settings_of(spec))
        made = ((self.lake.current, ()), (self.lake.history, HISTORY))
        for (rows, names), should_be in zip(made, wanted):
            difference = comparison.differing(
                comparison.rows_of(rows, spec, *names),
                comparison.expected(should_be, *names),
            )
            told = [self._told(key, each) for key, each in difference.items()]
            assert not told, "\n".join(told)

    def _told(
        self, key: Any, difference: Tuple[Sequence[Tuple], Sequence[Tuple]]
    ) -> str:
        events = [each for each in self.landed if each.key[0] == key]
        events.sort(key=oracle.position)
        return f"key {key}\n{comparison.story(events, difference)}"
