"""Columns that files lack, rename, spell otherwise or fill with another type.

The feed's key 1 loses `size` (dropped) and has `note` renamed to `remark`, with
a file of the old shape that comes late; key 4 loses `colour`, which is a change.
"""

from __future__ import annotations

import json

import pytest

from tests.spark.lake import SNAPSHOTS, Lake, table
from tests.spark.parquet_files import land_parquet

FEED = """
source: {kind: feed, path: tests/things, format: {type: json}}
columns:
  id: int
  ts: timestamp
  note: {type: string, source: [remark, note]}
  size: {type: int, dropped: true}
  colour: string
  place: "struct<x:double,names:array<string>,tags:map<string,int>>"
  parts: "array<struct<n:int>>"
key: [id]
order_by: [ts]
storage: {buckets: 1}
quarantine: {max_share: 1}
"""


def land(lake: Lake, day: int, *rows: dict) -> None:
    text = "".join(
        json.dumps({"id": i, "ts": f"2026-01-0{day}", **row}) + "\n" for i, row in rows
    )
    lake.land(f"changes/{day}", text, at="2026-02-01")


@pytest.fixture(scope="module")
def feed(spark, tmp_path_factory):
    lake = Lake(spark, tmp_path_factory.mktemp("feed"), table(FEED))
    place = {"X": 1.5, "NAMES": ["n", None], "tags": {"K": 7}}
    land(
        lake,
        1,
        (1, {"note": "a", "size": 5}),
        (2, {"Place": place, "parts": [{"N": 1}, None]}),
        (4, {"colour": "red"}),
    )
    place = {"more": {"deep": True}, "names": ["n", None], "x": 1.5, "tags": {"K": 7}}
    land(
        lake,
        3,
        (1, {"remark": "a"}),
        (2, {"place": place, "parts": [{"n": 1}, None]}),
        (4, {"remark": None}),
    )
    land(lake, 5, (1, {"remark": "b"}), (3, {"remark": "z"}))
    lake.done("incremental", "scd2")
    lake.before = versions_of(lake, 1)
    land(lake, 2, (1, {"note": "a", "size": 7}))
    lake.done("incremental", "scd2")
    return lake


def versions_of(lake: Lake, id: int, *columns: str) -> list:
    rows = lake.versions(*(columns or ("note", "size")))
    return [(*r[1:-2], int(r[-2][8:10])) for r in rows if r[0] == id]


def test_a_dropped_column_keeps_its_value_and_opens_nothing(feed):
    assert feed.before == [("a", 5, 1), ("b", 5, 5)]
    assert (3, "z", None) in feed.living("note", "size")


def test_a_late_file_of_the_old_shape_is_put_between(feed):
    assert versions_of(feed, 1) == [("a", 5, 1), ("a", 7, 2), ("b", 7, 5)]


def test_a_missing_column_is_null_from_then_on(feed):
    assert versions_of(feed, 4, "colour") == [("red", 1), (None, 3)]


def test_fields_are_found_in_any_order_and_case_and_new_ones_added(feed):
    names = ("place.x", "place.names", "place.tags['K']", "place.more.deep", "parts")
    first, second = versions_of(feed, 2, *names)
    part = first[4][0]
    assert first == (1.5, ["n", None], 7, None, [part, None], 1)
    assert second == (*first[:3], "true", first[4], 3)
    assert part.n == 1


@pytest.mark.nightly
def test_a_field_that_cannot_be_read_quarantines_its_row(feed):
    rows = [{"parts": [{"n": "one"}]}, {"place": {"tags": {"k": "x"}}}, {"place": {}}]
    land(feed, 6, *((10 + i, row) for i, row in enumerate(rows)))
    report = feed.done("incremental")[0]
    assert (report.accepted, report.quarantined) == (1, 2)
    assert "parts[].n: cannot be read as int: one" in str(report.warnings)


@pytest.mark.nightly
def test_fields_of_one_record_that_differ_at_most_in_case_quarantine_it(feed):
    feed.land("changes/7", '{"id": 1, "ts": "2026-01-07", "place": {"x": 1, "X": 2}}\n')
    report = feed.done("incremental")[0]
    assert "record 1: 'x' is there twice" in str(report.warnings)


