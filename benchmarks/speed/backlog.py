"""Target 14: many daily snapshots that wait, ingested by one run."""

from __future__ import annotations

import random
from datetime import date, timedelta
from functools import partial
from typing import Dict, List

from benchmarks.speed.bench import Bench
from benchmarks.speed.comparing import compared
from benchmarks.speed.measuring import Work, Works, alternating, say
from benchmarks.speed.result import Result
from tests.spark.lake import SNAPSHOTS, Lake, table

DAYS, ROWS = 190, 500
CHANGED, GONE = 10, 2
"""Rows that change from one snapshot to the next, and that go, with as many new ones."""

SPEC = SNAPSHOTS + """
columns: {id: int, name: string, sector: string, weight: double, price: "decimal(12,2)"}
key: [id]
storage: {buckets: 1}
"""


def snapshots(bench: Bench) -> List[Result]:
    """14: snapshots that wait for one run, against one that does."""
    many = bench.sized(DAYS, least=10)
    say(f"{many} snapshots of {ROWS:,} rows")
    waiting, alone = (_Table(bench, name) for name in ("waiting", "alone"))

    def works_of(nth: int) -> Works:
        for each, count in ((waiting, many), (alone, 1)):
            each.land(count)
        return alternating(
            nth,
            {"many": Work(partial(waiting.take, many))},
            {"one": Work(partial(alone.take, 1))},
        )

    found = bench.meter.in_turns(works_of, bench.pairs, warm_up=2)
    what = f"incremental, {many} snapshots of {ROWS:,} rows that wait / one"
    return [compared("14", what, found["many"], found["one"], 5)]


class _Table:
    """A table of snapshots, the first of which is ingested."""

    def __init__(self, bench: Bench, name: str) -> None:
        self._lake = Lake(bench.spark, bench.unused(name), table(SPEC))
        self._random = random.Random(bench.seed)
        self._day = date(2000, 1, 1)
        self._prices: Dict[int, float] = {key: 1.5 for key in range(ROWS)}
        self.land(1)
        self._lake.done("full_load")

    def land(self, count: int) -> None:
        """Land the next snapshots, a day each."""
        for _ in range(count):
            rows = "".join(
                f"{key},name {key},{key % 11},{key / 7},{price:.2f}\n"
                for key, price in self._prices.items()
            )
            self._lake.land(f"{self._day}.csv", f"id,name,sector,weight,price\n{rows}")
            self._day += timedelta(days=1)
            for key in self._random.sample(list(self._prices), CHANGED):
                self._prices[key] += 1
            for key in self._random.sample(list(self._prices), GONE):
                del self._prices[key]
                self._prices[max(self._prices) + 1] = 1.5

    def take(self, count: int) -> None:
        """Ingest them, all of which must be accounted for."""
        rows = self._lake.done("incremental")[0].rows_in
        assert rows == count * ROWS, f"{rows} rows were ingested, not {count * ROWS}"
