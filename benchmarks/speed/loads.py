"""Targets 1 and 10: full loads, measured once against the rows as Parquet, and against
Hudi's own and Delta's writes of them."""

from __future__ import annotations

from typing import List

from benchmarks.speed import raw
from benchmarks.speed.bench import TABLE, Bench, Rounds
from benchmarks.speed.comparing import compared, summed
from benchmarks.speed.lake import BenchLake
from benchmarks.speed.measuring import Measured, Work, Works, alternating
from benchmarks.speed.result import Result

ONE_WRITE = {"log": ("1a", 1.5), "current": ("1b", 2.0), "history": ("1c", 2.0)}
"""What Hudi's write of one table may take: more where rows are sent to buckets."""


def against_parquet(bench: Bench) -> List[Result]:
    """1: a full load into three tables against writing the rows once as Parquet."""
    found = bench.once("loads", lambda: _in_turns(bench))
    rows = bench.sized(TABLE)
    what = f"full load of {rows:,} rows into three tables / the rows once as Parquet"
    by_delta = (
        f"full load of {rows:,} rows / Delta writing the rows of all three tables"
    )
    least = "Spark writing the rows of all three tables as Parquet / the rows once"
    return [
        compared("1", what, found["ours"], found["plain"], 5.0),
        *(_of_one_write(found, name) for name in ONE_WRITE),
        compared("1d", least, _of_all_tables(found, "parquet"), found["plain"], None),
        compared("1e", by_delta, found["ours"], _of_all_tables(found, "delta"), 1.0),
    ]


def _of_all_tables(found: Rounds, by: str) -> List[Measured]:
    each = zip(*(found[f"{by} {name}"] for name in ONE_WRITE))
    return [summed(*one_round) for one_round in each]


def _of_one_write(found: Rounds, name: str) -> Result:
    id, target = ONE_WRITE[name]
    what = f"Hudi's raw write of the rows of {name} / Spark writing them as Parquet"
    return compared(id, what, found[f"hudi {name}"], found[f"parquet {name}"], target)


def against_raw_writes(bench: Bench) -> List[Result]:
    """10: a full load and its history / Hudi writing their rows, with our options."""
    found = bench.once("loads", lambda: _in_turns(bench))
    rows = bench.sized(TABLE)
    what = f"full load and history of {rows:,} rows / their three raw Hudi writes"
    three = _of_all_tables(found, "hudi")
    return [
        compared("10", what, found["ours"], three, 1.1),
        *raw.of_changes(bench, bench.loaded(rows)),
    ]


def _in_turns(bench: Bench) -> Rounds:
    rows = bench.sized(TABLE)
    loaded = bench.loaded(rows)
    source = bench.spark.read.parquet(str(loaded.load))
    each_way = raw.each_way(bench, raw.ready(bench, loaded))

    def works_of(nth: int) -> Works:
        lake = bench.loading(loaded)
        return alternating(
            nth,
            {"ours": Work(lambda: load(lake, rows))},
            {"plain": Work(lambda: raw.as_parquet(bench, source))},
            *each_way,
        )

    return bench.meter.in_turns(works_of, bench.pairs)


def load(lake: BenchLake, rows: int) -> None:
    """Load all rows into change log, current and history."""
    taken = lake.stage("full_load").rows_in
    assert taken == rows, f"{taken} rows were ingested, not {rows}"
    lake.stage("scd2")