@pytest.mark.nightly
def test_a_field_in_another_case_than_in_other_records_quarantines_its_record(feed):
    rows = ('{"id": 1, "ts": "2026-01-08", "place": {"%s": 1}}\n' % x for x in "xX")
    feed.land("changes/8", "".join(rows))
    report = feed.done("incremental")[0]
    assert report.quarantined == 1
    words = "record 2: a field is spelled in another case than in other records"
    assert words in str(report.warnings)


SNAPSHOT = (
    SNAPSHOTS + """columns: {id: int, note: string, size: {type: int, dropped: true}}
key: [id]
storage: {buckets: 1}
quarantine: {max_share: 1}
"""
)


@pytest.mark.nightly
def test_a_snapshot_without_a_dropped_column_is_compared_by_the_others(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SNAPSHOT))
    lake.land("2026-01-01.csv", "id,note,size\n1,a,5\n2,a,6\n")
    lake.land("2026-01-02.csv", "id,note\n1,a\n2,b\n3,c\n")
    lake.land("2026-01-03.csv", "id,SIZE,Note\n1,9,a\n2,6,b\n3,,c\n")
    lake.done("full_load")
    report = lake.done("incremental", "scd2")[0]
    assert [(each.accepted, each.unchanged) for each in report.files] == [
        (2, 1),
        (1, 2),
    ]
    assert [(*row[:3], int(row[3][8:10])) for row in lake.versions("note", "size")] == [
        (1, "a", 5, 1),
        (1, "a", 9, 3),
        (2, "a", 6, 1),
        (2, "b", 6, 2),
        (3, "c", None, 2),
    ]


NARROWER = """
source: {kind: feed, path: tests/things, format: {type: parquet}}
columns:
  id: int
  ts: timestamp
  whole: {type: int, on_type_mismatch: quarantine}
  exact: {type: "decimal(4,1)", on_type_mismatch: quarantine}
  day: {type: date, on_type_mismatch: quarantine}
  sizes: {type: "array<float>", on_type_mismatch: quarantine}
key: [id]
order_by: [ts]
storage: {buckets: 1}
quarantine: {max_share: 1}
"""


def test_rows_that_do_not_fit_are_quarantined_where_declared(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(NARROWER))
    land_parquet(
        lake,
        "changes/1",
        """id, CAST('2026-01-01' AS timestamp) AS ts, whole, exact,
           CAST(day AS timestamp) AS day, array(CAST(size AS double)) AS sizes
        FROM VALUES (1, 7L, 1.5000BD, '2026-01-01', 0.1), (2, 5000000000L, 1BD, null, 1),
            (3, 7L, 1.5001BD, null, 1), (4, 7L, 10000BD, null, 1),
            (5, 7L, null, '2026-01-01 00:00:01', 1), (6, null, null, null, 0.123456789123)
        AS rows(id, whole, exact, day, size)""",
    )
    report = lake.done("incremental")[0]
    assert (report.accepted, report.quarantined) == (1, 5)
    (row,) = lake.current.selectExpr("whole", "exact", "day", "sizes").collect()
    assert [str(value) for value in row] == [
        "7",
        "1.5",
        "2026-01-01",
        str([row.sizes[0]]),
    ]
    found = lake.tables.quarantine.read().orderBy("lake_record").collect()
    assert [each.lake_reason.split(":")[0] for each in found] == [
        "whole",
        "exact",
        "exact",
        "day",
        "sizes[]",
    ]
    assert found[0].lake_reason == "whole: cannot be read as int: 5000000000"


@pytest.mark.nightly
def test_an_undeclared_column_can_be_declared_later_however_files_spell_it(
    spark, tmp_path
):
    lake = Lake(spark, tmp_path, table(FEED))
    land(lake, 1, (1, {"Weight": 1}), (2, {}))
    lake.done("incremental", "scd2")
    assert "weight" in lake.current.columns
    lake.spec = table(FEED.replace("columns:\n", "columns:\n  weight: string\n"))
    land(lake, 2, (1, {"WEIGHT": 2}))
    land(lake, 3, (2, {"weight": 3}))
    lake.done("incremental", "scd2", "rebuild")
    assert lake.living("weight") == [(1, "2"), (2, "3")]
    assert versions_of(lake, 1, "weight") == [("1", 1), ("2", 2)]
