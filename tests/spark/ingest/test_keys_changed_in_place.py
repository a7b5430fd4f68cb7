"""Updates whose values before have another key: the old key is gone, the new one lives.

Of each form of records that says a row's values before an update: events of Debezium,
columns of DMS, an object of Maxwell. Contract section 6.
"""

from __future__ import annotations

import json

import pytest

from lake_spec.model import Engine, TableType
from lake_spec.text.sql_text import sql_literal
from tests.spark.erasing import ask, erased, files_with
from tests.kinds import one_by_day
from tests.spark.lake import Lake, stored, table
from tests.spark.streaming import stream
from tests.spark.typed_files import typed_file

LONG = "__debezium_unavailable_value"
ENVELOPE = """
source:
  kind: feed
  path: tests/seats
  format: {{type: {form}}}
  changes: changes/**
  envelope: {{connector: {connector}}}
columns: {{hall: string, seat: int, guest: string, note: string}}
key: [hall, seat]
storage: {{buckets: 1}}
"""


def row(hall, seat, guest=None, note=None):
    return {"hall": hall, "seat": seat, "guest": guest, "note": note}


def event(at, op, before, after):
    source = {
        "ts_ms": 1_767_312_000_000 + 1000 * at,
        "sequence": f'["{at}","{at}"]',
        "file": "bin.000001",
        "pos": at,
        "row": 0,
    }
    return {"before": before, "after": after, "source": source, "op": op}


EVENTS = [
    event(1, "c", None, row("a", 1, "Ann", "long one")),
    event(2, "c", None, row("a", 2, "Ben", "short")),
    event(3, "u", row("a", 1, "Ann", "x"), row("a", 3, "Ann", LONG)),  # a part of it
    event(4, "u", row("a", 2), row("a", 2, "Bob", LONG)),  # the same key
    event(5, "u", row("a", 3, "Ann"), row("b", 1, "Ann", LONG)),  # and again
    event(6, "u", None, row("b", 1, "Anna", "new")),
    event(7, "u", row("a", 2, "Bob"), row("a", 1, "Bob", "moved")),  # a key used before
    event(8, "u", row("b", 1, "Anna"), row(LONG, 9, "Anna", "new")),  # a part not sent
]
CURRENT = [("a", 1, "Bob", "moved"), ("b", 9, "Anna", "new")]
HISTORY = [
    ("a", 1, "Ann", "long one", 1, 3),
    ("a", 1, "Bob", "moved", 7, None),
    ("a", 2, "Ben", "short", 2, 4),
    ("a", 2, "Bob", "short", 4, 7),
    ("a", 3, "Ann", "long one", 3, 5),
    ("b", 1, "Ann", "long one", 5, 6),
    ("b", 1, "Anna", "new", 6, 8),
    ("b", 9, "Anna", "new", 8, None),
]


def lines(records):
    return "".join(json.dumps(each) + "\n" for each in records)


def current(lake):
    rows = lake.current.select("hall", "seat", "guest", "note").collect()
    return sorted(tuple(each) for each in rows)


def history(lake):
    return sorted(
        (
            *(each.hall, each.seat, each.guest, each.note),
            each.valid_from.second,
            each.valid_to and each.valid_to.second,
        )
        for each in lake.history.collect()
    )


def is_right(lake):
    assert current(lake) == CURRENT
    assert history(lake) == HISTORY
    assert lake.verify().error is None


@pytest.mark.parametrize("connector", one_by_day(["postgresql", "mariadb", "mysql"]))
@pytest.mark.parametrize("way", one_by_day(["one by one", "at once", "late"]))
def test_the_old_key_is_gone_and_the_new_one_lives(spark, tmp_path, connector, way):
    spec = ENVELOPE.format(form="json", connector=connector)
    lake = Lake(spark, tmp_path, stored(table(spec), type=TableType.MERGE_ON_READ))
    parts = {
        "at once": [EVENTS],
        "one by one": [[each] for each in EVENTS],
        "late": [EVENTS[4:], EVENTS[1:4], EVENTS[:1]],
    }[way]
    derived = 0
    for number, part in enumerate(parts):
        path = f"changes/{number if way != 'late' else 9 - number}.json"
        lake.land(path, lines(part), at="2026-03-01")
        report, _ = lake.done("incremental", "scd2")
        assert report.accepted == report.rows_in == len(part)
        assert all(each.is_balanced for each in report.files)
        derived += report.derived_deletes
    assert derived == 4
    is_right(lake)


@pytest.mark.nightly
def test_a_second_copy_of_the_file_counts_as_duplicates(spark, tmp_path):
    spec = table(ENVELOPE.format(form="json", connector="postgresql"))
    lake = Lake(spark, tmp_path, spec)
    for number in range(2):
        lake.land(f"changes/{number}.json", lines(EVENTS), at="2026-03-01")
        report, _ = lake.done("incremental", "scd2")
    assert (report.accepted, report.duplicates) == (0, len(EVENTS))
    is_right(lake)


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["avro", "parquet"])
def test_events_in_typed_files_give_the_same(spark, tmp_path, form):
    spec = table(ENVELOPE.format(form=form, connector="postgresql"))
    lake = Lake(spark, tmp_path, spec)
    image = "struct<hall: string, seat: int, guest: string, note: string>"
    source = "struct<ts_ms: bigint, sequence: string>"
    kinds = f"before {image}, after {image}, source {source}, op string"
    whole = ", ".join(map(sql_literal, lines(EVENTS).splitlines()))
    rows = f"inline(transform(array({whole}), e -> from_json(e, '{kinds}')))"
    content = typed_file(lake, form, rows)
    lake.land(f"changes/0.{form}", content, at="2026-03-01")
    lake.done("incremental", "scd2")
    is_right(lake)


