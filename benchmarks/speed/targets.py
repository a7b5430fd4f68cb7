"""The targets, and how each is measured. Numbers are those of docs/speed.md."""

from __future__ import annotations

from typing import Callable, Dict, List

from benchmarks.speed import (
    backlog,
    clinic,
    heap,
    lasting,
    loads,
    maintenance,
    parsing,
    publication,
    quality,
    small,
    steps,
)
from benchmarks.speed.bench import SPREAD, TABLE, Bench, rounds
from benchmarks.speed.comparing import compared, summed
from benchmarks.speed.growth import against_delta, growth
from benchmarks.speed.peers import OF_CURRENT, OF_HISTORY
from benchmarks.speed.result import Result

Target = Callable[[Bench], List[Result]]

LEAST = 100_000
"""Rows of a table whose growth is looked at: those of up to 50,000 are worked on in
another way (`lake_spark.materialize.previous_rows`)."""


def incremental(bench: Bench) -> List[Result]:
    """2: 1% changes, of few keys many, against what others do with the same file."""
    loaded = bench.loaded(bench.sized(TABLE))
    found = rounds(bench, loaded, "skewed", loaded.rows // 100, OF_CURRENT)
    what = f"incremental, 1% skewed changes of {loaded.rows:,} rows / {{}}"
    named = {
        "2": ("delta", "Delta MERGE", 0.6),
        "2a": ("hudi upsert", "Hudi's upsert, as in its quick start", None),
        "2b": ("hudi MERGE INTO", "MERGE INTO of Spark SQL on Hudi", None),
        "2c": ("DuckDB", "DuckDB, one process without Spark", None),
        "2d": ("iceberg", "Iceberg MERGE INTO, copy on write", None),
    }
    return [
        compared(id, what.format(words), found["incremental"], found[peer], target)
        for id, (peer, words, target) in named.items()
    ]


def scd2(bench: Bench) -> List[Result]:
    """3: SCD2 of 2,000 spread keys against what others do with the same file."""
    loaded = bench.loaded(bench.sized(TABLE))
    keys = loaded.spread
    found = rounds(bench, loaded, "spread", keys, OF_HISTORY)
    what = f"scd2, {keys:,} spread keys of {loaded.rows:,} rows / "
    both = [summed(*each) for each in zip(found["incremental"], found["scd2"])]
    more = "the same, with the incremental before it / Delta two-sided MERGE"
    dbt = "dbt's snapshot of them, warm"
    return [
        compared(
            "3", what + "Delta two-sided MERGE", found["scd2"], found["delta"], 0.2
        ),
        compared("3a", more, both, found["delta"], 0.3),
        compared("3b", what + dbt, found["scd2"], found["dbt"], None),
    ]


def scd2_growth(bench: Bench) -> List[Result]:
    """4: the same 2,000 keys in tables of 0.2, 2 and 10 million rows."""
    sizes = [bench.sized(rows, least=LEAST) for rows in (200_000, TABLE, 10_000_000)]
    over, found = growth(bench, ("4a", "4b"), sizes, "scd2", SPREAD, 1.1)
    return [*over, against_delta("4c", SPREAD, sizes[-1], found, 0.1)]


def incremental_growth(bench: Bench) -> List[Result]:
    """5: 10,000 changes in tables of 0.4 and 4 million rows."""
    sizes = [bench.sized(rows, least=LEAST) for rows in (400_000, 4_000_000)]
    over, _ = growth(bench, ("5",), sizes, "incremental", 10_000, 1.1)
    return over


TARGETS: Dict[str, Target] = {
    "1": loads.against_parquet,
    "2": incremental,
    "3": scd2,
    "4": scd2_growth,
    "5": incremental_growth,
    "6": lasting.nothing_new,
    "7": small.tables,
    "8": lasting.many_rounds,
    "9": maintenance.maintenance,
    "10": loads.against_raw_writes,
    "11": lasting.late_events,
    "12": parsing.specs,
    "13": steps.small_runs,
    "14": backlog.snapshots,
    "15": publication.seconds,
    "16": publication.stored,
    "17": quality.checks,
    "18": quality.profile,
    "19": clinic.products,
    "20": heap.load,
}
