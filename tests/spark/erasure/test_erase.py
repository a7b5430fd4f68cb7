"""An erase: a subject leaves landing files, log, tables, quarantine and old versions.

Of three subjects, ZQX-canary-7 is erased. The feed's tables are merge on read, with
numbers for versions; its files are CSV, one of them packed, with a line break inside
a value. The others' rows must be as they were.
"""

from __future__ import annotations

import gzip
import json

import pytest

from lake_local.show import reading
from lake_local.show.request import QueryRefused, Request
from lake_spark.erasure import landing_files, scan, tables
from lake_spark.storage.object_store import FolderStore
from tests.spark.erasing import (
    CANARY,
    ask,
    erased,
    files_with,
    others,
    places_of,
)
from tests.spark.lake import FEED_FILES, Lake, table
from tests.spark.reprocessing import done_reprocess, rows

KEY = {"id": CANARY}
FEED = FEED_FILES + """columns: {id: string, ts: timestamp, amount: int, note: string}
key: [id]
order_by: [ts]
quality: [{column: amount, at_least: 0, on_fail: quarantine}]
history: {surrogate_key: {kind: increasing}}
storage: {type: merge_on_read, buckets: 1}
profile: weekly
"""
HEADER = "op,id,ts,amount,note\n"
LOAD = f"""id,ts,amount,note
a,2026-01-01,1,"two
lines, and more"
{CANARY},2026-01-01,1,"my
note"
b,2026-01-01,1,x
"""
CHANGES = HEADER + (
    f"U,{CANARY},2026-01-02,2,b\nU,a,2026-01-02,2,b\nU,{CANARY},2026-01-03,{CANARY},bad\n"
    f"U,b,2026-01-03,-5,bad\n"
)
LATE = HEADER + f"U,{CANARY},2026-01-09,9,late\nU,b,2026-01-09,9,late\n"
EVERYWHERE = {"landing", "changes", "current", "history"}


def loaded(spark, root) -> Lake:
    lake = Lake(spark, root, table(FEED))
    lake.land("load/1.csv", LOAD)
    lake.land("changes/1.csv.gz", gzip.compress(CHANGES.encode()))
    lake.land("changes/2.csv", HEADER + "D,a,2026-01-05,,\n")
    lake.done("full_load", "scd2", "incremental", "scd2")
    return lake


@pytest.fixture(scope="module")
def whole(spark, tmp_path_factory):
    return loaded(spark, tmp_path_factory.mktemp("feed"))


@pytest.fixture(scope="module")
def feed(whole):
    """The feed once its subject is erased."""
    was = others(whole)
    report = erased(whole, KEY)
    assert (report.state, report.erasure["landing"]) == ("done", 3)
    assert files_with(whole, CANARY) == []
    assert others(whole) == was == rows(whole)
    return whole


@pytest.mark.nightly
def test_a_dry_run_counts_and_leaves_everything(whole):
    assert places_of(whole, CANARY) == {
        *EVERYWHERE,
        *("surrogate_keys", "quarantine", "runs"),
    }
    before = whole.files()
    report = whole.run("erase", request_uri=ask(whole, KEY), dry_run=True)
    assert report.error is None, report.error
    assert report.erasure == {
        "keys": 1,
        "landing": 3,
        "changes": 2,
        "current": 1,
        "history": 2,
        "surrogate_keys": 2,
        "quarantine": 1,
    }
    assert whole.files() == before


@pytest.mark.nightly
def test_an_erase_that_is_killed_anywhere_is_ended_by_the_next(
    spark, tmp_path, monkeypatch
):
    lake = loaded(spark, tmp_path)
    was, request = others(lake), ask(lake, KEY)
    steps = (
        (landing_files, "known_contents", 2),  # contents are put, their ETags not noted
        (tables, "_from_derived", 2),  # log and current are done, history is not
        (scan, "_with_keys", 1),
    )
    for module, name, nth in steps:
        with monkeypatch.context() as patched:
            patched.setattr(module, name, _killed(getattr(module, name), nth))
            report = lake.run("erase", request_uri=request)
        assert report.error["message"] == "killed", (name, report.error)
        if module is landing_files:
            goes_on(lake)
    report = erased(lake, KEY)
    assert (report.state, report.erasure["landing"]) == ("done", 0)
    assert files_with(lake, CANARY) == []
    assert others(lake) == was == rows(lake)