@pytest.mark.nightly
def test_the_streamer_gives_the_same(spark, tmp_path):
    text = ENVELOPE.format(form="json", connector="postgresql")
    lake = Lake(spark, tmp_path, table(text + f"engine: {Engine.STREAMER.value}\n"))
    for number, part in enumerate((EVENTS[:4], EVENTS[4:])):
        lake.land(f"changes/{number}.json", lines(part), at="2026-03-01")
        assert stream(lake, "incremental", tmp_path) == 0
        lake.done("incremental", "scd2")
    is_right(lake)


@pytest.mark.nightly
def test_a_row_is_erased_under_all_of_its_keys(spark, tmp_path):
    spec = table(ENVELOPE.format(form="json", connector="postgresql"))
    lake = Lake(spark, tmp_path, spec)
    lake.land("changes/0.json", lines(EVENTS), at="2026-03-01")
    lake.done("incremental", "scd2")
    asked = {"hall": "b", "seat": 9}
    report = lake.run("erase", request_uri=ask(lake, asked))
    assert "rows of the request had 4 other key(s)" in report.error["message"]
    keys = [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 9)]
    erased(lake, *({"hall": hall, "seat": seat} for hall, seat in keys))
    assert (current(lake), history(lake)) == ([], [])
    assert not files_with(lake, "Ann")
    # One that comes later names an erased key as the one before.
    late = [event(9, "u", row("b", 9, "Anna"), row("c", 1, "Anna", "again"))]
    late.append(event(10, "c", None, row("d", 1, "Dan", "another")))
    lake.land("changes/1.json", lines(late), at="2026-03-01")
    report, _ = lake.done("incremental", "scd2")
    assert report.files[0].erased == 1
    assert current(lake) == [("d", 1, "Dan", "another")]


DMS = """
source:
  kind: feed
  path: tests/seats
  format: {type: csv}
  changes: changes/**
  operation: {column: Op, before: "BI_{column}"}
columns:
  hall: {type: string, source: [Hall]}
  seat: int
  guest: string
  at: timestamp
key: [hall, seat]
order_by: [at]
storage: {buckets: 1}
"""
OF_DMS = """Op,Hall,seat,guest,at,BI_Hall,BI_seat,BI_guest
I,a,1,Ann,2026-01-01,,,
U,a,1,Anna,2026-01-02,a,1,Ann
U,b,1,Anna,2026-01-03,a,1,Anna
D,c,1,,2026-01-03,,,
"""
MAXWELL = """
source:
  kind: feed
  path: tests/seats
  format: {type: json}
  changes: changes/**
  operation:
    column: type
    before: "old.{column}"
    upsert: [insert, update]
    delete: [delete]
columns:
  hall: {type: string, source: [data.hall]}
  seat: {type: int, source: [data.seat]}
  guest: {type: string, source: [data.guest]}
  at: {type: timestamp, format: epoch_seconds, source: [ts]}
key: [hall, seat]
order_by: [at]
storage: {buckets: 1}
"""


def of_maxwell(kind, at, data, old=None):
    record = {"type": kind, "ts": 1_767_225_600 + 86_400 * (at - 1), "data": data}
    return {**record, "old": old} if old else record


OF_MAXWELL = [
    of_maxwell("insert", 1, {"hall": "a", "seat": 1, "guest": "Ann"}),
    of_maxwell(
        "update", 2, {"hall": "a", "seat": 1, "guest": "Anna"}, {"guest": "Ann"}
    ),
    of_maxwell("update", 3, {"hall": "b", "seat": 1, "guest": "Anna"}, {"hall": "a"}),
]


@pytest.mark.parametrize(
    "spec, text", [(DMS, OF_DMS), (MAXWELL, lines(OF_MAXWELL))], ids=["DMS", "Maxwell"]
)
def test_a_feed_says_where_the_key_before_is(spark, tmp_path, spec, text):
    lake = Lake(spark, tmp_path, table(spec))
    lake.land("changes/1", text, at="2026-03-01")
    report, _ = lake.done("incremental", "scd2")
    assert report.derived_deletes == 1
    assert not {
        each for each in lake.current.columns if each.startswith(("bi_", "old"))
    }
    rows = lake.history.orderBy("valid_from").collect()
    versions = [(e.hall, e.guest, e.valid_from.day, e.valid_to) for e in rows]
    assert [each[:3] for each in versions] == [
        ("a", "Ann", 1),
        ("a", "Anna", 2),
        ("b", "Anna", 3),
    ]
    assert [each[3] and each[3].day for each in versions] == [2, 3, None]
