"""State of other releases, the same bytes again, and what was erased, in whole runs."""

from __future__ import annotations

import json
import os
import shutil
import time
from datetime import datetime, timedelta, timezone

import pytest

from lake_spark.storage import object_store
from tests.spark.erasing import CANARY, ask, erased, files_with
from tests.spark.lake import SNAPSHOTS, FEED_FILES, Lake, table
from tests.spark.reprocessing import done_reprocess

FEED = FEED_FILES + """columns: {id: string, ts: timestamp, note: string}
key: [id]
order_by: [ts]
storage: {buckets: 1}
"""
HEAD = "op,id,ts,note\n"
THINGS = SNAPSHOTS + """columns: {id: string, note: string}
key: [id]
storage: {buckets: 1}
"""


@pytest.fixture
def feed(spark, tmp_path):
    """A lake that took a load and one file of changes."""
    lake = Lake(spark, tmp_path, table(FEED))
    lake.land("load/1.csv", "id,ts,note\nann,2026-01-01,a\nbob,2026-01-01,b\n")
    lake.land("changes/1.csv", HEAD + "U,bob,2026-01-02,c\n")
    lake.done("full_load", "incremental", "scd2")
    return lake


def newest(lake):
    """The object that the newest log commit refers to."""
    id = lake.tables.log.last_value("inputs")
    return lake.root / f"warehouse/tests/things/inputs/{id}.json"


def rewrite(file, change):
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))


def other_etags(monkeypatch):
    """From now on a file that is written again has another ETag, as KMS gives it."""
    etag = object_store.file_etag

    def not_of_the_content(path, facts):
        return etag(path, facts)[:16] + f"{facts.st_mtime_ns:016x}"[-16:]

    monkeypatch.setattr(object_store, "file_etag", not_of_the_content)


@pytest.mark.nightly
def test_a_rollback_reads_what_the_next_release_wrote_and_keeps_its_fields(feed):
    def later(data):
        data["later"] = {"deep": [1]}
        data["files"][0]["owner"] = {"team": "a"}

    rewrite(newest(feed), later)
    assert feed.run("incremental").state == "nothing_new"
    feed.land("changes/2.csv", HEAD + "U,bob,2026-01-03,d\n")
    feed.done("incremental", "scd2")
    data = json.loads(newest(feed).read_text())
    assert (data["later"], data["recent"][-1]["owner"]) == (
        {"deep": [1]},
        {"team": "a"},
    )
    assert feed.living("note") == [("ann", "a"), ("bob", "d")]


@pytest.mark.nightly
def test_state_that_only_a_newer_release_reads_is_refused_and_nothing_is_lost(feed):
    file, known = newest(feed), newest(feed).read_text()
    rewrite(file, lambda data: data.update(format=3, written_by="r9"))
    feed.land("changes/2.csv", HEAD + "U,bob,2026-01-03,d\n")
    before = feed.files()
    report = feed.run("incremental")
    assert report.error == {
        "type": "UnreadableState",
        "message": "the state of table tests.things has format 3 (written by release "
        "r9), this release (test) reads 2. Location: "
        f"file://{file}. Deploy a release that reads format 3, such as r9.",
    }
    assert feed.files() == before
    file.write_text(known)  # what the other release would have read
    feed.done("incremental")
    assert feed.living("note") == [("ann", "a"), ("bob", "d")]


def test_the_same_bytes_put_again_change_nothing_and_other_bytes_are_refused(
    spark, tmp_path, monkeypatch
):
    other_etags(monkeypatch)
    lake = Lake(spark, tmp_path, table(THINGS))
    lake.land("2026-01-01.csv", "id,note\n1,a\n", at="2026-01-01")
    lake.done("full_load", "scd2")
    lake.land("2026-01-01.csv", "id,note\n1,a\n", at="2026-01-02")
    before = lake.files()
    assert lake.run("incremental").state == "nothing_new"
    assert lake.files() == before
    lake.land("2026-01-05.csv", "id,note\n1,b\n")
    lake.done("incremental", "scd2")
    assert lake.living("note") == [("1", "b")]
    (file,) = lake.store.list(f"{lake.tables.landing}/2026-01-01.csv")
    assert lake.tables.ingested_files().find("2026-01-01.csv").etag == file.etag

    lake.land("2026-01-01.csv", "id,note\n1,x\n", at="2026-01-03")
    report = lake.run("incremental")
    assert report.error["type"] == "ChangedFile"
    assert "2026-01-01.csv was changed after it was ingested" in report.error["message"]
    lake.land("2026-01-01.csv", "id,note\n1,a\n", at="2026-01-04")  # put back
    assert lake.run("incremental").state == "nothing_new"


@pytest.mark.nightly
def test_what_an_erase_put_may_be_put_again(feed, monkeypatch):
    other_etags(monkeypatch)
    lake = feed
    lake.done("full_load")  # other ETags, the same bytes
    erased(lake, {"id": "ann"})
    file = lake.root / "landing/tests/things/load/1.csv"
    assert "ann" not in file.read_text()
    time.sleep(0.01)
    os.utime(file)
    assert lake.run("full_load").state == "nothing_new"
    assert done_reprocess(lake, "load/1.csv").erased == 1
    assert lake.living("note") == [("bob", "c")]


