"""What other engines read of a published table is what Hudi reads, at each kept commit.

Random rounds of changes, deletes, new columns and empty runs; maintenance, a rebuild and
a reprocess between them. Spark's own reader of Iceberg, and the rules of Delta's protocol,
find the rows that Hudi's reader finds.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

import pytest
from pyspark.sql import DataFrame

from lake_spec.model import TableType
from lake_spark.storage.hudi_table import without_hudi_columns
from tests.spark.lake import FEED_FILES, Lake, stored, table
from tests.spark.publish.engine_rows import texts
from tests.spark.publish.readers import (
    as_text,
    delta_rows,
    delta_versions,
    iceberg_rows,
    iceberg_snapshots,
)

COLUMNS = """columns: {id: int, place: string, day: date, amount: "decimal(10,2)", \
at: timestamp, tags: "array<string>"}
key: [id]
order_by: [at]
effective_at: at
"""
SPEC = table(FEED_FILES + COLUMNS + """\
storage: {buckets: 2, readable_as: [iceberg, delta]}
maintenance: {keep_commits: 6, compact_after: 3, cluster_after: 5}
""")
HEADER = "op,id,place,day,amount,at,tags"
ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".venv-readers" / "bin" / "python"
LAYERS = ("changes", "current", "history")
KINDS = [
    (TableType.COPY_ON_WRITE, 10),
    (TableType.COPY_ON_WRITE, 20),
    (TableType.MERGE_ON_READ, 20),
]
"""Kinds of tables, and how many rounds each plays."""
SEED = 20261126


class Rounds:
    """Random work on a lake; each round is a run of its own."""

    def __init__(self, lake: Lake, seed: int) -> None:
        self.lake = lake
        self.random = random.Random(seed)
        self.ids = list(range(40))
        lines = [self._row(number, "2026-01-01") for number in self.ids]
        lake.land("load/1.csv", "\n".join([HEADER[3:], *lines]) + "\n")
        lake.done("full_load", "scd2")

    def _row(self, number: int, at: str) -> str:
        place = self.random.choice(["north", "south", "a:b", "ü b"])
        day = f"2026-02-{self.random.randint(1, 3):02}"
        amount = self.random.randint(0, 10**6) / 100
        return f'{number},{place},{day},{amount},{at},"[""x"",null]"'

    def play(self, number: int) -> None:
        """Change some rows, delete some, at times with a new column or with nothing."""
        at = f"2026-03-01 {number // 60:02}:{number % 60:02}:00"
        chosen = self.random.sample(self.ids, self.random.randint(0, 6))
        more = "," + "seen" if number % 7 == 6 else ""
        rows = [
            (
                f"D,{each},,,,{at},"
                if self.random.random() < 0.2
                else f"U,{self._row(each, at)}"
            )
            for each in chosen
        ]
        text = "\n".join([HEADER + more, *[r + (",1" if more else "") for r in rows]])
        self.lake.land(f"changes/{number:03}.csv", text + "\n")
        self.lake.done("incremental", "scd2")


def others_agree(lake: Lake, layer: str) -> None:
    """Compare pyiceberg and delta-rs with Hudi at the first and the newest commit."""
    path = lake.tables.table(layer).path
    snapshots, versions = iceberg_snapshots(path), delta_versions(path)
    for instant in {next(iter(snapshots)), list(snapshots)[-1]}:
        places = [str(snapshots[instant]), str(versions[instant])]
        command = [str(PYTHON), "-m", "tests.spark.publish.engine_rows", path, *places]
        env = {**os.environ, "PYTHONPATH": str(ROOT / "dags")}
        done = subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        wanted = expected(lake, layer, instant)
        rows = texts([row.asDict(recursive=True) for row in wanted.collect()])
        for engine, found in json.loads(done.stdout).items():
            names = set(wanted.columns)
            kept = [
                {k: v for k, v in json.loads(r).items() if k in names} for r in found
            ]
            assert texts(kept) == rows, (engine, layer, instant)


def expected(lake: Lake, layer: str, instant: str) -> DataFrame:
    """What Hudi reads as of a commit.

    The last compaction before what Hudi keeps is still the newest of its time, and Hudi
    reads it no more: there the formats are compared with each other.
    """
    stored_rows = lake.tables.table(layer)
    kept = sorted(each.requested for each in stored_rows.instants())
    if instant < kept[-lake.spec.maintenance.keep_commits :][0]:
        return delta_rows(lake.spark, stored_rows.path, instant)
    reader = lake.spark.read.format("hudi").option("as.of.instant", instant)
    return without_hudi_columns(reader.load(stored_rows.path))


def agree(lake: Lake, layer: str) -> int:
    """Compare all formats at each published commit; how many there are."""
    path = lake.tables.table(layer).path
    snapshots, versions = iceberg_snapshots(path), delta_versions(path)
    assert list(snapshots) == list(versions)
    for instant in snapshots:
        found = [
            iceberg_rows(lake.spark, path, instant),
            delta_rows(lake.spark, path, instant),
        ]
        wanted = expected(lake, layer, instant)
        for rows in found:
            shown = [name for name in rows.columns if name in wanted.columns]
            assert set(wanted.columns) <= set(shown)
            assert as_text(rows.select(shown)) == as_text(wanted), (layer, instant)
            others = rows.drop(*shown)
            assert all(v is None for row in others.distinct().collect() for v in row)
    return len(snapshots)


@pytest.mark.nightly  # by day: tests/spark/whole_runs/test_readers.py
@pytest.mark.parametrize("played", KINDS, ids=lambda each: f"{each[0].value}-{each[1]}")
def test_every_commit_is_read_alike_by_every_engine(spark, tmp_path, played):
    kind, count = played
    spec = stored(SPEC, type=kind, partition_by=("place",))
    lake = Lake(spark, tmp_path, spec)
    rounds = Rounds(lake, SEED)
    for number in range(count):
        rounds.play(number)
        if number % 5 == 4:
            lake.done("maintenance")
    lake.done("rebuild")
    rounds.play(count)
    found = {layer: agree(lake, layer) for layer in LAYERS}
    assert found["changes"] >= spec.maintenance.keep_commits
    for layer in LAYERS:
        path = lake.tables.table(layer).path
        newest = lake.tables.table(layer).last_commit().instant
        if kind is TableType.COPY_ON_WRITE:
            assert list(iceberg_snapshots(path))[-1] == newest
        if PYTHON.exists():
            others_agree(lake, layer)


@pytest.mark.nightly  # by day: tests/spark/whole_runs/test_readers.py
@pytest.mark.skipif(not PYTHON.exists(), reason="needs ./setup.sh --only readers")
def test_pyiceberg_and_delta_rs_read_each_commit_alike(spark, tmp_path):
    lake = Lake(spark, tmp_path, stored(SPEC, partition_by=("place", "day")))
    rounds = Rounds(lake, SEED + 1)
    for number in range(4):
        rounds.play(number)
    for layer in LAYERS:
        others_agree(lake, layer)
