"""A reprocess of a feed's files: retracted and ingested again.

Three things are loaded and three files change them; the tables are merge on
read and compacted. Whatever is reprocessed, they are those of a lake that only ever
saw the files as they are now.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from lake_local.show import reading
from lake_local.show.request import Request
from lake_spark.ingest.reprocess import Selection
from lake_spark.reading import quarantine
from lake_spark.tables.table_run import Window
from tests.spark.lake import FEED_FILES, Lake, table
from tests.spark.reprocessing import done_reprocess, from_scratch, reprocess_files, rows

FEED = FEED_FILES + """columns: {id: int, ts: timestamp, amount: int, note: string}
key: [id]
order_by: [ts]
quality: [{column: amount, at_least: 0, on_fail: quarantine}]
storage: {type: merge_on_read, buckets: 1}
maintenance: {compact_after: 1}
"""
HEADER = "op,id,ts,amount,note\n"
FILES = {
    "load/1.csv": "id,ts,amount,note\n1,2026-01-01,1,a\n2,2026-01-01,1,a\n3,2026-01-01,1,a\n",
    "changes/1.csv": HEADER + "U,1,2026-01-02,1,b\nU,2,2026-01-02,-5,b\n",
    "changes/2.csv": HEADER + "U,1,2026-01-03,1,wrong\nD,3,2026-01-03,,\n",
    "changes/3.csv": HEADER + "U,1,2026-01-04,1,d\nU,4,2026-01-04,1,d\n",
}
CORRECTED = HEADER + "U,1,2026-01-03,1,c\nU,5,2026-01-03,1,c\n"


def versions_of(lake: Lake, *ids: int) -> set:
    """Surrogate keys and rows of these keys."""
    names = sorted(lake.history.columns)
    found = lake.history.select(names).collect()
    return {tuple(row) for row in found if row.id in ids}


@pytest.fixture(scope="module")
def feed(spark, tmp_path_factory):
    lake = Lake(spark, tmp_path_factory.mktemp("feed"), table(FEED))
    for i, (path, text) in enumerate(FILES.items()):
        lake.land(path, text, at=f"2026-02-0{i + 1}")
    lake.done("full_load", "scd2", "incremental", "scd2", "maintenance")
    return lake


def test_a_corrected_file_is_refused_until_its_reprocess_and_then_as_if_never_wrong(
    feed, tmp_path
):
    untouched = versions_of(feed, 2, 4)
    feed.land("changes/2.csv", CORRECTED, at="2026-02-09")
    message = feed.run("incremental").error["message"]
    assert "run the DAG tests_reprocess with files=changes/2.csv" in message

    for day in (3, 9):  # when the wrong content landed, and when the right one did
        begin = datetime(2026, 2, day, tzinfo=timezone.utc)
        window = Window(begin, begin.replace(hour=1))
        report = feed.run("reprocess", window=window, dry_run=True)
        assert (report.state, report.retracted) == ("dry_run", ["changes/2.csv"])

    report = done_reprocess(feed, "changes/2.csv")
    assert report.retracted == ["changes/2.csv"]
    assert (report.rows_in, report.accepted, report.files[0].is_balanced) == (
        2,
        2,
        True,
    )
    assert [row[1] for row in feed.living("note")] == ["d", "a", "a", "d", "c"]
    assert rows(feed) == from_scratch(feed, tmp_path)
    assert versions_of(feed, 2, 4) == untouched
    shown = Request("tests.things", "changes", feed.tables.log.path)
    notes = reading.rows(feed.spark, shown).where("lake_path = 'changes/2.csv'")
    assert {row.note for row in notes.collect()} == {"c"}


@pytest.mark.nightly
def test_an_old_window_changes_nothing_and_its_reprocess_no_row(feed):
    window = Window(datetime(2026, 2, 2, tzinfo=timezone.utc))
    before, was = feed.files(), rows(feed)
    taken = [each.path for each in feed.tables.ingested_files().all]
    report = feed.run("incremental", window=window)
    assert (report.state, feed.files()) == ("nothing_new", before)

    report = feed.run("reprocess", window=window)
    feed.done("scd2", "maintenance")
    assert report.retracted == [path for path in taken if path != "load/1.csv"]
    assert sorted(report.retracted) == [f"changes/{nth}.csv" for nth in (1, 2, 3)]
    assert rows(feed) == was


@pytest.mark.nightly
def test_a_file_that_is_gone_is_retracted_only_where_that_is_asked_for(feed):
    feed.remove("changes/3.csv")
    was = rows(feed)
    report = reprocess_files(feed, "changes/*")
    assert "changes/3.csv: no longer in landing" in report.error["message"]
    assert rows(feed) == was

    report = done_reprocess(feed, "changes/3.csv", retract_missing=True)
    assert (report.retracted, report.rows_in) == (["changes/3.csv"], 0)
    assert 4 not in [row[0] for row in feed.living()]
    assert feed.versions()[2] == (1, "2026-01-03 00:00:00", None)

    feed.land("changes/3.csv", FILES["changes/3.csv"])
    assert feed.done("incremental", "scd2")[0].accepted == 2
    assert rows(feed) == was


def test_a_file_that_cannot_be_read_keeps_the_rows_that_it_had(feed):
    was, before = rows(feed), feed.files()
    feed.land("changes/1.csv", "<html>")
    report = reprocess_files(feed, "changes/1.csv")
    feed.land("changes/1.csv", FILES["changes/1.csv"])
    assert [each["path"] for each in report.set_aside] == ["changes/1.csv"]
    assert feed.files() == before and rows(feed) == was


def test_a_glob_that_matches_nothing_is_refused_by_name(feed):
    message = reprocess_files(feed, "changes/1.csv", "2.csv").error["message"]
    assert "files: '2.csv' matches none of the 4 file(s) of tests.things" in message


@pytest.mark.nightly
def test_the_quarantine_is_replayed_after_a_fix(feed):
    feed.land("changes/4.csv", HEADER + "U,6,2026-01-05,,\nU,6,,1,no order\n")
    feed.done("incremental")
    feed.spec = replace(feed.spec, quality=())
    before = feed.files()
    report = feed.run("reprocess", selection=Selection(quarantined=True), dry_run=True)
    assert report.retracted == ["changes/1.csv", "changes/4.csv"]
    assert (report.state, feed.files()) == ("dry_run", before)

    report = feed.run("reprocess", selection=Selection(quarantined=True))
    assert (report.rows_in, report.accepted, report.quarantined) == (4, 3, 1)
    assert {(2, "b"), (6, None)} <= set(feed.living("note"))
    kept = feed.tables.quarantine.read().select("lake_path", "lake_record").collect()
    assert [tuple(row) for row in kept] == [("changes/4.csv", 2)]


@pytest.mark.nightly
def test_a_reprocess_that_is_killed_after_its_commit_is_healed_by_the_next_run(
    feed, monkeypatch
):
    feed.land("changes/4.csv", HEADER + "U,6,2026-01-05,1,good\n")
    with monkeypatch.context() as patched:
        killed = _killed_after(feed, quarantine.drop_old_takes)
        patched.setattr(quarantine, "drop_old_takes", killed)
        assert reprocess_files(feed, "changes/4.csv").error["message"] == "killed"
    assert (6, None) in feed.living("note")
    feed.done("incremental", "scd2")
    assert (6, "good") in feed.living("note")
    assert feed.tables.quarantine.read().count() == 0


def _killed_after(lake: Lake, step):
    """The step, but for one that comes after another log commit."""
    last = lake.tables.log.last_instant("inputs")

    def killed(run, *more):
        if run.log.last_instant("inputs") != last:
            raise RuntimeError("killed")
        return step(run, *more)

    return killed