def goes_on(lake: Lake) -> None:
    """Contents that a killed erase put are no others to whoever looks first."""
    listed = lake.root / "landing/_erased/tests/things.json"
    killed = listed.read_text()
    assert lake.run("incremental", dry_run=True).error is None
    assert listed.read_text() == killed
    assert lake.run("incremental").state == "nothing_new"
    assert listed.read_text() != killed
    listed.write_text(killed)
    report = done_reprocess(lake, "load/1.csv")
    assert (report.erased, report.quarantined) == (1, 0)
    listed.write_text(killed)


def _killed(step, nth: int):
    """The step, killed when it is asked for the nth time."""
    calls = []

    def killed(*arguments):
        calls.append(arguments)
        if len(calls) == nth:
            raise RuntimeError("killed")
        return step(*arguments)

    return killed


@pytest.mark.nightly
@pytest.mark.parametrize("place", ["home", "landing"])
def test_an_old_version_that_a_bucket_still_keeps_fails_the_proof(
    feed, monkeypatch, place
):
    """Nobody can know what it holds: each was the newest once."""
    kept = f"{getattr(feed.tables, place)}/a.parquet?versionId=7"
    removed = []

    def old_versions(_: FolderStore, prefix: str) -> list:
        return [kept] if kept.startswith(prefix) and prefix not in removed else []

    monkeypatch.setattr(FolderStore, "old_versions", old_versions)
    monkeypatch.setattr(FolderStore, "delete_old_versions", lambda *_: 0)
    report = feed.run("erase", request_uri=ask(feed, KEY))
    assert report.error["type"] == "KeysNotErased"
    assert report.error["message"] == (
        "tests.things: 1 file(s) may still contain an erased key, first "
        f"{kept}. Start the run again with the same request."
    )
    monkeypatch.setattr(
        FolderStore, "delete_old_versions", lambda _, prefix: removed.append(prefix)
    )
    assert erased(feed, KEY).state == "done"


def test_what_earlier_runs_told_names_nobody(feed):
    folder = feed.root / "runs/tests_incremental/2"
    report = json.loads((folder / "incremental/things.json").read_text())
    assert report["warnings"] == ["(erased)"]
    assert report["quarantined"] == 2
    cause = f"tests.things incremental: Refused: {CANARY}, 7"
    for name in ("summary.json", "notifications/failure.json"):
        (folder / name).parent.mkdir(exist_ok=True)
        told = {"tables": {"things": {"scd2": report}}, "causes": [cause, "x"]}
        (folder / name).write_text(json.dumps(told))
    assert erased(feed, KEY).erasure["reports"] == 2
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["causes"] == ["(erased)", "x"]
    assert summary["tables"]["things"]["scd2"] == report
    assert files_with(feed, CANARY) == []


def test_records_keep_their_numbers_and_the_list_names_nobody(feed):
    file = feed.root / "landing/tests/things/load/1.csv"
    expected = 'id,ts,amount,note\na,2026-01-01,1,"two\nlines, and more"\n"",,,\n'
    assert file.read_text() == expected + "b,2026-01-01,1,x\n"
    listed = json.loads((feed.root / "landing/_erased/tests/things.json").read_text())
    assert [len(each) for each in listed["hashes"]] == [64]
    assert {path: each["records"] for path, each in listed["files"].items()} == {
        "changes/1.csv.gz": [1, 3],
        "load/1.csv": [2],
    }


def test_nothing_older_than_the_erase_can_be_read(feed):
    for layer in ("current", "history"):
        path = getattr(feed.tables, layer).path
        first = [each.instant for each in getattr(feed.tables, layer).commits()][-1]
        with pytest.raises(QueryRefused, match="was removed by cleaning"):
            reading.rows(feed.spark, Request("tests.things", layer, path, as_of=first))


def test_neither_late_copies_nor_reprocess_nor_rebuild_bring_the_subject_back(feed):
    was = rows(feed)
    feed.done("rebuild")
    assert rows(feed) == was
    report = done_reprocess(feed, "load/1.csv", "changes/1.csv.gz")
    assert (report.rows_in, report.erased, report.quarantined) == (7, 3, 1)
    assert rows(feed) == was

    feed.land("changes/3.csv", LATE)
    report = feed.done("incremental", "scd2")[0]
    assert (report.rows_in, report.accepted, report.erased) == (2, 1, 1)
    assert report.files[0].is_balanced
    assert ("b", "late") in feed.living("note")
    assert places_of(feed, CANARY) == {"landing"}

    erased(feed, KEY)
    assert files_with(feed, CANARY) == []
    assert feed.run("incremental").state == "nothing_new"
