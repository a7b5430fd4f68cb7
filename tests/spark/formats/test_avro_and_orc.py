"""Avro and ORC files: their types, their records' numbers, and files that are none.

Rows 1 and 2 are loaded; row 2 changes, and row 1 is deleted.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

import pytest

from lake_spec.model import Engine
from tests.kinds import one_by_day
from tests.spark.lake import LOAD_AND_CHANGES, Lake, table
from tests.spark.streaming import submit
from tests.spark.typed_files import land_typed, typed_file

SPEC = LOAD_AND_CHANGES + """  format: {{type: {form}}}
  operation: {{column: op}}
columns:
  id: bigint
  ts: timestamp
  day: date
  price: "decimal(9,2)"
  code: string
  tags: "array<string>"
  place: "struct<x:double,names:map<string,int>>"
  raw: binary
key: [id]
order_by: [ts]
load_effective_at: "2020-01-01"
storage: {{buckets: 1}}
"""
FORMS = ("avro", "orc")
NOT_SHARED = ("lake_etag", "lake_landed_at")
ROW = """CAST({id} AS int) AS id, timestamp'2026-01-0{day} 03:04:05.123456' AS ts,
  date'1500-02-2{day}' AS day, CAST({day}.50 AS decimal(5,2)) AS price, 'A' AS code,
  array('t', null) AS tags, CAST(1.5 AS float) AS more,
  named_struct('NAMES', map('k', {day}), 'x', 2.5D) AS place, binary('b{day}') AS raw"""


def land_rows(lake: Lake, form: str) -> None:
    first, second = (ROW.format(id=each, day=1) for each in (1, 2))
    land_typed(lake, f"load/1.{form}", f"{first} UNION ALL SELECT {second}")
    changed = f"'U' AS op, {ROW.format(id=2, day=2)}"
    deleted = f"'D' AS op, {ROW.format(id=1, day=3)}"
    land_typed(lake, f"changes/1.{form}", f"{changed} UNION ALL SELECT {deleted}")


@pytest.fixture(scope="module", params=one_by_day(FORMS))
def lake(spark, tmp_path_factory, request):
    root = tmp_path_factory.mktemp(request.param)
    made = Lake(spark, root, table(SPEC.format(form=request.param)))
    land_rows(made, request.param)
    made.done("full_load", "incremental", "scd2")
    made.form = request.param
    return made


@pytest.mark.nightly
def test_values_keep_their_types(lake):
    assert lake.current.count() == 1 and lake.history.count() == 3
    (row,) = lake.current.selectExpr(
        *("id", "ts", "day", "price", "code", "tags", "raw", "more"),
        *("place.x", "place.names['k'] AS k"),
    ).collect()
    assert tuple(row) == (
        *(2, datetime(2026, 1, 2, 3, 4, 5, 123456), date(1500, 2, 22)),
        *(Decimal("2.50"), "A", ["t", None], bytearray(b"b2"), 1.5),
        *(2.5, 2),
    )


@contextmanager
def small_splits(spark, size: int):
    """Files are read in pieces of so many bytes."""
    names = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")
    for name in names:
        spark.conf.set(name, str(size))
    try:
        yield
    finally:
        for name in names:
            spark.conf.unset(name)


def test_records_have_the_same_numbers_however_a_file_is_split(lake):
    rows = """'U' AS op, id, uuid() AS code, timestamp'2026-01-05' + INTERVAL 1 SECOND * id
        AS ts FROM range(1000, 4000, 1, 1)"""
    small = {"orc.stripe.size": "10000", "orc.compress": "NONE"}
    small |= {"orc.rows.between.memory.checks": "200", "compression": "uncompressed"}
    content = typed_file(lake, lake.form, rows, **small)
    lake.land(f"changes/2.{lake.form}", content, at="2026-02-01")
    with small_splits(lake.spark, len(content) // 5):
        read = lake.spark.read.format(lake.form).load(
            f"file://{lake.root}/landing/tests/things/changes/2.{lake.form}"
        )
        blocks = read.selectExpr("input_file_block_start()").distinct().count()
        assert blocks > 2
        assert lake.done("incremental")[0].accepted == 3000
    wrong = lake.changes.where("id >= 1000 AND lake_record <> id - 999")
    assert wrong.count() == 0


@pytest.mark.parametrize(
    "cut, words",
    [
        (lambda content: b"<html></html>" * 9, "is not a valid {form} file"),
        (lambda content: content[: len(content) * 2 // 3], ""),
        (lambda content: content[:-1], ""),
        (lambda content: content[:40], ""),
    ],
    ids=["no such file", "cut in the middle", "the last byte", "cut in its head"],
)
def test_a_file_that_is_none_is_set_aside_by_name(lake, cut, words):
    name = f"changes/9.{lake.form}"
    rows = f"'U' AS op, {ROW.format(id=3, day=6)}"
    lake.land(name, cut(typed_file(lake, lake.form, rows)), at="2026-02-01")
    report = lake.run("incremental")
    lake.remove(name)
    (told,) = report.set_aside
    assert told["path"] == name and words.format(form=lake.form) in told["reason"]


def test_an_avro_file_cut_between_two_blocks_is_told_where_it_can_be(spark, tmp_path):
    """Spark alone would read the records before the cut, and say nothing."""
    lake = Lake(spark, tmp_path, table(SPEC.format(form="avro")))
    rows = "'U' AS op, id, timestamp'2026-01-05' AS ts FROM range(0, 20000, 1, 1)"
    content = typed_file(lake, "avro", rows, compression="uncompressed")
    marker = content[-16:]
    block = content.index(marker, content.index(marker) + 16) + 16
    lake.land("changes/1.avro", content[: block + 9], at="2026-02-01")
    (told,) = lake.run("incremental").set_aside
    assert told["reason"].startswith("is cut")


LOGICAL = {
    "ts": {"type": "long", "logicalType": "timestamp-millis"},
    "day": {"type": "int", "logicalType": "date"},
    "code": {"type": "enum", "name": "E", "symbols": ["A", "B"]},
    "price": {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2},
}


def test_logical_types_of_avro_are_the_tables(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC.format(form="avro")))
    fields = [{"name": name, "type": kind} for name, kind in LOGICAL.items()]
    fields += [{"name": "id", "type": "int"}, {"name": "op", "type": "string"}]
    schema = json.dumps({"type": "record", "name": "r", "fields": fields})
    land_typed(
        lake,
        "changes/1.avro",
        """timestamp'2026-01-01 00:00:00.123' AS ts, date'2026-01-02' AS day, 'B' AS code,
        CAST(1.5 AS decimal(5,2)) AS price, 7 AS id, 'I' AS op""",
        avroSchema=schema,
    )
    lake.done("incremental")
    assert lake.living("ts", "day", "code", "price") == [
        (
            7,
            datetime(2026, 1, 1, 0, 0, 0, 123000),
            date(2026, 1, 2),
            "B",
            Decimal("1.5"),
        )
    ]


def test_times_of_orc_are_what_a_clock_of_the_source_showed(spark, tmp_path):
    spec = table(SPEC.format(form="orc"))
    spec = replace(spec, source=replace(spec.source, timezone="Europe/Amsterdam"))
    lake = Lake(spark, tmp_path, spec)
    land_rows(lake, "orc")
    lake.done("incremental")
    assert lake.living("ts") == [(2, datetime(2026, 1, 2, 2, 4, 5, 123456))]


@pytest.mark.nightly
def test_the_streamer_writes_the_same_rows(lake, tmp_path):
    spec = replace(lake.spec, engine=Engine.STREAMER)
    streamed = Lake(lake.spark, tmp_path, spec)
    land_rows(streamed, lake.form)
    argv = streamed.prepare("incremental").streamer_argv
    assert "--jars" not in argv  # it reads staged Parquet, whatever has landed
    assert submit(argv, tmp_path) == 0
    streamed.done("incremental")
    names = [n for n in streamed.changes.columns if n not in NOT_SHARED]
    one, other = (
        each.changes.where("lake_path LIKE 'changes/1.%'").select(names)
        for each in (lake, streamed)
    )
    assert one.schema.simpleString() == other.schema.simpleString()
    texts = [sorted(str(row) for row in each.collect()) for each in (one, other)]
    assert texts[0] == texts[1] and len(texts[0]) == 2