def lose_warehouse(lake):
    """As docs/disaster-recovery.md says of a table that is lost as a whole."""
    shutil.rmtree(lake.root / "warehouse/tests/things")


@pytest.mark.nightly
def test_a_table_restored_from_a_backup_is_as_before_and_erased_subjects_stay_erased(
    spark, tmp_path
):
    """The steps of docs/disaster-recovery.md: from a copy of landing to equal tables."""
    lake = Lake(spark, tmp_path, table(FEED))
    lake.land("load/1.csv", f"id,ts,note\n{CANARY},2026-01-01,a\nbob,2026-01-01,b\n")
    lake.done("full_load")
    lake.land("changes/1.csv", HEAD + f"U,{CANARY},2026-01-02,c\nU,bob,2026-01-02,c\n")
    lake.done("incremental", "scd2")
    of_before = tmp_path / "of before the erase"
    shutil.copytree(tmp_path / "landing", of_before)
    erased(lake, {"id": CANARY})
    was = lake.living("note"), lake.versions("note", "version_key")
    assert was[0] == [("bob", "c")]
    backup = tmp_path / "backup"
    shutil.copytree(tmp_path / "landing", backup)

    shutil.rmtree(tmp_path / "landing")
    lose_warehouse(lake)
    shutil.copytree(backup, tmp_path / "landing")
    reports = lake.done("full_load", "incremental", "scd2")
    assert (lake.living("note"), lake.versions("note", "version_key")) == was
    assert sum(each.erased for each in reports) == 2
    assert files_with(lake, CANARY) == []
    assert lake.verify().error is None

    lose_warehouse(lake)  # and landing files of a replica that the erase never reached
    shutil.copytree(of_before, tmp_path / "landing", dirs_exist_ok=True)
    reports = lake.done("full_load", "incremental", "scd2")
    assert (lake.living("note"), lake.versions("note", "version_key")) == was
    assert sum(each.erased for each in reports) == 2


@pytest.mark.nightly
def test_a_load_is_refused_where_keys_were_erased_and_their_list_is_lost(feed):
    of_before = feed.root / "of before"
    shutil.copytree(feed.root / "landing", of_before)
    erased(feed, {"id": "ann"})
    shutil.rmtree(feed.root / "landing")
    lose_warehouse(feed)
    shutil.copytree(of_before, feed.root / "landing")
    report = feed.run("full_load", dry_run=True)  # the request waits for its receipt
    (told,) = report.warnings
    assert "1 key(s) are to be erased by" in told
    request = feed.root / "runs/erase/tests/request.json"
    request.write_text(json.dumps({"erased": {"things": 1}, "run": "r"}))
    report = feed.run("full_load")
    assert report.error["type"] == "ErasedKeysLost"
    assert report.error["message"] == (
        f"tests.things: 1 key(s) were erased by file://{request}, and there is no list of "
        f"erased keys at file://{feed.root}/landing/_erased/tests/things.json: a load would "
        "bring them back. Restore the list from the copy of the landing files, or "
        "erase the same keys again by the DAG tests_erase before the load."
    )
    ask(feed, {"id": "ann"})
    report = feed.run("erase", request_uri=f"file://{request}")
    assert report.error is None, report.error
    feed.done("full_load", "incremental", "scd2")
    assert feed.living("note") == [("bob", "c")]


@pytest.mark.nightly
def test_a_list_beside_the_table_is_read_and_moves_to_the_landing_files(feed):
    erased(feed, {"id": "ann"})
    new = feed.root / "landing/_erased/tests/things.json"
    old = feed.root / "warehouse/tests/things/erased.json"
    rewrite(new, lambda data: [data.pop("format"), data.pop("written_by")])
    rewrite(new, lambda data: data.update(later=1))
    shutil.move(new, old)
    feed.land("changes/2.csv", HEAD + "U,ann,2026-01-03,d\n")
    assert feed.done("incremental")[0].erased == 1
    erased(feed, {"id": "bob"})
    assert not old.exists()
    data = json.loads(new.read_text())
    assert (len(data["hashes"]), data["later"], data["format"]) == (2, 1, 1)
    assert feed.living("note") == []


def test_maintenance_removes_old_manifests_and_the_table_goes_on(feed):
    inputs = feed.root / "warehouse/tests/things/inputs"
    (inputs / "0123.json").write_text("{}")
    week = (datetime.now(timezone.utc) - timedelta(days=8)).timestamp()
    for file in inputs.rglob("*"):
        os.utime(file, (week - file.name.startswith("0"), week))
    os.utime(inputs / "0123.json", (week - 100, week - 100))
    kept = {each.name for each in inputs.iterdir()} - {"0123.json"}
    feed.done("maintenance")
    assert {each.name for each in inputs.iterdir()} == kept
    feed.land("changes/2.csv", HEAD + "U,bob,2026-01-03,d\n")
    feed.done("incremental")
    assert feed.living("note") == [("ann", "a"), ("bob", "d")]
