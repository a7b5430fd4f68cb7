"""An erase from JSON snapshots, from typed files, and of a table of the streamer.

Every value of the subject has ZQX-canary-7 in it, so that any of them is found.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lake_spark.erasure import landing_files
from tests.spark.erasing import (
    CANARY,
    ask,
    erased,
    files_with,
    others,
    places_of,
)
from tests.spark.lake import SNAPSHOTS, Lake, table
from tests.spark.reprocessing import done_reprocess, rows
from tests.spark.typed_files import land_typed
from tests.spark.streaming import streamed

SNAPSHOT = """
source:
  kind: snapshot
  path: tests/things
  files: "*.json"
  format: {type: json}
  snapshot_time: {pattern: "^(.*)[.]json$"}
columns:
  id: int
  site: string
  note: string
  tags: "map<string,string>"
  parts: "array<struct<a:string>>"
key: [id, site]
storage: {index: record}
"""
TYPED = """
source: {kind: feed, path: tests/things, format: {type: FORM}}
columns: {id: "decimal(9,2)", ts: timestamp, note: string}
key: [id]
order_by: [ts]
storage: {buckets: 1}
"""
SHOPS = SNAPSHOTS + """  scope: {column: shop}
columns: {shop: string, day: date, note: string}
key: [shop, day]
storage: {buckets: 1}
"""
OTHERS = ("parquet", "orc")
STREAMED = """
source: {kind: feed, path: tests/things, format: {type: csv}}
columns: {id: string, ts: timestamp}
key: [id]
order_by: [ts]
engine: streamer
storage: {buckets: 1}
"""


def record(number: int, site: str, text: str) -> dict:
    """A row of a snapshot that has the text everywhere."""
    nested = {"tags": {text: text}, "parts": [{"a": text}]}
    return {"id": number, "site": site, "note": text, **nested}


def snapshot(*records: dict) -> str:
    return "".join(json.dumps(each) + "\n" for each in records)


@pytest.fixture(scope="module")
def snapshots(spark, tmp_path_factory):
    lake = Lake(spark, tmp_path_factory.mktemp("snapshots"), table(SNAPSHOT))
    subject, other = record(7, "a|b", CANARY), record(7, "a", "other")
    lake.land("2026-01-01.json", snapshot(other, subject, record(1, "a|b", "x")))
    lake.land("2026-01-02.json", snapshot({**subject, "tags": None}, other))
    lake.done("full_load", "incremental", "scd2")
    return lake


@pytest.mark.nightly
def test_a_subject_leaves_snapshots_and_none_of_later_ones_brings_it_back(snapshots):
    was = others(snapshots)
    found = {"landing", "changes", "current", "history"}
    assert places_of(snapshots, CANARY) == found
    report = erased(snapshots, {"id": 7, "site": "a|b"})
    assert (report.erasure["landing"], report.erasure["changes"]) == (2, 2)
    assert files_with(snapshots, CANARY) == []
    assert rows(snapshots) == was

    again = record(7, "a|b", CANARY)
    snapshots.land("2026-01-03.json", snapshot(record(7, "a", "changed"), again))
    report = snapshots.done("incremental", "scd2")[0]
    assert (report.accepted, report.erased, report.derived_deletes) == (1, 1, 0)
    was = rows(snapshots)
    assert places_of(snapshots, CANARY) == {"landing"}
    done_reprocess(snapshots, "2026-01-01.json")
    assert rows(snapshots) == was


@pytest.mark.nightly
def test_what_cannot_be_rewritten_is_refused_before_the_list_is_longer(
    snapshots, monkeypatch
):
    listed = snapshots.tables.erased_keys.load()
    asked = ask(snapshots, {"id": 7, "site": "a"})
    with monkeypatch.context() as patched:
        patched.setattr(
            landing_files, "blank_records", lambda run, text, records: text[:-2]
        )
        message = snapshots.run("erase", request_uri=asked).error["message"]
    assert "2026-01-01.json has rows of a key to erase" in message
    snapshots.land("2026-01-04.json", "")
    snapshots.land("2026-01-05.json", '{"site": "a"}\n')
    message = snapshots.run("erase", request_uri=asked).error["message"]
    assert "2026-01-05.json: lacks the column(s) id" in message
    assert snapshots.tables.erased_keys.load() == listed
    for name in ("2026-01-04.json", "2026-01-05.json"):
        snapshots.remove(name)


@pytest.mark.nightly
def test_a_request_names_keys_that_the_table_can_have(snapshots):
    asked = ask(snapshots, {"id": 1, "site": "a"}, {"id": "x7", "site": "a"})
    message = snapshots.run("erase", request_uri=asked).error["message"]
    assert "number 1 (from 0) cannot be read as the key of tests.things" in message
    assert "x7" not in message


@pytest.mark.nightly
def test_another_secret_is_refused_and_so_is_none(snapshots):
    erased(snapshots, {"id": 1, "site": "a|b"})
    asked = ask(snapshots, {"id": 1, "site": "a|b"})
    secret = snapshots.root / "secret"
    secret.write_text("another")
    message = snapshots.run("erase", request_uri=asked).error["message"]
    assert "is not the one that" in message
    secret.unlink()
    snapshots.land("2026-01-06.json", snapshot(record(1, "a|b", "x")))
    message = snapshots.run("incremental").error["message"]
    assert f"there is no secret {secret}" in message


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["avro", *OTHERS])
def test_rows_of_typed_files_are_null_in_their_places(spark, tmp_path, form):
    lake = Lake(spark, tmp_path, table(TYPED.replace("FORM", form)))
    values = ", ".join(
        f"({number}, timestamp'2026-01-0{i + 1}', '{note}', array({i}))"
        for i, (number, note) in enumerate([(1, "a"), (7, CANARY), (2, "b")])
    )
    names = "AS rows(id, ts, note, more)"
    select = (
        f"CAST(id AS decimal(9,2)) AS id, ts, note, more FROM VALUES {values} {names}"
    )
    land_typed(lake, f"load/1.{form}", select)
    lake.done("full_load", "scd2")
    was = others(lake)
    erased(lake, {"id": "7"})
    assert files_with(lake, CANARY) == []
    assert rows(lake) == was

    assert done_reprocess(lake, "load/*").erased == 1
    assert rows(lake) == was
    records = lake.changes.select("lake_record").distinct().collect()
    assert sorted(row.lake_record for row in records if row.lake_record > 0) == [1, 3]


@pytest.mark.nightly
def test_a_part_of_a_key_that_others_have_too_is_nobody(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SHOPS))
    days = [
        f"amsterdam,2026-01-0{day},{note}\n" for day, note in ((1, CANARY), (2, "b"))
    ]
    lake.land("2026-01-01.csv", "".join(["shop,day,note\n", *days]))
    lake.done("full_load", "scd2")
    assert places_of(lake, "amsterdam") > {"inputs"}  # it is a scope
    was = others(lake)
    erased(lake, {"shop": "amsterdam", "day": "2026-01-01"})
    assert files_with(lake, CANARY) == []
    assert rows(lake) == was


@pytest.mark.nightly
def test_files_of_a_first_write_that_was_killed_are_erased_too(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(STREAMED.replace("engine: streamer\n", "")))
    lake.land("load/1.csv", f"id,ts\n{CANARY},2026-01-01\n")
    lake.done("full_load")
    unmake_first_commit(lake.root / "warehouse/tests/things/changes")
    shutil.rmtree(lake.root / "warehouse/tests/things/current")
    assert "changes" in places_of(lake, CANARY)
    erased(lake, {"id": CANARY})
    assert files_with(lake, CANARY) == []
    report = lake.done("full_load")[0]
    assert (report.accepted, report.erased) == (0, 1)


def unmake_first_commit(path: Path) -> None:
    """Leave a table as if its first write was killed before it was complete."""
    (done,) = (path / ".hoodie/timeline").glob("*.commit")
    done.unlink()
    (path / f".hoodie/timeline/.{done.name}.crc").unlink(missing_ok=True)
    markers = path / ".hoodie/.temp" / done.name.split("_")[0]
    markers.mkdir(parents=True)
    for file in path.glob("*.parquet"):
        (markers / f"{file.name}.marker.CREATE").touch()


@pytest.mark.nightly
def test_a_table_of_the_streamer_goes_on_after_an_erase(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(STREAMED))
    text = f"id,ts\na,2026-01-01\n{CANARY},2026-01-01\n"
    lake.land("load/1.csv", text)
    lake.land("changes/1.csv", text.replace("01-01", "01-02"))
    streamed(lake, "full_load")
    streamed(lake, "incremental")
    lake.done("scd2")
    erased(lake, {"id": CANARY})
    assert files_with(lake, CANARY) == []

    lake.land("changes/2.csv", text.replace("01-01", "01-03"))
    report = streamed(lake, "incremental")
    assert (report.accepted, report.erased) == (1, 1)
    assert places_of(lake, CANARY) == {"landing"}
    assert [row.id for row in lake.current.collect()] == ["a"]
