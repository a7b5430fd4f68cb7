"""Hudi's own writes of rows that ours come to: what our part adds to them."""

from __future__ import annotations

from functools import partial
from typing import Dict, List, Tuple

from pyspark.sql import DataFrame

from lake_spec.hudi.options import Operation, write_options
from lake_spark.storage.hudi_table import HudiTable, without_hudi_columns
from benchmarks.speed.bench import STAGES, Bench, Loaded
from benchmarks.speed.comparing import compared
from benchmarks.speed.measuring import Work, Works, alternating
from benchmarks.speed.result import Result

LAYERS = ("log", "current", "history")
Ready = Dict[str, Tuple[DataFrame, HudiTable]]


def ready(bench: Bench, loaded: Loaded) -> Ready:
    """The rows of each table as Parquet files, and the table that has them."""
    found = {}
    for name in LAYERS:
        table = getattr(loaded.lake.tables, name)
        path = str(bench.unused(f"ready-{name}"))
        without_hudi_columns(table.read()).write.parquet(path)
        found[name] = (bench.spark.read.parquet(path), table)
    return found


def each_way(bench: Bench, ready: Ready) -> List[Works]:
    """For each table its rows written into a new one by Hudi, by Delta, and as Parquet by
    Spark: `hudi <name>`, `delta <name>` and `parquet <name>`."""

    def by_hudi(name: str) -> None:
        rows, table = ready[name]
        _write(rows, table, Operation.BULK_INSERT, str(bench.unused(f"raw-{name}")))

    return [
        {
            f"hudi {name}": Work(partial(by_hudi, name)),
            f"delta {name}": Work(partial(_as_delta, bench, rows)),
            f"parquet {name}": Work(partial(as_parquet, bench, rows)),
        }
        for name, (rows, _) in ready.items()
    ]


def as_parquet(bench: Bench, rows: DataFrame) -> None:
    """Spark's own write of rows, packed as our tables are."""
    path = str(bench.unused("plain"))
    rows.write.option("compression", "zstd").parquet(path)


def _as_delta(bench: Bench, rows: DataFrame) -> None:
    """Delta's write of rows, packed as Delta's users do."""
    rows.write.format("delta").save(str(bench.unused("delta")))


def of_changes(bench: Bench, loaded: Loaded) -> List[Result]:
    """10a: a run of some changed keys against the rows of one write each, written raw
    into copies of the tables; nothing else that a run must know is looked for."""
    lake = loaded.lake
    before = {name: _instant(lake, name) for name in LAYERS}
    loaded.land("spread", loaded.spread)
    lake.done(*STAGES)
    changed = {name: _since(bench, lake, name, before[name]) for name in LAYERS}
    ours, raw = Work(lambda: lake.done(*STAGES)), Work(lambda: _write_all(changed))

    def works_of(nth: int) -> Works:
        loaded.land("spread", loaded.spread)
        return alternating(nth, {"ours": ours}, {"raw": raw})

    found = bench.meter.in_turns(works_of, bench.pairs)
    run = f"a run of {loaded.spread:,} changed keys, with all that it looks for"
    what = f"{run} / its three writes"
    return [compared("10a", what, found["ours"], found["raw"], None)]


def _instant(lake, name: str) -> str:
    return getattr(lake.tables, name).last_commit().instant


def _since(bench: Bench, lake, name: str, instant: str) -> Tuple[DataFrame, HudiTable]:
    table = getattr(lake.tables, name)
    rows = table.read().where(f"_hoodie_commit_time > '{instant}'")
    path = str(bench.unused(f"changed-{name}"))
    without_hudi_columns(rows).write.parquet(path)
    copy = HudiTable(
        bench.spark, str(bench.unused(f"copy-{name}")), dict(table.options)
    )
    _write(without_hudi_columns(table.read()), copy, Operation.BULK_INSERT, copy.path)
    return bench.spark.read.parquet(path), copy


def _write_all(changed: Ready) -> None:
    for name, (rows, table) in changed.items():
        kind = Operation.BULK_INSERT if name == "log" else Operation.UPSERT
        _write(rows, table, kind, table.path)


def _write(rows: DataFrame, table: HudiTable, kind: Operation, path: str) -> None:
    """Hudi's own write, with the options that the table's writes have."""
    options = write_options(table.options, kind, {})
    rows.write.format("hudi").options(**options).mode("append").save(path)
