"""Lists, maps and structs in tables that are written again and again.

Rows 1 and 2 arrive in two runs, row 1 once more in a third: row 2 is copied by
Hudi, never by us, and must come out as it went in, nulls in lists included.
"""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.kinds import TABLE_TYPES
from tests.spark.lake import LOAD_AND_CHANGES, Lake, stored, table

SPEC = """
source: {kind: feed, path: tests/things, format: {type: json}}
columns:
  id: int
  ts: timestamp
  price: "decimal(8,2)"
  tags: "array<double>"
  place: "struct<names:array<string>,x:double>"
  extra: "map<string,double>"
key: [id]
order_by: [ts]
storage: {buckets: 1}
"""
ROW = (
    '{"id": %d, "ts": "2026-01-0%d", "price": 1.50, "tags": [1.0, null],'
    ' "place": {"names": [null, "n"], "x": 2.5}, "extra": "{\\"a\\": null}"}\n'
)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", TABLE_TYPES, ids=lambda kind: kind.value)
def test_nested_values_beside_decimals_survive_later_commits(spark, tmp_path, kind):
    lake = Lake(spark, tmp_path, stored(table(SPEC), type=kind))
    for run, id in enumerate((1, 2, 1), start=1):
        lake.land(f"changes/{run}", ROW % (id, run), at="2026-01-09")
        lake.done("incremental", "scd2")
    lake.done("maintenance")
    values = (Decimal("1.50"), [1.0, None], ([None, "n"], 2.5), {"a": None})
    columns = ["id", "price", "tags", "place", "extra"]
    for rows in (lake.current, lake.history):
        found = sorted(map(tuple, rows.select(columns).collect()))
        assert found == [(1, *values), (2, *values)]


OBJECTS = LOAD_AND_CHANGES + """  format: {type: json}
columns:
  id: int
  at: timestamp
  pair: "struct<b:string,a:string>"
  size: "struct<x:double,names:array<string>>"
  tags: "map<string,int>"
key: [id]
order_by: [at]
storage: {buckets: 1}
"""


def test_objects_of_json_are_read_by_their_field_names(spark, tmp_path):
    """Declared in another order than the alphabet's, and one of them as a map."""
    lake = Lake(spark, tmp_path, table(OBJECTS))
    pair, size = '{"a": "first", "b": "second"}', '{"names": ["n"], "x": 1.5}'
    row = f'{{"id": 1, "at": "2026-01-01", "pair": {pair}, "size": {size}, "tags": {{"k": 7}}}}'
    lake.land("load/1.json", row + "\n")
    lake.done("full_load")
    (found,) = lake.current.selectExpr(
        "pair.a", "pair.b", "size.x", "size.names", "tags"
    ).collect()
    assert tuple(found) == ("first", "second", 1.5, ["n"], {"k": 7})


def test_half_a_character_in_a_name_that_nobody_declared_is_a_bad_value(
    spark, tmp_path
):
    text = SPEC.replace("{type: json}", "{type: csv}").replace(
        "storage:", "quarantine: {max_share: 1.0}\nstorage:"
    )
    lake = Lake(spark, tmp_path, table(text))
    names = ("x", r"x\ud800", r"x\ud83d\ude00")
    rows = [
        f'{n},2026-01-01,1,[],"{{""{name}"": 2.5}}",\n'
        for n, name in enumerate(names, 1)
    ]
    head = "id,ts,price,tags,place,extra\n"
    lake.land("changes/1.csv", head + "".join(rows), at="2026-01-09")
    report = lake.run("incremental")
    assert (report.error, report.quarantined) == (None, 1)
    found = lake.current.selectExpr("id", "place.x").orderBy("id").collect()
    assert [tuple(row) for row in found] == [(1, 2.5), (3, None)]
