"""Records whose word says that they are no changes: counted, and left out."""

from __future__ import annotations

import json

import pytest

from lake_spark.ingest.reprocess import Selection
from tests.spark.erasing import erased, files_with
from tests.spark.lake import Lake, table
from tests.spark.typed_files import typed_file

SPEC = """
source:
  kind: feed
  path: tests/prices
  load: load/**
  changes: changes/**
  format: {{type: {form}}}
  operation: {{column: "__$operation", upsert: ["2", "4"], delete: ["1"], ignore: ["3"]}}
columns:
  id: int
  price: int
  at: {{type: timestamp, source: ["__$start"]}}
key: [id]
order_by: [at]
storage: {{buckets: 1}}
"""
CHANGES = [
    (2, 1, 10, "2026-01-01"),
    (2, 2, 20, "2026-01-01"),
    (3, 1, 10, "2026-01-02"),
    (4, 1, 11, "2026-01-02"),
    (3, 99, None, "2026-01-03"),  # of a key that has nothing else
    (1, 2, None, "2026-01-03"),
]
NAMES = ("__$operation", "id", "price", "__$start")


def content_of(lake, form):
    if form == "csv":
        rows = [NAMES, *(["" if v is None else v for v in row] for row in CHANGES)]
        return "".join(",".join(map(str, row)) + "\n" for row in rows)
    if form == "json":
        return "".join(json.dumps(dict(zip(NAMES, row))) + "\n" for row in CHANGES)
    rows = ", ".join(
        f"struct({word} AS `__$operation`, {id} AS id, CAST({price or 'NULL'} AS int)"
        f" AS price, timestamp '{at}' AS `__$start`)"
        for word, id, price, at in CHANGES
    )
    return typed_file(lake, form, f"inline(array({rows}))")


@pytest.mark.parametrize(
    "form",
    ["csv", *(pytest.param(f, marks=pytest.mark.nightly) for f in ("json", "parquet"))],
)
def test_they_are_counted_and_change_nothing(spark, tmp_path, form):
    lake = Lake(spark, tmp_path, table(SPEC.format(form=form)))
    lake.land(f"changes/1.{form}", content_of(lake, form), at="2026-03-01")
    report, _ = lake.done("incremental", "scd2")
    (file,) = report.files
    assert (file.landed, file.accepted, file.quarantined, file.ignored) == (4, 4, 0, 2)
    assert (report.rows_in, report.ignored) == (4, 2)
    assert [
        tuple(each)[:2] for each in lake.current.select("id", "price").collect()
    ] == [(1, 11)]
    rows = lake.history.orderBy("id", "valid_from").collect()
    assert [(each.id, each.price) for each in rows] == [(1, 10), (1, 11), (2, 20)]
    again = lake.run("reprocess", selection=Selection(("changes/*",), False, False))
    assert (again.error, again.ignored) == (None, 2)


@pytest.mark.nightly
def test_those_of_a_subject_are_erased(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC.format(form="csv")))
    text = content_of(lake, "csv").replace("99,", "987654,")
    lake.land("changes/1.csv", text, at="2026-03-01")
    lake.done("incremental", "scd2")
    erased(lake, {"id": 987654})
    assert not files_with(lake, "987654")
    lake.land("changes/2.csv", text, at="2026-03-01")  # a late copy
    report, _ = lake.done("incremental", "scd2")
    (file,) = report.files
    assert (file.erased, file.ignored, file.is_balanced) == (1, 1, True)
    assert lake.current.count() == 1
