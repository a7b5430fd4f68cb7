"""Targets 17 and 18: what checks of a table cost a run, and its profile a first load."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import List, Sequence

from pyspark.sql import functions as F

from lake_spec.model import (
    AcceptedRange,
    Aggregate,
    Check,
    Expression,
    Freshness,
    NullShare,
    Profile,
    References,
    RowCount,
    TableSpec,
    Unique,
)
from lake_spark.profiling.profile import profile_where_due
from benchmarks.speed.bench import STAGES, TABLE, Bench, Loaded, taken
from benchmarks.speed.comparing import compared, summed
from benchmarks.speed.generator import CUSTOMERS, FIRST_SECOND
from benchmarks.speed.lake import BenchLake
from benchmarks.speed.loads import load
from benchmarks.speed.measuring import Work, Works, alternating, say
from benchmarks.speed.result import Result
from tests.spark.lake import LOAD_AND_CHANGES, table

FROM_CHANGES = (
    RowCount(at_least=1),
    NullShare("note", 0.5),
    AcceptedRange("price", Aggregate.AVG, at_least=0),
    Freshness("updated_at", 1_000_000),
    Expression("shipped_on >= ordered_on"),
)
"""Checks whose numbers follow from the changed rows."""

OF_ALL_ROWS = (Unique(("reference",)), References("customer_id", "customers.id"))
"""Checks whose numbers do not."""

SIDES = {"without": (), "kept": FROM_CHANGES, "all": (*FROM_CHANGES, *OF_ALL_ROWS)}

CUSTOMER = (
    LOAD_AND_CHANGES.replace("tests/things", "tests/customers")
    + """  format: {type: parquet}
  operation: {column: op}
columns: {id: int, seen: timestamp}
key: [id]
order_by: [seen]
storage: {type: merge_on_read, buckets: 2}
"""
)

CHANGED_CUSTOMERS = 100


def checks(bench: Bench) -> List[Result]:
    """17: a run with checks of the table / the same run without."""
    rows = bench.sized(TABLE)
    sides = {name: _Side(bench, rows, each) for name, each in SIDES.items()}
    keys = sides["without"].loaded.spread

    def works_of(nth: int) -> Works:
        every = (
            taken(side.loaded, keys, f"{name} ", partial(side.land, keys))
            for name, side in sides.items()
        )
        return alternating(nth, *every)

    found = bench.meter.in_turns(works_of, bench.pairs, warm_up=2)
    without, kept, all_of = (
        [summed(*each) for each in zip(*(found[f"{name} {s}"] for s in STAGES))]
        for name in SIDES
    )
    what = f"incremental and scd2, {keys:,} keys of {rows:,} rows, with {{}} / without checks"
    more = f"{len(FROM_CHANGES)} checks, unique and references"
    return [
        compared("17", what.format(f"{len(FROM_CHANGES)} checks"), kept, without, 1.1),
        compared("17a", what.format(more), all_of, without, None),
    ]


class _Side:
    """A loaded table with checks, next to the customers that its rows refer to.

    All sides have the same customers, and some of these change before each run.
    """

    def __init__(self, bench: Bench, rows: int, checks: Sequence[Check]) -> None:
        loaded = bench.loaded(rows)
        lake, customers = loaded.lake, replace(table(CUSTOMER), name="customers")
        spec = replace(lake.spec, checks=tuple(checks))
        domain = (spec, customers)
        self.loaded: Loaded = replace(
            loaded, lake=BenchLake(bench.spark, lake.root, spec, domain)
        )
        self._customers = BenchLake(bench.spark, lake.root, customers, domain)
        say(f"{CUSTOMERS:,} customers, {len(checks)} checks")
        ids = bench.spark.range(0, CUSTOMERS, 1, 1).selectExpr("CAST(id AS int) AS id")
        seen = F.timestamp_seconds(F.lit(FIRST_SECOND)).alias("seen")
        self._customers.land_rows(ids.select("id", seen), "load/rows")
        self._customers.stage("full_load")

    def land(self, keys: int) -> None:
        """Land changes of the table; change some customers."""
        self.loaded.land("spread", keys)
        hour = self.loaded.hour
        ids = f"CAST(id * {CUSTOMERS // CHANGED_CUSTOMERS} + {hour} AS int) AS id"
        seen = F.timestamp_seconds(F.lit(FIRST_SECOND + hour)).alias("seen")
        rows = self.loaded.generator.spark.range(0, CHANGED_CUSTOMERS, 1, 1)
        changed = rows.selectExpr("'U' AS op", ids).select("op", "id", seen)
        self._customers.land_rows(changed, f"changes/hour{hour:06d}")
        self._customers.stage(STAGES[0])


def profile(bench: Bench) -> List[Result]:
    """18: measuring the profile of a table that was loaded / the load."""
    rows = bench.sized(TABLE)
    loaded = bench.loaded(rows)

    def works_of(_: int) -> Works:
        lake = bench.loading(loaded)
        spec = replace(lake.spec, profile=Profile.WEEKLY)
        return {
            "load": Work(lambda: load(lake, rows)),
            "profile": Work(lambda: _profiled(lake, spec)),
        }

    found = bench.meter.in_turns(works_of, bench.pairs)
    what = f"profile of {rows:,} rows after a full load / full load into three tables"
    return [compared("18", what, found["profile"], found["load"], None)]


def _profiled(lake: BenchLake, spec: TableSpec) -> None:
    run = BenchLake(lake.spark, lake.root, spec).tables
    profile_where_due(run)
    assert not run.report.warnings, run.report.warnings
