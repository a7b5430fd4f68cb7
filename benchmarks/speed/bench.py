"""What every target works with: the session, a folder, loaded lakes, rounds in turns."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Optional

from pyspark.sql import SparkSession

from lake_spec.buckets import buckets_for
from benchmarks.speed.generator import Generator
from benchmarks.speed.lake import BenchLake, new_lake, spec_of
from benchmarks.speed.measuring import Measured, Meter, Works, alternating, say
from benchmarks.speed.peers import DeltaCurrent, DeltaHistory


@dataclass
class Loaded:
    """A lake whose first copy is in all its tables, and beside it Delta's, if asked.

    `hour` counts the files of changes: each has later times than those before.
    """

    rows: int
    generator: Generator
    lake: BenchLake
    load: Path
    current: DeltaCurrent
    history: DeltaHistory
    hour: int = 0

    def land(self, kind: str, count: int) -> Path:
        """Land a file of the generator's `spread` or `skewed` changes."""
        self.hour += 1
        name = f"changes/hour{self.hour:06d}"
        rows = getattr(self.generator, kind)(count, self.hour)
        folder = self.lake.land_rows(rows, name)
        (file,) = folder.glob(f"hour{self.hour:06d}-*.parquet")
        return file


@dataclass
class Bench:
    """A run of benchmarks: sizes are multiplied by `scale`."""

    spark: SparkSession
    root: Path
    scale: float
    pairs: int
    seed: int = 1
    _loaded: Dict[int, Loaded] = field(default_factory=dict)

    @property
    def meter(self) -> Meter:
        """Measures what is done below the folder."""
        return Meter(self.spark, self.root)

    def sized(self, count: int) -> int:
        """A number of rows at this scale."""
        return max(100, round(count * self.scale))

    def loaded(self, rows: int, *, delta: bool = False) -> Loaded:
        """A lake of that many rows, made once; with Delta's tables where asked for."""
        if rows not in self._loaded:
            self._loaded[rows] = self._load(rows)
        found = self._loaded[rows]
        if delta and not (self.root / f"lake-{rows}" / "delta-current").exists():
            say(f"Delta's tables of {rows:,} rows")
            found.current.load(found.load)
            found.history.load(found.load)
        return found

    def empty(self, rows: int, name: str) -> BenchLake:
        """A lake without any row, for tables of that size."""
        buckets = max(2, buckets_for(rows, None))
        return new_lake(self.spark, self.root / name, spec_of(buckets=buckets))

    def _load(self, rows: int) -> Loaded:
        say(f"a lake of {rows:,} rows")
        root = self.root / f"lake-{rows}"
        generator = Generator(self.spark, rows, self.seed)
        lake = self.empty(rows, root.name)
        load = lake.land_rows(generator.load(), "load/rows")
        lake.stage("full_load")
        lake.stage("scd2")
        return Loaded(
            rows,
            generator,
            lake,
            load,
            DeltaCurrent(self.spark, root / "delta-current"),
            DeltaHistory(self.spark, root / "delta-history"),
        )


@dataclass(frozen=True)
class Rounds:
    """Rounds of one lake: what each stage took, and what Delta took for the same file."""

    incremental: List[Measured]
    scd2: List[Measured]
    delta: Optional[List[Measured]] = None


def rounds(
    bench: Bench, loaded: Loaded, kind: str, count: int, *, delta: str = ""
) -> Rounds:
    """Land changes and take them in, again and again; the first two rounds warm up.

    `delta` names the Delta table that merges the same files: current or history. It
    goes first in every second round.
    """

    def works_of(nth: int) -> Works:
        file = loaded.land(kind, count)
        ours: Works = {
            name: lambda name=name: loaded.lake.stage(name)
            for name in ("incremental", "scd2")
        }
        theirs: Works = {}
        if delta:
            theirs["delta"] = lambda: getattr(loaded, delta).merge(file)
        return alternating(nth, ours, theirs)

    say(f"{loaded.rows:,} rows")
    found = bench.meter.in_turns(works_of, bench.pairs, warm_up=2)
    return Rounds(found["incremental"], found["scd2"], found.get("delta"))
