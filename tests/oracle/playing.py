"""Play random histories through a lake, run by run, next to the oracle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Dict, Iterator, List, Tuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lake_spec.model import CurrentDeletes, TableSpec, TableType
from lake_spark.ingest.reprocess import Selection
from tests.oracle.large_tables import as_large
from tests.oracle import comparison, oracle
from tests.oracle.comparison import Rows
from tests.oracle.histories import FRESH, Features, Landing, landing, shaped
from tests.oracle.landing_files import file_text
from tests.oracle.tables import SPECS, settings_of
from tests.spark.lake import Lake, stored, table

HISTORY = (*comparison.TIMES, *comparison.FLAGS)
ALL = Features(
    bad_rows=True,
    truncates=True,
    placeholders=True,
    full_refresh=True,
    shapes=True,
    moves=True,
)
STAGES = (("full_load", {"load", "reload"}), ("incremental", {"changes"}))
"""Each stage, and which files it takes."""


@dataclass(frozen=True)
class World:
    """Histories that share one table; the same seed makes the same ones."""

    name: str
    seed: int
    numbers: range

    @property
    def spec(self) -> TableSpec:
        """Their table."""
        return table(SPECS[self.name])

    @property
    def landing(self) -> Landing:
        """Their landing files."""
        return landing(self.spec, self.seed, list(self.numbers), ALL)

    @property
    def corrected(self) -> Dict[str, List[oracle.Delivery]]:
        """What some files should have been: other records; none where one should not be."""
        random = Random(f"{self.seed}/corrected")
        files = self.landing.files
        numbers, seed = list(self.numbers), self.seed + 1
        others = landing(self.spec, seed, numbers, replace(ALL, shapes=False)).files
        gone, *paths = random.sample(sorted(files), 5)
        found: Dict[str, List[oracle.Delivery]] = {gone: []}
        for path in paths:
            kept = [each for each in files[path] if random.random() < 0.7]
            kept += [
                shaped(self.spec, each, self.landing.shapes[path])
                for each in others.get(path, [])
                if random.random() < 0.3
            ]
            found[path] = [replace(each, record=i) for i, each in enumerate(kept, 1)]
        return found

    def play(self, spark: SparkSession, root: Path, kind: TableType) -> Play:
        """A play of it in one kind of table."""
        return Play(spark, root, self, kind)

    def batches(self, way: str) -> List[List[str]]:
        """The files in random runs; the full load falls into one of them.

        Another `way` is another order of arrival in other runs.
        """
        random = Random(f"{self.seed}/{way}")
        paths = sorted(self.landing.files)
        loads = [path for path in paths if path.startswith("load/")]
        changes = [path for path in paths if path not in loads]
        random.shuffle(changes)
        count = random.randint(3, 4)
        found: List[List[str]] = [changes[i::count] for i in range(count)]
        found[random.randrange(count)] += loads
        return [batch for batch in found if batch]


class Play:
    """One world in one table, by its own batches."""

    def __init__(
        self, spark: SparkSession, root: Path, world: World, table_type: TableType
    ) -> None:
        self.world = world
        self.landing = world.landing
        self.batches = world.batches(table_type.value)
        self.random = Random(f"{world.seed}/{table_type.value}/stages")
        self.settings = settings_of(world.spec, FRESH)
        self.lake = Lake(spark, root, stored(world.spec, type=table_type))

    def mismatches(self) -> Dict[int, str]:
        """By history number, what differed first; maintenance comes before the last run."""
        with as_large(self.lake):
            return self._mismatches()

    def _mismatches(self) -> Dict[int, str]:
        found: Dict[int, str] = {}
        seen: List[str] = []
        for i, batch in enumerate(self.batches):
            seen += batch
            is_last = i == len(self.batches) - 1
            if is_last and self.lake.tables.history.has_data():
                self.lake.done("maintenance")
            if self._take(batch, with_history=is_last or self.random.random() < 0.7):
                for number, difference in self.differing(seen):
                    words = f"after batch {i + 1} of {self.batches}\n"
                    words += comparison.story(self._events(number, seen), difference)
                    found.setdefault(number, words)
        return found

    def reprocess(self) -> Dict[int, str]:
        """Correct some files and reprocess them; what differs then, by history number."""
        corrected = self.world.corrected
        files = {**self.landing.files, **corrected}
        files = {path: each for path, each in files.items() if each}
        self.landing = replace(self.landing, files=files)
        for path, records in corrected.items():
            if records:
                self._land(path)
            else:
                self.lake.remove(path)
        report = self.lake.run(
            "reprocess", selection=Selection(tuple(corrected), False, True)
        )
        assert report.error is None, report.error
        assert set(report.retracted) >= set(corrected)
        self.lake.done("scd2")
        everything = list(self.landing.files)
        return {
            number: f"after a reprocess of {list(corrected)}\n"
            + comparison.story(self._events(number, everything), difference)
            for number, difference in self.differing(everything)
        }

    def _land(self, path: str) -> None:
        shape = self.landing.shapes[path]
        text = file_text(self.world.spec, self.landing.files[path], shape)
        self.lake.land(path, text, at="2026-02-01")

    def _take(self, batch: List[str], *, with_history: bool) -> bool:
        for path in batch:
            self._land(path)
        kinds = {path.split("/")[0] for path in batch}
        stages = [stage for stage, kind in STAGES if kinds & kind]
        self.random.shuffle(stages)
        self.lake.done(*stages, *(["scd2"] if with_history else []))
        return with_history

    def differing(self, seen: List[str]) -> Iterator[Tuple[int, Tuple[Rows, Rows]]]:
        """By history number, the rows that differ when these files have landed."""
        wanted = oracle.tables(self.landing.deliveries(*seen), self.settings)
        made = (self.current(), self.history())
        for rows, should_be, names in zip(made, wanted, (self.flags, HISTORY)):
            expected = comparison.expected(should_be, *names)
            yield from comparison.differing(rows, expected).items()

    def _events(self, number: int, seen: List[str]) -> List[oracle.Delivery]:
        events = self.landing.deliveries(*seen)
        mine = (e for e in events if e.key is None or e.key[0] == number)
        return sorted(mine, key=oracle.position)

    @property
    def flags(self) -> Tuple[str, ...]:
        """What current adds to the table's own columns."""
        is_soft = self.world.spec.current.deletes is CurrentDeletes.SOFT
        return ("is_deleted",) if is_soft else ()

    def current(self) -> Rows:
        """The current table, comparable."""
        rows = with_fresh(self.lake.current)
        return comparison.rows_of(rows, self.world.spec, FRESH, *self.flags)

    def history(self, *more: str) -> Rows:
        """The history table, comparable."""
        rows = with_fresh(self.lake.history)
        return comparison.rows_of(rows, self.world.spec, FRESH, *HISTORY, *more)


def with_fresh(rows: DataFrame) -> DataFrame:
    """The rows with the undeclared column, null before any file had it."""
    found = [name for name in rows.columns if name.lower() == FRESH]
    fresh = F.col(found[0]) if found else F.lit(None).cast("string")
    return (
        rows.select("*", fresh.alias("lake_fresh"))
        .drop(*found)
        .withColumnRenamed("lake_fresh", FRESH)
    )
