"""A profile is made by a full load and weekly, shows no personal value, and is erased."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest

from lake_spec.state.table_profile import read_profile
from lake_spark.profiling import profile as module
from tests.spark.erasing import CANARY, ask, erased, files_with
from tests.spark.lake import FEED_FILES, Lake, table

FEED = FEED_FILES + """profile: weekly
columns:
  id: int
  ts: timestamp
  color: string
  email: {type: string, sensitivity: personal}
key: [id]
order_by: [ts]
"""
KEYED = FEED_FILES + """profile: weekly
columns: {id: string, ts: timestamp}
key: [id]
order_by: [ts]
"""
LOAD = "id,ts,color,email\n" + "".join(
    f"{i},2026-01-01,{'red' if i % 3 else 'blue'},canary-{i}@example.org\n"
    for i in range(9)
)
CHANGES = "op,id,ts,color,email\n" + "".join(
    f"U,{i},2026-01-02,green,canary-{i}@example.org\n" for i in range(20, 25)
)


def uri(lake):
    return module.uri_of(lake.tables)


def stored(lake):
    return read_profile(lake.store.read(uri(lake)), uri(lake))


def made_older(lake, days):
    data = json.loads(lake.store.read(uri(lake)))
    data["at"] = (datetime.now(timezone.utc) - timedelta(days=days)).isoformat()
    lake.store.write(uri(lake), json.dumps(data).encode())


@pytest.fixture
def lake(spark, tmp_path):
    made = Lake(spark, tmp_path, table(FEED))
    made.land("load/1.csv", LOAD)
    made.done("full_load")
    return made


def test_a_full_load_is_measured_and_personal_values_are_not_shown(lake):
    profile = stored(lake)
    assert (profile.table, profile.rows) == ("things", 9)
    assert [each.name for each in profile.columns] == ["id", "ts", "color", "email"]
    assert profile.column("color").top == (("red", 6), ("blue", 3))
    email, key = profile.column("email"), profile.column("id")
    assert email.counts_only and key.counts_only  # a key may name a person
    assert (email.nulls, email.distinct) == (0, 9)
    assert "canary" not in lake.store.read(uri(lake)).decode()


def test_maintenance_measures_again_what_is_old_and_changed(lake):
    lake.land("changes/1.csv", CHANGES)
    lake.done("incremental", "maintenance")
    assert stored(lake).rows == 9  # it is new enough
    made_older(lake, days=7)
    lake.done("maintenance")
    assert stored(lake).rows == 14
    made_older(lake, days=7)
    before = stored(lake)
    lake.done("maintenance")
    assert stored(lake) == before  # nothing has changed


@pytest.mark.nightly
def test_an_erase_removes_it_and_fails_while_it_has_the_key(
    spark, tmp_path, monkeypatch
):
    lake = Lake(spark, tmp_path, table(KEYED))
    lake.land("load/1.csv", f"id,ts\n{CANARY},2026-01-01\nb,2026-01-01\n")
    lake.done("full_load")
    assert stored(lake).column("id").min == CANARY
    with monkeypatch.context() as patched:
        patched.setattr(module, "remove", lambda run: None)
        report = lake.run("erase", request_uri=ask(lake, {"id": CANARY}))
    assert report.error["type"] == "KeysNotErased", report.error
    assert uri(lake) in report.error["message"]
    erased(lake, {"id": CANARY})
    assert files_with(lake, CANARY) == []
    with pytest.raises(KeyError):
        lake.store.read(uri(lake))


def test_rows_that_are_marked_as_deleted_are_not_counted(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(FEED + "current: {deletes: soft}\n"))
    lake.land("load/1.csv", LOAD)
    lake.land("changes/1.csv", "op,id,ts,color,email\nD,1,2026-01-02,,\n")
    lake.done("full_load", "incremental")
    lake.store.delete(uri(lake))
    lake.done("maintenance")
    profile = stored(lake)
    assert (profile.rows, profile.column("color").nulls) == (8, 0)
    assert profile.column("is_deleted") is None
