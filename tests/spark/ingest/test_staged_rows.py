"""Rows that are staged for HoodieStreamer: the same, once, and for as long as they must."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lake_spec.model import Engine
from tests.spark.erasing import erased
from tests.spark.formats.test_compression import zstd
from tests.spark.lake import Lake, table
from tests.spark.streaming import commit, streamed

SPEC = table("""
source:
  kind: feed
  path: tests/things
  load: "load/**"
  changes: "changes/**"
  format: {type: csv}
columns:
  id: bigint
  at: timestamp
  price: decimal(10,2)
  note: string
key: [id]
order_by: [at]
engine: streamer
quarantine: {max_share: 1.0}
storage: {buckets: 1}
""")
HEADER = "id,at,price,note\n"
LOAD = HEADER + "1,1890-01-01 00:00:00.000001,1.10,a;b\n2,2026-01-01,lots,x\n"
CHANGES = HEADER + "1,2026-01-02,,${x}\n3,2026-01-02,7,\n"


@pytest.fixture
def lake(spark, tmp_path):
    """A table of the streamer with a load that waits."""
    made = Lake(spark, tmp_path, SPEC)
    made.land("load/1.csv", LOAD, at="2026-02-01")
    return made


def staged(lake: Lake) -> list:
    return sorted(lake.root.glob("warehouse/tests/things/staged/**/*.parquet"))


def test_the_log_has_the_rows_that_the_other_engine_writes(lake, spark, tmp_path):
    other = Lake(spark, tmp_path / "other", replace(SPEC, engine=Engine.PYSPARK))
    other.land("load/1.csv", LOAD, at="2026-02-01")
    other.done("full_load")
    streamed(lake, "full_load")
    for each in (lake, other):
        each.land("changes/1.csv.zst", zstd(spark, CHANGES.encode()), at="2026-02-02")
    other.done("incremental")
    streamed(lake, "incremental")
    names = sorted(set(other.changes.columns) - {"lake_etag"})
    found = [
        sorted(map(str, each.changes.select(names).collect())) for each in (lake, other)
    ]
    assert found[0] == found[1] and len(found[0]) == 3
    assert lake.tables.quarantine.read().count() == 1


def test_staged_rows_are_gone_when_they_are_in_the_log(lake):
    run = lake.prepare("full_load")
    assert staged(lake)
    commit(lake, run)
    lake.done("full_load")
    assert staged(lake) == []


def test_rows_of_a_step_that_never_ran_are_staged_anew(lake):
    lake.prepare("full_load")
    before = staged(lake)
    lake.land("load/2.csv", HEADER + "9,2026-01-01,1,late\n", at="2026-02-01")
    commit(lake, lake.prepare("full_load"))
    assert not set(before) & set(staged(lake))
    lake.done("full_load")
    assert sorted(row.id for row in lake.current.collect()) == [1, 9]


def test_rows_of_the_same_files_are_staged_again_where_a_prepare_was_killed(lake):
    lake.prepare("full_load")
    (rows,) = staged(lake)
    half = rows.parent / "_temporary/0/attempt/part-0.parquet"
    half.parent.mkdir(parents=True)
    rows.rename(half)  # the commit of the writing job was not reached
    commit(lake, lake.prepare("full_load"))
    assert half not in staged(lake)
    assert lake.done("full_load")[0].accepted == 1


@pytest.mark.nightly
def test_an_erase_removes_staged_rows(lake):
    streamed(lake, "full_load")
    lake.land("changes/1.csv", CHANGES, at="2026-02-02")
    lake.prepare("incremental")
    assert staged(lake)
    erased(lake, {"id": 3})
    assert staged(lake) == []


def test_a_dry_run_stages_nothing(lake):
    report = lake.run("prepare_full_load", dry_run=True)
    assert (report.state, staged(lake)) == ("dry_run", [])
