"""Whatever the table type, index and partitions: the same rows.

Four orders are loaded; then 1 moves from AT to CH, 2 is deleted, 3 changes in
place, 5 is new, 4 has no country from day 3 on. A day later 1 moves on to no
country and back to AT, and 2 returns.
"""

from __future__ import annotations

import pytest

from lake_spec.model import Index, TableType
from tests.spark.lake import Lake, stored, table

SPEC = """
source:
  kind: feed
  path: tests/things
  load: "load/*"
  changes: "changes/*"
  format: {type: json}
  operation: {column: op}
columns: {id: int, day: timestamp, country: string, note: string}
key: [id]
order_by: [day]
"""
LOAD = """
{"id": 1, "day": "2026-01-01", "country": "AT", "note": "a"}
{"id": 2, "day": "2026-01-01", "country": "AT", "note": "a"}
{"id": 3, "day": "2026-01-01", "country": "CH", "note": "a"}
{"id": 4, "day": "2026-01-01", "country": "DE", "note": "a"}
"""
FIRST = """
{"op": "U", "id": 1, "day": "2026-01-02", "country": "CH", "note": "a"}
{"op": "D", "id": 2, "day": "2026-01-02"}
{"op": "U", "id": 3, "day": "2026-01-02", "country": "CH", "note": "b"}
{"op": "I", "id": 5, "day": "2026-01-02", "country": "AT", "note": "a"}
{"op": "U", "id": 4, "day": "2026-01-03", "country": null, "note": "a"}
"""
SECOND = """
{"op": "U", "id": 1, "day": "2026-01-04", "country": null, "note": "a"}
{"op": "U", "id": 1, "day": "2026-01-05", "country": "AT", "note": "c"}
{"op": "I", "id": 2, "day": "2026-01-04", "country": "DE", "note": "z"}
"""
CURRENT = [
    (1, "AT", "c"),
    (2, "DE", "z"),
    (3, "CH", "b"),
    (4, None, "a"),
    (5, "AT", "a"),
]
HISTORY = [
    (1, "AT", "a", "01", "02"),
    (1, "CH", "a", "02", "04"),
    (1, None, "a", "04", "05"),
    (1, "AT", "c", "05", None),
    (2, "AT", "a", "01", "02"),
    (2, "DE", "z", "04", None),
    (3, "CH", "a", "01", "02"),
    (3, "CH", "b", "02", None),
    (4, "DE", "a", "01", "03"),
    (4, None, "a", "03", None),
    (5, "AT", "a", "02", None),
]
COUNTRY = ("country",)
KINDS = [
    (TableType.COPY_ON_WRITE, Index.BLOOM, COUNTRY),
    (TableType.COPY_ON_WRITE, Index.RECORD, ()),
    (TableType.MERGE_ON_READ, Index.BUCKET, COUNTRY),
]


@pytest.mark.parametrize("kind, index, by", KINDS, ids=lambda each: str(each))
def test_rows_move_between_partitions_and_come_back(spark, tmp_path, kind, index, by):
    spec = stored(table(SPEC), type=kind, index=index, partition_by=by)
    lake = Lake(spark, tmp_path, spec)
    lake.land("load/1.json", LOAD.strip())
    lake.done("full_load", "scd2")
    for name, rows in (("1.json", FIRST), ("2.json", SECOND)):
        lake.land(f"changes/{name}", rows.strip())
        lake.done("incremental", "scd2")
    assert_rows(lake)
    lake.done("maintenance")
    assert_rows(lake)


def assert_rows(lake: Lake) -> None:
    assert lake.living("country", "note") == CURRENT
    versions = lake.versions("country", "note")
    assert [
        (*row[:3], row[3][8:10], row[4] and row[4][8:10]) for row in versions
    ] == HISTORY
