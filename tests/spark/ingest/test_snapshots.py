"""Snapshots that come again, with a column that says since when a row is true.

Three snapshots on days 1, 10 and 20 of twelve things. Thing 1 changes with a new
effective time, thing 2 without one, thing 3 with one before the snapshot before;
thing 4 goes and comes back; the others never change.
"""

from __future__ import annotations

import pytest

from lake_spark.tables.table_run import Accepted
from tests.spark.lake import Lake, table

SPEC = """
source:
  kind: snapshot
  path: tests/things
  files: "**/*.csv"
  format: {type: csv}
  snapshot_time: {pattern: "(\\\\d{4}-\\\\d{2}-\\\\d{2})"}
  complete: {marker: _SUCCESS}
columns: {id: int, note: string, since: date}
key: [id]
effective_at: since
storage: {buckets: 1}
"""
REST = "".join(f"{i},same,2025-12-01\n" for i in range(5, 13))
DAY_1 = "1,a,2025-12-01\n2,a,2025-12-01\n3,a,2025-12-01\n4,a,2025-12-01\n"
DAY_10 = "1,b,2026-01-05\n2,b,2025-12-01\n3,b,2025-12-24\n"
DAY_20 = "1,b,2026-01-05\n2,b,2025-12-01\n3,b,2025-12-24\n4,z,2026-01-15\n"
HEADER = "id,note,since\n"


@pytest.fixture(scope="module")
def things(spark, tmp_path_factory):
    lake = Lake(spark, tmp_path_factory.mktemp("snapshots"), table(SPEC))
    for day, rows in (("01-01", DAY_1), ("01-10", DAY_10), ("01-20", DAY_20)):
        # A snapshot of several files, taken whole.
        lake.land(f"2026-{day}/2.csv", HEADER + REST)
        land(lake, f"2026-{day}/1.csv", HEADER + rows)
    lake.reports = lake.done("full_load", "incremental", "scd2")
    return lake


def land(lake: Lake, path: str, text: str) -> None:
    """The last file of a snapshot, and its marker."""
    lake.land(path, text)
    lake.land(f"{path.rpartition('/')[0]}/_SUCCESS", "")


def history_of(lake: Lake, id: int) -> list:
    days = (
        (a, b[:10], c and c[:10]) for k, a, b, c in lake.versions("note") if k == id
    )
    return list(days)


def test_a_new_effective_time_is_believed(things):
    assert history_of(things, 1) == [
        ("a", "2025-12-01", "2026-01-05"),
        ("b", "2026-01-05", None),
    ]


def test_one_that_did_not_advance_gives_way_to_the_snapshots_time(things):
    assert history_of(things, 2) == [
        ("a", "2025-12-01", "2026-01-10"),
        ("b", "2026-01-10", None),
    ]


def test_one_before_the_snapshot_before_is_lifted_to_it(things):
    assert history_of(things, 3) == [
        ("a", "2025-12-01", "2026-01-01"),
        ("b", "2026-01-01", None),
    ]


def test_an_absent_thing_is_gone_until_it_comes_back(things):
    assert history_of(things, 4) == [
        ("a", "2025-12-01", "2026-01-10"),
        ("z", "2026-01-15", None),
    ]


def test_each_snapshot_is_accounted_for_file_by_file(things):
    full_load, incremental, _ = things.reports
    assert (full_load.accepted, full_load.derived_deletes) == (12, 0)
    assert (incremental.rows_in, incremental.accepted, incremental.unchanged) == (
        23,
        4,
        19,
    )
    assert incremental.derived_deletes == 1
    assert all(each.is_balanced for each in incremental.files)


def test_one_bad_file_refuses_the_whole_snapshot_until_it_is_mended(things):
    things.land("2026-01-30/1.csv", HEADER + "1,new,2026-01-25\n")
    land(things, "2026-01-30/2.csv", "<html>")
    before = things.files()
    report = things.run("incremental")
    bad, waiting = report.set_aside
    assert report.state == "failed"
    assert (bad["path"], bad["type"]) == ("2026-01-30/2.csv", "UnreadableFile")
    assert waiting == {
        "path": "2026-01-30/1.csv",
        "type": "IncompleteSnapshot",
        "reason": "waits with its snapshot 2026-01-30 00:00 for 2026-01-30/2.csv. "
        "Fix or replace that.",
    }
    assert things.files() == before
    things.land("2026-01-30/2.csv", HEADER + DAY_20[len("1,b,2026-01-05\n") :] + REST)
    assert things.done("incremental")[0].accepted == 1


