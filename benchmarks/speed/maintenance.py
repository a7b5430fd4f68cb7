"""Target 9: maintenance against writing the same bytes again, and reading after it."""

from __future__ import annotations

from pathlib import Path
from typing import List, Set

from benchmarks.speed.bench import STAGES, TABLE, Bench, Loaded
from benchmarks.speed.comparing import compared
from benchmarks.speed.lake import BenchLake, read_whole
from benchmarks.speed.measuring import Work, Works, alternating
from benchmarks.speed.result import Result

ROUNDS = 3
"""Runs with changes before each maintenance, which is set to come after so many."""


def maintenance(bench: Bench) -> List[Result]:
    """9: compaction and clustering / Spark writing the files that came of them."""
    rows = bench.sized(TABLE)
    worn, fresh = bench.loaded(rows, due=ROUNDS), bench.loaded(rows).lake

    def works_of(nth: int) -> Works:
        for _ in range(ROUNDS):
            worn.land("spread", worn.spread)
            worn.lake.done(*STAGES)
        before = _files(worn)
        return {
            "maintenance": Work(lambda: worn.lake.stage("maintenance")),
            "rewritten": Work(lambda: _rewrite(bench, _files(worn) - before)),
            **alternating(
                nth,
                {"read after": Work(lambda: _read(worn.lake))},
                {"read fresh": Work(lambda: _read(fresh))},
            ),
        }

    found = bench.meter.in_turns(works_of, bench.pairs)
    what = f"maintenance of {rows:,} rows after {ROUNDS} runs / Spark writing its files again"
    read = "reading current and history after it / of a first load"
    return [
        compared("9", what, found["maintenance"], found["rewritten"], 2.0),
        compared("9a", read, found["read after"], found["read fresh"], 1.1),
    ]


def _files(loaded: Loaded) -> Set[Path]:
    return set(loaded.lake.warehouse.rglob("*.parquet"))


def _rewrite(bench: Bench, files: Set[Path]) -> None:
    """Each table's new files as they are, with all their columns."""
    assert files, "no maintenance was due"
    for folder in sorted({file.parent for file in files}):
        names = [str(file) for file in files if file.parent == folder]
        rows = bench.spark.read.parquet(*names)
        path = str(bench.unused("rewritten"))
        rows.write.option("compression", "zstd").parquet(path)


def _read(lake: BenchLake) -> None:
    read_whole(lake.current, lake.history)
