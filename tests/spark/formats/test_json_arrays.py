"""Files that are one JSON array: each element is a record, as strict as a line."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal

from tests.spark.lake import Lake, table

SPEC = """
source:
  kind: feed
  path: tests/things
  format: {type: json, layout: array}
  load: "load/*"
  changes: "changes/*"
columns:
  id: int
  at: timestamp
  price: "decimal(12,3)"
  note: string
  more: "struct<a:int,b:string>"
key: [id]
order_by: [at]
quarantine: {max_share: 1.0}
storage: {buckets: 1}
"""
LOAD = """[
  {"id": 1, "at": "2026-01-01", "price": 1.50, "note": "a], [\\"b\\"",
   "more": {"a": 1, "b": "x"}},
  {"id": 2, "at": "2026-01-01", "price": 2, "note": 1.10}, {"id": 3, "id": 4},
  {"id": 5, "at": "2026-01-01", "price": 01},
  7, ,
  {"id": 8, "at": "2026-01-01"} {"id": 9},
  {"id": 10, "at": "2026-01-01", "price": "lots"},
  {"id": 11, "at": "2026-01-01"}
]
"""
BROKEN = {
    "cut": '[{"id": 21, "at": "2026-01-02"}, {"id": 22, "at": "2026',
    "lines": '{"id": 23, "at": "2026-01-02"}\n{"id": 24, "at": "2026-01-02"}\n',
    "two": '[{"id": 25, "at": "2026-01-02"}]\n[{"id": 26, "at": "2026-01-02"}]\n',
}


def test_elements_are_read_and_broken_files_set_aside(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC))
    lake.land("load/1.json", LOAD, at="2026-02-01")
    report = lake.run("full_load")
    assert not report.set_aside and report.rows_in == 9, report
    rows = lake.changes.select("id", "price", "note", "more").collect()
    assert {each.id: tuple(each)[1:] for each in rows} == {
        1: (Decimal("1.500"), 'a], ["b"', (1, "x")),
        2: (Decimal("2.000"), "1.10", None),
        11: (None, None, None),
    }
    bad = lake.tables.quarantine.read().select("lake_record", "lake_reason").collect()
    reasons = {each.lake_record: each.lake_reason for each in bad}
    assert sorted(reasons) == [3, 4, 5, 6, 7, 8]
    assert reasons[3] == "'id' is there twice"
    assert reasons[7] == "there is text after the object"
    assert "price: cannot be read as decimal(12,3): lots" in reasons[8]

    more = [{"id": n, "at": "2026-01-02"} for n in range(30, 2030)]
    lake.land("changes/1.json.gz", gzip.compress(json.dumps(more).encode()))
    for name, text in BROKEN.items():
        lake.land(f"changes/{name}.json", text)
    report = lake.run("incremental")
    assert report.rows_in == 2000, report
    words = {each["path"]: each["reason"] for each in report.set_aside}
    assert sorted(words) == [f"changes/{name}.json" for name in sorted(BROKEN)]
    assert "is a JSON array without its end" in words["changes/cut.json"]
    assert (
        "is no JSON array, and source.format.layout is array"
        in words["changes/lines.json"]
    )
    assert "has text after the end of its JSON array" in words["changes/two.json"]