def test_an_empty_export_does_not_close_the_table(things):
    land(things, "2026-02-10/1.csv", HEADER + "1,new,2026-01-25\n")
    land(things, "2026-02-11/1.csv", HEADER + DAY_20 + REST)
    before = things.files()
    report = things.run("incremental")
    for day in ("10", "11"):
        things.remove(f"2026-02-{day}/1.csv")
        things.remove(f"2026-02-{day}/_SUCCESS")
    # It can still be fixed or accepted, so the one after it waits.
    (aside,) = report.set_aside
    assert (aside["path"], aside["type"]) == ("2026-02-10/1.csv", "TooManyLosses")
    assert aside["reason"].startswith("loses 11 of 12 keys, more than the share of 50%")
    assert things.files() == before


def test_an_empty_export_is_refused_with_the_keys_of_a_table_that_ignores_missing_ones(
    spark, tmp_path
):
    ignoring = SPEC.replace("kind: snapshot", "kind: snapshot\n  missing_keys: ignore")
    lake = Lake(spark, tmp_path, table(ignoring))
    land(lake, "2026-01-01/1.csv", HEADER + DAY_1)
    land(lake, "2026-01-02/1.csv", HEADER)
    lake.done("full_load")
    (aside,) = lake.run("incremental").set_aside
    assert (
        "has no row (2026-01-02/1.csv), but the table has 4 key(s)." in aside["reason"]
    )


def test_a_first_snapshot_without_rows_is_refused_and_makes_no_table(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC))
    land(lake, "2026-01-01/1.csv", HEADER)
    (aside,) = lake.run("full_load").set_aside
    assert aside["reason"].startswith(
        "snapshot 2026-01-01 00:00 has no row (2026-01-01/1.csv). Land a whole snapshot"
    )
    assert not lake.tables.current.has_data()


def test_a_snapshot_that_comes_too_late_is_passed_over(things):
    things.land("2026-01-30/3.csv", HEADER + REST)
    things.land("2026-01-29/1.csv", HEADER)
    newest = HEADER + "1,newer,2026-02-11\n" + DAY_20[15:] + REST
    land(things, "2026-02-12/1.csv", newest)
    report = things.run("incremental")
    for late in ("2026-01-30/3.csv", "2026-01-29/1.csv"):
        (things.root / "landing/tests/things" / late).unlink()
    older, same = report.set_aside
    assert older["type"] == same["type"] == "LateSnapshot"
    assert older["path"] == "2026-01-29/1.csv" and "is older than" in older["reason"]
    assert same["path"] == "2026-01-30/3.csv"
    assert "is of the same time as the last one ingested" in same["reason"]
    assert report.state == "failed" and report.accepted == 1
    assert (1, "newer") in things.living("note")


def test_a_quarantined_row_counts_as_present(things):
    rows = (
        "1,new,2026-01-25\n2,b,yesterday\n"
        + DAY_20[len("1,b,2026-01-05\n2,b,2025-12-01\n") :]
    )
    land(things, "2026-03-01/1.csv", HEADER + rows + REST)
    report = things.done("incremental")[0]
    assert (report.quarantined, report.derived_deletes) == (1, 0)
    assert (2, "b") in things.living("note")


@pytest.mark.nightly
def test_half_may_be_lost_fewer_than_ten_keys_too_and_more_where_a_run_accepts_it(
    things,
):
    rows = [f"{i},same,2025-12-01\n" for i in range(1, 13)]
    land(things, "2026-03-02/1.csv", HEADER + "".join(rows[:5]))
    report = things.run("incremental")
    assert report.set_aside[0]["reason"].startswith("loses 7 of 12 keys")
    for day, count in ((2, 6), (3, 2), (4, 12), (5, 1)):
        land(things, f"2026-03-0{day}/1.csv", HEADER + "".join(rows[:count]))
    report = things.run("incremental")
    assert report.derived_deletes == 6 + 4
    assert report.set_aside[0]["reason"].startswith("loses 11 of 12 keys")
    report = things.run("incremental", accepted=Accepted(losses=True))
    assert (report.error, report.derived_deletes) == (None, 11)
    assert things.living() == [(1,)]
