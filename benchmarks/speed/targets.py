"""The targets, and how each is measured. Numbers are those of docs/speed.md."""

from __future__ import annotations

import os
from typing import Callable, Dict, List

from benchmarks.speed.bench import Bench, Loaded, Rounds, rounds
from benchmarks.speed.measuring import Measured, alternating, median, ratios
from benchmarks.speed.result import Result, over

Target = Callable[[Bench], List[Result]]

TABLE = 2_000_000
SPREAD = 2_000
"""Keys that change at even distances over the whole table, whatever its size."""


def full_load(bench: Bench) -> List[Result]:
    """1: a full load into three tables against writing the rows once as Parquet."""
    rows = bench.sized(TABLE)
    load = bench.loaded(rows).load
    source = bench.spark.read.parquet(str(load))
    names = iter(range(100))

    def ours() -> None:
        lake = bench.empty(rows, "loading")
        target = lake.root / "landing" / lake.spec.source.path / "load"
        target.mkdir(parents=True)
        for file in load.glob("*.parquet"):
            os.link(file, target / file.name)
        taken = lake.stage("full_load").rows_in
        assert taken == rows, f"{taken} rows were taken in, not {rows}"
        lake.stage("scd2")

    def plain() -> None:
        path = str(bench.root / f"plain-{next(names)}")
        source.write.option("compression", "zstd").parquet(path)

    found = bench.meter.in_turns(
        lambda nth: alternating(nth, {"ours": ours}, {"plain": plain}), bench.pairs
    )
    what = f"full load of {rows:,} rows into three tables / the rows once as Parquet"
    return [_ratio("1", what, found["ours"], found["plain"], 4.5)]


def incremental(bench: Bench) -> List[Result]:
    """2: 1% changes, of few keys many, against Delta's MERGE into current alone."""
    loaded = bench.loaded(bench.sized(TABLE), delta=True)
    found = rounds(bench, loaded, "skewed", loaded.rows // 100, delta="current")
    what = f"incremental, 1% skewed changes of {loaded.rows:,} rows / Delta MERGE"
    return [_ratio("2", what, found.incremental, found.delta or [], 0.6)]


def scd2(bench: Bench) -> List[Result]:
    """3: SCD2 of 2,000 spread keys against Delta's two-sided MERGE, as mack does it."""
    loaded = bench.loaded(bench.sized(TABLE), delta=True)
    found = rounds(bench, loaded, "spread", SPREAD, delta="history")
    what = (
        f"scd2, {SPREAD:,} spread keys of {loaded.rows:,} rows / Delta two-sided MERGE"
    )
    both = [_sum(a, b) for a, b in zip(found.incremental, found.scd2)]
    return [
        _ratio("3", what, found.scd2, found.delta or [], 0.35),
        _ratio(
            "3a",
            "the same, with the incremental before it / Delta two-sided MERGE",
            both,
            found.delta or [],
            None,
        ),
    ]


def scd2_growth(bench: Bench) -> List[Result]:
    """4: the same 2,000 keys in tables of 0.2, 2 and 10 million rows."""
    sizes = [bench.sized(rows) for rows in (200_000, TABLE, 10_000_000)]
    return _growth("4", bench, sizes, "scd2", SPREAD, 1.3)


def incremental_growth(bench: Bench) -> List[Result]:
    """5: 10,000 changes in tables of 0.4 and 4 million rows."""
    sizes = [bench.sized(rows) for rows in (400_000, 4_000_000)]
    return _growth("5", bench, sizes, "incremental", 10_000, 1.25)


TARGETS: Dict[str, Target] = {
    "1": full_load,
    "2": incremental,
    "3": scd2,
    "4": scd2_growth,
    "5": incremental_growth,
}


def _growth(
    id: str, bench: Bench, sizes: List[int], stage: str, keys: int, target: float
) -> List[Result]:
    """Each size over the one before, the rounds of both in their order."""
    lakes: List[Loaded] = [bench.loaded(rows) for rows in sizes]
    found: List[Rounds] = [
        rounds(bench, lake, "spread", min(keys, lake.rows // 2)) for lake in lakes
    ]
    stages = [getattr(each, stage) for each in found]
    results = []
    for nth, (smaller, larger) in enumerate(zip(stages, stages[1:])):
        what = f"{stage}, {keys:,} keys: {sizes[nth + 1]:,} rows / {sizes[nth]:,} rows"
        name = id if len(stages) == 2 else f"{id}{'abc'[nth]}"
        results.append(_ratio(name, what, larger, smaller, target))
    return results


def _ratio(
    id: str,
    what: str,
    ours: List[Measured],
    theirs: List[Measured],
    target: "float | None",
) -> Result:
    told = {
        f"{side}_{name}": median(found, name)
        for side, found in (("ours", ours), ("theirs", theirs))
        for name in ("seconds", "read", "written", "files", "jobs")
    }
    return over(id, what, ratios(ours, theirs), target, told)


def _sum(one: Measured, other: Measured) -> Measured:
    return Measured(
        one.seconds + other.seconds,
        one.read + other.read,
        one.written + other.written,
        one.files + other.files,
        one.jobs + other.jobs,
    )
