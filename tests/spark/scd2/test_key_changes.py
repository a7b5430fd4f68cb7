"""The create of a key change takes values that it was not sent from the old key.

The lines are as the Kafka pull lands them, with the key before the change.
"""

from __future__ import annotations

import json

import pytest

from lake_spark.stages import ingest
from tests.spark.erasing import ask, erased
from tests.kinds import one_by_day
from tests.spark.lake import Lake, table

SPEC = """
source:
  kind: feed
  path: tests/renamed
  format: {type: json}
  changes: changes/**
  envelope: {connector: postgresql}
  changes_from: {kind: kafka, connection: shop_kafka, topic: shop.renamed}
columns: {id: int, note: string, size: int}
key: [id]
storage: {buckets: 1}
"""
LONG = "__debezium_unavailable_value"


def message(lsn, op, id, note=None, size=None, old=None):
    row = {"id": id, "note": note, "size": size}
    sides = {"before": row} if op == "d" else {"after": row}
    source = {"ts_ms": 1_767_312_000_000 + 1000 * lsn, "sequence": f'["{lsn}","{lsn}"]'}
    line = {"kafka_topic": "shop.renamed", "kafka_partition": 0, "kafka_offset": lsn}
    if old is not None:
        line["kafka_old_key"] = json.dumps({"id": old})
    return {**line, "value": {**sides, "source": source, "op": op}}


MESSAGES = [
    message(1, "c", 1, "long one", 10),
    message(2, "d", 1),
    message(2, "c", 2, LONG, 20, old=1),
    message(3, "u", 2, LONG, 30),
    message(4, "d", 2),
    message(4, "c", 3, LONG, 40, old=2),
    message(5, "c", 1, "another", 50),
    message(6, "d", 9),
    message(6, "c", 8, LONG, 60, old=9),  # its old key was never seen
]
ROWS = [(1, "another", 50), (3, "long one", 40), (8, None, 60)]


def lines(messages):
    return "".join(json.dumps(each) + "\n" for each in messages)


def rows(lake):
    found = lake.current.orderBy("id").select("id", "note", "size").collect()
    return [tuple(each) for each in found]


def versions(lake):
    found = lake.history.orderBy("id", "valid_from").select("id", "note", "size")
    return [tuple(each) for each in found.collect()]


VERSIONS = [
    (1, "long one", 10),
    (1, "another", 50),
    (2, "long one", 20),
    (2, "long one", 30),
    (3, "long one", 40),
    (8, None, 60),
]


@pytest.mark.parametrize(
    "way", one_by_day(["at once", "one by one", "the old key last"])
)
def test_values_not_sent_are_those_of_the_old_key(spark, tmp_path, way, monkeypatch):
    monkeypatch.setattr(
        ingest, "land_pulled", lambda run, kind: None
    )  # landed manually
    lake = Lake(spark, tmp_path, table(SPEC))
    parts = {
        "at once": [MESSAGES],
        "one by one": [MESSAGES[:2], MESSAGES[2:4], MESSAGES[4:]],
        "the old key last": [MESSAGES[1:], MESSAGES[:1]],
    }[way]
    for number, part in enumerate(parts):
        lake.land(f"changes/{number}.json", lines(part), at="2026-03-01")
        *_, report = lake.done("incremental", "scd2")
        assert lake.run("incremental").state == "nothing_new"
    assert rows(lake) == ROWS
    assert versions(lake) == VERSIONS
    assert lake.verify().error is None
    assert lake.verify(0.5).error is None


def test_two_rows_of_one_old_key_do_not_take_values_from_each_other(
    spark, tmp_path, monkeypatch
):
    monkeypatch.setattr(ingest, "land_pulled", lambda run, kind: None)
    lake = Lake(spark, tmp_path, table(SPEC))
    events = [
        message(3, "u", 2, "of 2", 30),
        message(4, "c", 4, LONG, 40, old=1),
        message(5, "u", 4, LONG, 45),
        message(6, "c", 5, LONG, 50, old=1),
    ]
    lake.land("changes/0.json", lines([*MESSAGES[:3], *events]), at="2026-03-01")
    lake.done("incremental", "scd2")
    assert rows(lake) == [(2, "of 2", 30), (4, "long one", 45), (5, "long one", 50)]


@pytest.mark.nightly
def test_a_load_after_the_change_shows_what_came_of_it(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(ingest, "land_pulled", lambda run, kind: None)
    spec = SPEC.replace("key: [id]", 'key: [id]\nload_effective_at: "1900-01-01"')
    lake = Lake(spark, tmp_path, table(spec))
    # 1 became 2 before the load, and another row has the key 1 since.
    load = [
        {"id": 2, "note": "long one", "size": 20},
        {"id": 1, "note": "another", "size": 50},
    ]
    lake.land("load/0.json", lines(load), at="2026-03-01")
    events = [MESSAGES[1], MESSAGES[2], MESSAGES[6]]
    lake.land("changes/0.json", lines(events), at="2026-03-01")
    lake.done("full_load", "incremental", "scd2")
    assert rows(lake) == [(1, "another", 50), (2, "long one", 20)]


@pytest.mark.nightly
def test_a_row_is_erased_under_all_of_its_keys(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(ingest, "land_pulled", lambda run, kind: None)
    lake = Lake(spark, tmp_path, table(SPEC))
    lake.land("changes/0.json", lines(MESSAGES), at="2026-03-01")
    lake.done("incremental", "scd2")
    report = lake.run("erase", request_uri=ask(lake, {"id": 2}))
    assert "rows of the request had 2 other key(s)" in report.error["message"]
    assert rows(lake) == ROWS
    erased(lake, {"id": 1}, {"id": 2}, {"id": 3})
    assert rows(lake) == ROWS[-1:]
    assert versions(lake) == VERSIONS[-1:]
