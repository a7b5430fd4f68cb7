"""Target 9: upkeep against writing the same bytes again, and reading after it."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List, Set

from benchmarks.speed.bench import STAGES, TABLE, Bench, Loaded
from benchmarks.speed.comparing import compared
from benchmarks.speed.lake import BenchLake, read_whole
from benchmarks.speed.measuring import Measured, Work, alternating
from benchmarks.speed.result import Result

ROUNDS = 3
"""Runs with changes before each upkeep, which is set to come after so many."""


def upkeep(bench: Bench) -> List[Result]:
    """9: compaction and clustering / Spark writing the files that came of them."""
    rows = bench.sized(TABLE)
    worn, fresh = bench.loaded(rows, due=ROUNDS), bench.loaded(rows).lake
    found: Dict[str, List[Measured]] = {}
    for nth in range(bench.pairs + 1):
        took = _once(bench, nth, worn, fresh)
        for name, each in took.items():
            if nth:
                found.setdefault(name, []).append(each)
    what = (
        f"upkeep of {rows:,} rows after {ROUNDS} runs / Spark writing its files again"
    )
    read = "reading current and history after it / of a first load"
    return [
        compared("9", what, found["upkeep"], found["rewritten"], 2.0),
        compared("9a", read, found["read after"], found["read fresh"], 1.1),
    ]


def _once(
    bench: Bench, nth: int, worn: Loaded, fresh: BenchLake
) -> Dict[str, Measured]:
    for _ in range(ROUNDS):
        worn.land("spread", worn.spread)
        worn.lake.done(*STAGES)
    before = _files(worn)
    measure = bench.meter.measure
    took = {"upkeep": measure(lambda: worn.lake.stage("maintenance"))}
    made = _files(worn) - before
    assert made, "no upkeep was due"
    took["rewritten"] = measure(lambda: _rewrite(bench, made))
    reads = alternating(
        nth,
        {"read after": Work(lambda: _read(worn.lake))},
        {"read fresh": Work(lambda: _read(fresh))},
    )
    return {**took, **{name: measure(read.do) for name, read in reads.items()}}


def _files(loaded: Loaded) -> Set[Path]:
    return set(loaded.lake.warehouse.rglob("*.parquet"))


def _rewrite(bench: Bench, files: Set[Path]) -> None:
    """Each table's new files as they are, with all their columns."""
    for folder in sorted({file.parent for file in files}):
        names = [str(file) for file in files if file.parent == folder]
        rows = bench.spark.read.parquet(*names)
        path = str(bench.unused("rewritten"))
        rows.write.option("compression", "zstd").parquet(path)


def _read(lake: BenchLake) -> None:
    read_whole(lake.current, lake.history)
