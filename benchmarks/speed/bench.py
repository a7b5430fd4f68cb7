"""What every target works with: the session, a folder, loaded lakes, rounds in turns."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Callable, Dict, Iterator, List

from pyspark.sql import SparkSession

from lake_spec.hudi.buckets import buckets_for
from lake_spark.storage.session import session_for_statements
from benchmarks.speed.generator import Generator
from benchmarks.speed.lake import BenchLake, new_lake, spec_of
from benchmarks.speed.measuring import (
    Measured,
    Meter,
    Work,
    Works,
    alternating,
    nothing,
    say,
)
from benchmarks.speed.peers import Peer, peers_of

TABLE = 2_000_000
"""Rows of the table that a target is about, if it does not say otherwise."""

SPREAD = 2_000
"""Keys that change at even distances over the whole table, whatever its size."""

STAGES = ("incremental", "scd2")

Rounds = Dict[str, List[Measured]]
"""What each piece of work ingested the rounds that count, by its name."""


@dataclass
class Loaded:
    """A lake whose first copy is in all its tables.

    `hour` counts the files of changes: each has later times than those before.
    """

    rows: int
    generator: Generator
    lake: BenchLake
    load: Path
    hour: int = 0

    @property
    def spread(self) -> int:
        """How many spread keys change: fewer in a table that is smaller than its scale."""
        return min(SPREAD, self.rows // 2)

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
    _once: Dict[str, Rounds] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=count)

    @property
    def meter(self) -> Meter:
        """Measures what is done below the folder."""
        return Meter(self.spark, self.root)

    def sized(self, number: int, *, least: int = 100) -> int:
        """A number of rows, or of tables, at this scale."""
        return max(least, round(number * self.scale))

    def unused(self, name: str) -> Path:
        """A place for a folder that is not there yet."""
        return self.root / f"{name}-{next(self._numbers)}"

    def loaded(self, rows: int, *, due: int = 0) -> Loaded:
        """A lake of that many rows, as its first load left it: no target finds it worn
        by another. Loaded once; each gets a copy. Its maintenance comes when the table's
        defaults say, or after `due` commits."""
        if rows not in self._loaded:
            self._loaded[rows] = self._load(rows)
        first = self._loaded[rows]
        spec = first.lake.spec
        if due:
            often = replace(spec.maintenance, compact_after=due, cluster_after=due)
            spec = replace(spec, maintenance=often)
        lake = first.lake.copied(self.unused(f"lake-{rows}"), spec)
        load = lake.root / first.load.relative_to(first.lake.root)
        return Loaded(rows, first.generator, lake, load)

    def clear(self) -> None:
        """Remove all but the first loads: what a target made is of no use to the next."""
        kept = {each.lake.root for each in self._loaded.values()}
        for folder in self.root.iterdir():
            if folder not in kept:
                shutil.rmtree(folder)

    def once(self, name: str, measure: Callable[[], Rounds]) -> Rounds:
        """Rounds that several targets are told from, measured for the first of them."""
        if name not in self._once:
            self._once[name] = measure()
        return self._once[name]

    def peers(self, loaded: Loaded, makes: Dict[str, type]) -> Dict[str, Peer]:
        """Tables of others, loaded with the rows of a lake.

        They are worked on with the rules of their extensions, which our queries do without.
        """
        say(f"tables of {', '.join(makes)} of {loaded.rows:,} rows")
        spark = session_for_statements()
        return peers_of(makes, spark, self.unused("peers"), loaded.load)

    def empty(self, rows: int, name: str) -> BenchLake:
        """A lake without any row, for tables of that size."""
        spec = spec_of(buckets=max(2, buckets_for(rows, None)))
        return new_lake(self.spark, self.root / name, spec)

    def loading(self, loaded: Loaded) -> BenchLake:
        """A lake without any row, into which the files of another's load landed."""
        lake = self.empty(loaded.rows, "loading")
        target = lake.root / "landing" / lake.spec.source.path / "load"
        target.mkdir(parents=True)
        for file in loaded.load.glob("*.parquet"):
            os.link(file, target / file.name)
        return lake

    def landed(self, rows: int, name: str) -> Loaded:
        """A lake without any table, whose first files landed."""
        say(f"a lake of {rows:,} rows")
        generator = Generator(self.spark, rows, self.seed)
        lake = self.empty(rows, name)
        load = lake.land_rows(generator.load(), "load/rows")
        return Loaded(rows, generator, lake, load)

    def _load(self, rows: int) -> Loaded:
        loaded = self.landed(rows, f"first-{rows}")
        loaded.lake.done("full_load", "scd2")
        return loaded


def rounds(
    bench: Bench, loaded: Loaded, kind: str, changes: int, makes: Dict[str, type]
) -> Rounds:
    """Land changes and take them in, again and again; the first two rounds warm up.

    What each stage took, and what tables of others took for the same file, by name.
    """
    peers = bench.peers(loaded, makes)

    def works_of(nth: int) -> Works:
        file = loaded.land(kind, changes)
        theirs = (
            {name: Work(partial(peer.merge, file))} for name, peer in peers.items()
        )
        return alternating(nth, taken(loaded, changes), *theirs)

    return bench.meter.in_turns(works_of, bench.pairs, warm_up=2)


def taken(
    loaded: Loaded, changes: int, prefix: str = "", ready: Callable = nothing
) -> Works:
    """What ingests a landed file of so many rows, all of which must be accounted for:
    the stages, their names after a prefix."""

    def first() -> None:
        rows = loaded.lake.stage(STAGES[0]).rows_in
        assert rows == changes, f"{rows} rows were ingested, not {changes}"

    rest = {
        f"{prefix}{each}": Work(partial(loaded.lake.stage, each)) for each in STAGES[1:]
    }
    return {f"{prefix}{STAGES[0]}": Work(first, ready), **rest}
