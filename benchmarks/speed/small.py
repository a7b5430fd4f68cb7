"""Target 7: a hundred small tables in one step."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import List, Union

from lake_spec.model import ClusterSpec, Engine, TableSpec
from benchmarks.speed.bench import STAGES, Bench
from benchmarks.speed.measuring import Measured, Work, Works, median, say
from benchmarks.speed.result import Result, over
from tests.spark.lake import LOAD_AND_CHANGES, Lake, table
from tests.spark.streaming import stream
from tests.spark.submitted import SubmittedDomain

TABLES, ROWS, CHANGED = 100, 1_000, 100
WARM = 10
"""Tables of the round that is not counted: the JVM's work is warm from the loads."""
STREAMED = 3
"""Tables that HoodieStreamer ingests, each in a process of its own."""

SPEC = LOAD_AND_CHANGES + """  format: {type: csv}
  operation: {column: op}
columns: {id: int, name: string, price: "decimal(12,2)", at: timestamp}
key: [id]
order_by: [at]
effective_at: at
storage: {type: merge_on_read, buckets: 1}
"""


def tables(bench: Bench) -> List[Result]:
    """7: 100 changed rows in each of many tables, in one application; s a table."""
    count = bench.sized(TABLES, least=10)
    say(f"{count} tables of {ROWS:,} rows")
    lakes = [_landed(bench, f"small-{nth}", table(SPEC)) for nth in range(count)]
    _at_once(lakes, "full_load", "scd2")

    def works_of(nth: int) -> Works:
        changed = lakes if nth else lakes[:WARM]
        for lake in changed:
            land_changes(lake, nth, ROWS)
        return {stage: Work(partial(_at_once, changed, stage)) for stage in STAGES}

    found = bench.meter.in_turns(works_of, bench.pairs)
    what = f"seconds a table: {count} tables with {CHANGED} changed rows each, "
    return [
        _a_table("7", what + "incremental", found["incremental"], count, 1.5),
        _a_table("7a", what + "scd2", found["scd2"], count, None),
        _by_streamer(bench),
    ]


def _landed(bench: Bench, name: str, spec: TableSpec) -> Lake:
    lake = Lake(bench.spark, bench.unused(name), spec)
    land_load(lake, ROWS)
    return lake


def land_load(lake: Union[Lake, SubmittedDomain], rows: int) -> None:
    """Land the file of a first load."""
    text = "".join(f"{i},name {i},{i}.50,2026-01-01\n" for i in range(rows))
    lake.land("load/1.csv", f"id,name,price,at\n{text}")


def land_changes(lake: Union[Lake, SubmittedDomain], nth: int, rows: int) -> None:
    """Land a file of changes of some of so many rows."""
    keys = random.Random(nth).sample(range(rows), CHANGED)
    at = f"2026-01-02 {nth // 60:02}:{nth % 60:02}:00"
    text = "".join(f"U,{i},changed {nth},{nth}.25,{at}\n" for i in keys)
    lake.land(f"changes/{nth}.csv", f"op,id,name,price,at\n{text}")


def _at_once(lakes: List[Lake], *stages: str) -> None:
    """As an application does it: so many tables at once as a cluster has by default."""
    with ThreadPoolExecutor(max_workers=ClusterSpec.tables_at_once) as pool:
        list(pool.map(lambda lake: lake.done(*stages), lakes))


def _a_table(
    id: str, what: str, found: List[Measured], count: int, target: "float | None"
) -> Result:
    told = {
        name: median(found, name) / count
        for name in ("read", "written", "files", "jobs")
    }
    return over(id, what, [each.seconds / count for each in found], target, told)


def _by_streamer(bench: Bench) -> Result:
    """The change log alone by HoodieStreamer: a process for each table, as it works."""
    seconds = []
    spec = replace(table(SPEC), engine=Engine.STREAMER)
    for nth in range(STREAMED):
        lake = _landed(bench, f"streamed-{nth}", spec)
        took = bench.meter.measure(lambda: _streamed(lake))
        seconds.append(took.seconds)
    what = (
        f"seconds a table: HoodieStreamer, a process each, {ROWS:,} rows of a first load"
        " into the change log alone"
    )
    return over("7b", what, seconds, None, {})


def _streamed(lake: Lake) -> None:
    code = stream(lake, "full_load", lake.root)
    assert code == 0, (lake.root / "streamer.log").read_text()[-2000:]
