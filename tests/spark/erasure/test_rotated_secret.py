"""The secret of erased keys gets a new value: keys under the old one stay recognized.

An environment's secret is a text, or a JSON list of texts, the newest first.
"""

from __future__ import annotations

import json

import pytest

from lake_spec.state.state_format import UnreadableState, parse_state
from lake_spark.errors import WrongSecret
from lake_spark.storage.object_store import FolderStore
from lake_spark.tables.erased_keys import ErasedObject
from tests.spark.erasing import ask
from tests.spark.lake import FEED_FILES, Lake, table

FEED = FEED_FILES + """columns: {id: string, ts: timestamp, note: string}
key: [id]
order_by: [ts]
storage: {buckets: 1}
"""
OLD, NEW = "old-value-of-the-secret", "new-value-of-the-secret"


class List:
    """A list of erased keys in a folder, and the secret next to it."""

    def __init__(self, root):
        self.store, self.file = FolderStore(), root / "list.json"
        self._secret = root / "secret"
        self.object = ErasedObject(self.store, f"file://{self.file}", "shop.orders")

    def add(self, *keys, by):
        self._secret.write_text(by)
        return self.object.add(keys, str(self._secret))

    def of(self, *keys, by):
        """Which of the keys are recognized."""
        self._secret.write_text(by)
        erased = self.object.load()
        is_erased = self.object.matcher(str(self._secret), erased)
        return [key for key in keys if is_erased(key)]

    @property
    def data(self):
        return json.loads(self.file.read_text())


@pytest.fixture
def listed(tmp_path):
    return List(tmp_path)


BOTH = json.dumps([NEW, OLD])


def test_keys_under_the_old_secret_and_the_new_are_recognized(listed):
    listed.add("a", by=OLD)
    assert listed.of("a", "b", "c", by=BOTH) == ["a"]
    assert listed.data["format"] == 1
    listed.add("b", by=BOTH)
    assert listed.of("a", "b", "c", by=BOTH) == ["a", "b"]
    assert listed.of("a", "b", "c", by=json.dumps([OLD, NEW])) == ["a", "b"]
    assert len(listed.data["hashes"]) == 1
    assert [len(each) for each in listed.data["earlier"].values()] == [1]


def test_a_list_under_two_secrets_is_refused_by_a_release_that_knows_one(listed):
    listed.add("a", by=OLD)
    listed.add("b", by=BOTH)
    with pytest.raises(UnreadableState, match="has format 2, this release reads 1"):
        parse_state(listed.file.read_bytes(), what="the list", where="there")


def test_keys_that_are_erased_again_move_to_the_new_secret(listed):
    listed.add("a", "b", by=OLD)
    listed.add("a", by=BOTH)
    assert listed.of("a", "b", by=BOTH) == ["a", "b"]
    with pytest.raises(WrongSecret):
        listed.of("a", by=NEW)
    listed.add("b", by=BOTH)
    assert listed.of("a", "b", by=NEW) == ["a", "b"]
    assert (listed.data["format"], listed.data["earlier"]) == (1, {})


def test_a_value_that_was_put_back_takes_its_keys_back(listed):
    listed.add("a", by=OLD)
    listed.add("b", by=BOTH)
    listed.add("c", by=json.dumps([OLD, NEW]))
    assert len(listed.data["hashes"]) == 2
    assert listed.of("a", "b", "c", by=BOTH) == ["a", "b", "c"]


def test_a_list_of_an_earlier_release_is_read(listed):
    listed.add("a", by=OLD)
    data = listed.data
    del data["earlier"]
    listed.file.write_text(json.dumps(data))
    assert listed.of("a", "b", by=OLD) == ["a"]


@pytest.mark.parametrize("value", [NEW, json.dumps([NEW]), json.dumps({"a": OLD})])
def test_another_secret_alone_is_wrong_and_the_message_says_what_to_do(listed, value):
    listed.add("a", by=OLD)
    for asked in (listed.of, listed.add):
        with pytest.raises(WrongSecret) as told:
            asked("b", by=value)
        assert "make it a JSON list of both, the newest first" in str(told.value)
        assert OLD not in str(told.value) and NEW not in str(told.value)
    assert listed.of("a", by=OLD) == ["a"]


@pytest.mark.parametrize("value", ["[]", '["x", 7]', '[""]'])
def test_a_list_of_other_things_is_refused_without_being_shown(listed, value):
    with pytest.raises(WrongSecret, match="a JSON list, but not of texts") as told:
        listed.add("a", by=value)
    assert value not in str(told.value)


@pytest.mark.nightly
def test_late_copies_of_both_stay_out(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(FEED))
    lake.land(
        "load/1.csv", "id,ts,note\na,2026-01-01,x\nb,2026-01-01,x\nc,2026-01-01,x\n"
    )
    lake.done("full_load", "scd2")

    def erase(key, secret):
        uri = ask(lake, {"id": key})
        (lake.root / "secret").write_text(secret)
        return lake.run("erase", request_uri=uri)

    def late(nth, *keys):
        rows = "".join(f"U,{key},2026-01-0{nth},late\n" for key in keys)
        lake.land(f"changes/{nth}.csv", f"op,id,ts,note\n{rows}")
        return lake.run("incremental")

    assert erase("a", OLD).error is None
    (lake.root / "secret").write_text(BOTH)
    report = late(2, "a", "c")
    assert (report.accepted, report.erased, report.error) == (1, 1, None)
    assert erase("b", BOTH).error is None
    report = late(3, "a", "b", "c")
    assert (report.accepted, report.erased, report.error) == (1, 2, None)
    lake.done("scd2")
    assert lake.living("note") == [("c", "late")]

    (lake.root / "secret").write_text(NEW)
    report = late(4, "a")
    assert report.error["type"] == "WrongSecret"
    assert erase("c", NEW).error["type"] == "WrongSecret"
    (lake.root / "secret").write_text(BOTH)
    assert lake.run("incremental").erased == 1
