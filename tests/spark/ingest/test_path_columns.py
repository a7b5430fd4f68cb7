"""A feed of several shops, whose number is a folder and in no row.

Each shop numbers its orders from 1, so shop and order are the key. Both engines write
the same. A file elsewhere is set aside, and its shop's orders stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from lake_spec.model import Engine
from tests.kinds import one_by_day
from tests.spark.erasing import ask, erased
from tests.spark.lake import Lake, table
from tests.spark.streaming import stream

SPEC = """
source:
  kind: feed
  path: tests/orders
  load: load/**
  changes: changes/**
  format: {type: csv}
  operation: {column: op}
  path_columns: {shop: "shop=([^/]+)/", day: '/day=([^/]+)/'}
columns: {shop: string, id: int, state: string, at: timestamp, day: string}
key: [shop, id]
order_by: [at]
history: {ignore: [day]}
storage: {buckets: 1}
"""
ROWS = ("shop", "id", "state", "day")


def landed(lake):
    # A column of the files that is named as one of the path is not read.
    load = "id,state,at,shop\n1,new,2026-01-01,x\n2,new,2026-01-01,x\n"
    lake.land("load/shop=a/day=1/1.csv", load, at="2026-03-01")
    lake.land("load/shop=b'c/day=1/1.csv", load, at="2026-03-01")
    changes = "op,id,state,at\nU,1,paid,2026-01-02\nD,2,,2026-01-02\n"
    lake.land("changes/shop=a/day=2/1.csv", changes, at="2026-03-01")
    lake.land("changes/shop=b'c/day=2/1.csv", changes[:35], at="2026-03-01")


def told(rows, *others):
    return sorted(tuple(row) for row in rows.select(*ROWS, *others).collect())


@pytest.fixture(
    params=one_by_day([Engine.PYSPARK, Engine.STREAMER]), ids=lambda each: each.value
)
def lake(request, spark, tmp_path):
    made = Lake(spark, tmp_path, replace(table(SPEC), engine=request.param))
    landed(made)
    for stage in ("full_load", "incremental"):
        if request.param is Engine.STREAMER:
            log = tmp_path / "streamer.log"
            assert stream(made, stage, tmp_path) == 0, log.read_text()[-3000:]
        report, _ = made.done(stage, "scd2")
        assert (report.quarantined, report.warnings) == (0, [])
    return made


def test_rows_have_the_values_of_their_paths(lake):
    assert told(lake.current) == [
        ("a", 1, "paid", "2"),
        ("b'c", 1, "paid", "2"),
        ("b'c", 2, "new", "1"),
    ]
    assert told(lake.history, "is_current") == [
        ("a", 1, "new", "1", False),
        ("a", 1, "paid", "2", True),
        ("a", 2, "new", "1", False),
        ("b'c", 1, "new", "1", False),
        ("b'c", 1, "paid", "2", True),
        ("b'c", 2, "new", "1", True),
    ]


def test_what_a_path_lacks_is_told_and_no_redefinition_passes(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC))
    landed(lake)
    lake.done("full_load", "incremental", "scd2")
    lake.land("changes/shop=a/2.csv", "op,id,state,at\nU,9,new,2026-01-09\n")
    report = lake.run("incremental")
    (aside,) = report.set_aside
    assert (aside["type"], aside["path"]) == ("WrongPath", "changes/shop=a/2.csv")
    assert aside["reason"] == (
        "its path has no value of day: nothing in it matches '/day=([^/]+)/'. Rename the "
        "file, or correct the pattern in the spec."
    )
    # A part of the key is in names, which no erasure can take out.
    report = lake.run("erase", request_uri=ask(lake, {"shop": "a", "id": 1}))
    assert "the paths of its files have a part of the key (path_columns)" in str(
        report.error
    )
    lake.spec = table(SPEC.replace("shop=([^/]+)/", "/shop=([^/]+)/"))
    report = lake.run("incremental")
    assert "source.path_columns was" in str(report.error)


@pytest.mark.nightly
def test_rows_are_erased_from_files_whose_paths_say_other_columns(spark, tmp_path):
    spec = SPEC.replace("key: [shop, id]", "key: [id]")
    lake = Lake(spark, tmp_path, table(spec))
    lake.land(
        "load/shop=a/day=1/1.csv", "id,state,at\n1,new,2026-01-01\n2,new,2026-01-01\n"
    )
    lake.done("full_load", "scd2")
    erased(lake, {"id": 1})
    assert told(lake.current) == [("a", 2, "new", "1")]
    lake.land("changes/shop=b/day=2/1.csv", "op,id,state,at\nU,1,new,2026-01-09\n")
    (report,) = lake.done("incremental")
    assert report.erased == 1
