"""Runs with planted faults and runs without, each against what must be reported."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Iterator, List, Set

from pyspark.sql import SparkSession

from tests.quality.payments import FAULTS, TABLES, Source, alarms, timestamp
from tests.spark.stall import Stall, specs_of

BEFORE = 5
"""Clean runs before the first fault: drift is compared from then on."""
AT_ONCE = 2
"""Faults that are planted in one run."""


@dataclass
class Outcome:
    """What was planted and found."""

    faults: int = 0
    clean: int = 0
    missed: List[str] = field(default_factory=list)
    false: List[str] = field(default_factory=list)

    def add(self, run: int, planted: Set[str], found: Set[str]) -> None:
        """Compare the alarms of a run with what was planted."""
        self.faults += len(planted)
        self.clean += not planted
        self.missed += [f"run {run}: {each}" for each in sorted(planted - found)]
        self.false += [f"run {run}: {each}" for each in sorted(found - planted)]


def rounds(faults: int, random: Random) -> Iterator[Set[str]]:
    """Yield the faults of each run with some: of each kind as many as of the others."""
    kinds: List[str] = []
    while len(kinds) < faults:
        kinds += random.sample(list(FAULTS), min(len(FAULTS), faults - len(kinds)))
    for first in range(0, faults, AT_ONCE):
        yield set(kinds[first : first + AT_ONCE])


def play(spark: SparkSession, root: Path, faults: int, seed: int) -> Outcome:
    """Play runs with faults, each followed by a clean one."""
    random = Random(seed)
    lakes = Stall(spark, root, (), specs_of(TABLES, {})).lakes
    accounts, payments = lakes["accounts"], lakes["payments"]
    ids = "".join(f"I,{id},{timestamp(id)}\n" for id in range(1, 10))
    accounts.land("changes/1.csv", f"op,id,seen\n{ids}")
    accounts.done("incremental")
    source, outcome = Source(random), Outcome()
    plan: List[Set[str]] = [set()] * BEFORE
    for each in rounds(faults, random):
        plan += [each, set()]
    for number, planted in enumerate(plan):
        source.work()
        good = dict(source.rows)
        for kind, plant in FAULTS.items():
            if kind in planted:
                plant(source)
        payments.land(f"changes/{number:04}.csv", source.changes())
        report = payments.run("incremental")
        assert report.error is None, report.error
        outcome.add(number, planted, alarms(report))
        source.rows = good  # corrected in the next file
    return outcome
