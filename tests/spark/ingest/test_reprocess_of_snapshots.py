"""A reprocess of snapshots: each is a difference, so those after it are reprocessed with it.

Snapshots of days 1, 10 and 20; then one of day 30 comes.
"""

from __future__ import annotations

import shutil

import pytest

from lake_spark.ingest import snapshot_backlog, snapshot_files
from tests.spark.lake import Lake, table
from tests.spark.reprocessing import done_reprocess, from_scratch, reprocess_files, rows

SNAPSHOT = """
source:
  kind: snapshot
  path: tests/things
  files: "**/*.csv"
  format: {type: csv}
  snapshot_time: {pattern: "(\\\\d{4}-\\\\d{2}-\\\\d{2})"}
columns: {id: int, note: string}
key: [id]
storage: {buckets: 1}
"""
DAYS = {
    "2026-01-01": "id,note\n1,a\n2,a\n3,a\n",
    "2026-01-10": "id,note\n1,wrong\n2,a\n4,wrong\n",
    "2026-01-20": "id,note\n1,b\n2,b\n4,c\n",
}
LAST = ("2026-01-30/1.csv", "id,note\n1,b\n2,b\n3,z\n")


@pytest.fixture(scope="module")
def things(spark, tmp_path_factory):
    lake = Lake(spark, tmp_path_factory.mktemp("snapshots"), table(SNAPSHOT))
    for day, text in DAYS.items():
        lake.land(f"{day}/1.csv", text)
    lake.done("full_load", "incremental", "scd2")
    return lake


def test_a_snapshot_is_reprocessed_with_all_after_it_and_nobody_sees_the_way(
    things, tmp_path, monkeypatch
):
    was = rows(things)
    things.land("2026-01-10/1.csv", "id,note\n1,b\n2,a\n3,a\n")
    with monkeypatch.context() as patched:
        patched.setattr(snapshot_backlog, "MOST_SNAPSHOTS", 1)
        patched.setattr(
            snapshot_files,
            "ingest_snapshots",
            _only_once(snapshot_files.ingest_snapshots),
        )
        assert reprocess_files(things, "2026-01-10/*").error["message"] == "killed"
    assert things.tables.ingested_files().reprocess == ("2026-01-20/1.csv",)
    report = things.done("scd2")[0]
    assert "first 2026-01-20/1.csv. Run tests_reprocess or tests_incremental" in (
        report.warnings[0]
    )
    assert things.run("rebuild").error["type"] == "UnfinishedReprocess"
    assert rows(things) == was

    things.land(*LAST)
    report = things.done("incremental", "scd2")[0]
    assert [each.path[:10] for each in report.files] == ["2026-01-20", "2026-01-30"]
    assert rows(things) == from_scratch(things, tmp_path)


def _only_once(take):
    calls = []

    def killed(*arguments):
        if calls:
            raise RuntimeError("killed")
        calls.append(arguments)
        return take(*arguments)

    return killed


@pytest.mark.nightly
def test_from_the_first_on_all_are_taken_as_they_are_now(things, tmp_path):
    """Day 1 has more rows, day 15 came late, day 20 is gone."""
    things.land(*LAST)  # by day it is there
    things.done("incremental", "scd2")
    things.land("2026-01-15/1.csv", "id,note\n1,late\n2,a\n")
    assert "or ingest it by the DAG tests_reprocess" in (
        things.run("incremental").error["message"]
    )
    things.land("2026-01-01/1.csv", "id,note\n1,b\n2,a\n3,a\n3,a\n3,a\n")
    things.remove("2026-01-20/1.csv")
    message = reprocess_files(things, "2026-01-01/1.csv").error["message"]
    assert "2026-01-20/1.csv: no longer in landing" in message

    report = done_reprocess(things, "2026-01-01/1.csv", retract_missing=True)
    assert report.retracted == [f"{day}/1.csv" for day in (*DAYS, "2026-01-30")]
    assert [each.path[8:] for each in report.files] == [
        *("01/1.csv", "10/1.csv", "15/1.csv", "30/1.csv")
    ]
    assert (report.files[0].accepted, report.files[0].duplicates) == (3, 2)
    assert all(each.is_balanced for each in report.files)
    assert report.ties == 0
    assert rows(things) == from_scratch(things, tmp_path)


@pytest.mark.nightly
def test_everything_can_be_retracted_and_begins_anew(things):
    shutil.rmtree(things.root / "landing/tests/things")
    done_reprocess(things, "**", retract_missing=True)
    assert rows(things) == ([], [])
    things.land("2026-01-01/1.csv", DAYS["2026-01-01"])
    assert things.done("full_load", "scd2")[0].accepted == 3
    assert things.versions("note")[0] == (1, "a", "2026-01-01 00:00:00", None)


def test_a_second_file_beside_a_snapshot_is_no_part_of_a_reprocess(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SNAPSHOT))
    lake.land("2026-01-01/1.csv", "id,note\n1,a\n2,a\n")
    lake.done("full_load")
    lake.land("2026-01-01/copy.csv", "id,note\n1,a\n2,a\n")
    (report,) = lake.done("incremental")
    assert "copy.csv has the content of 2026-01-01/1.csv" in report.warnings[0]
    lake.land("2026-01-01/2.csv", "id,note\n3,a\n")
    (aside,) = lake.run("incremental").set_aside
    assert aside["path"] == "2026-01-01/2.csv"
    assert "is of the same time as the last one ingested" in aside["reason"]
    lake.land("2026-01-01/1.csv", "id,note\n1,b\n2,a\n")
    report = done_reprocess(lake, "2026-01-01/*")
    assert [each.path for each in report.files] == ["2026-01-01/1.csv"]
    for name in ("2.csv", "copy.csv"):  # no copy any more: 1.csv has another content
        lake.remove(f"2026-01-01/{name}")
    lake.done("incremental")
    assert lake.living("note") == [(1, "b"), (2, "a")]
