"""Documents of MongoDB: wrapped values, kept and flattened structs, in all their forms.

Document 1 comes in the canonical form of mongoexport, 2 in the relaxed one, in one
file; 3 lacks most fields; 4 cannot be read.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

import pytest

from lake_spec.model import Engine
from lake_spark.formats.inference import shape_of
from lake_spark.formats.schema_evolution import columns_with
from lake_spark.landing.files import list_landing
from lake_spark.reading.reader import Input, read_inputs
from tests.spark.lake import Lake, table
from tests.spark.parquet_files import land_parquet
from tests.spark.streaming import stream

SPEC = """
source:
  kind: feed
  path: tests/things
  format: {type: json, extended: true}
columns:
  id: {type: string, source: [_id]}
  at: timestamp
  visits: bigint
  price: "decimal(10,2)"
  score: double
  raw: binary
  lines: "array<struct<sku:string,pieces:int,at:timestamp>>"
  stock: "map<string,int>"
  digits: {type: "decimal(9,2)", format: base64_unscaled}
  day: {type: date, format: epoch_days}
  town: {type: string, source: [address.city]}
  latitude: {type: double, source: [address.geo.lat]}
key: [id]
quarantine: {max_share: 1}
order_by: [at]
storage: {buckets: 1}
"""
OID = "65a1b2c3d4e5f6a7b8c9d0e1"
CANONICAL = {
    "_id": {"$oid": OID},
    "at": {"$date": {"$numberLong": "1767312000123"}},
    "visits": {"$numberLong": "9007199254740993"},
    "price": {"$numberDecimal": "12.50"},
    "score": {"$numberDouble": "-Infinity"},
    "raw": {"$binary": {"base64": "AP8=", "subType": "00"}},
    "lines": [
        {
            "sku": "a",
            "pieces": {"$numberInt": "2"},
            "at": {"$date": {"$numberLong": "0"}},
        }
    ],
    "stock": {"north": {"$numberInt": "7"}},
    "address": {
        "city": "Oslo",
        "zip": "0150",
        "geo": {"lat": {"$numberDouble": "59.9"}, "lon": {"$numberDouble": "10.7"}},
    },
    "digits": "/gw=",
    "day": {"$numberInt": "20455"},
    "note": {"$oid": OID},
    "other": {"$timestamp": {"t": 5, "i": 1}},
}
RELAXED = {
    **CANONICAL,
    "_id": "plain",
    "at": {"$date": "2026-01-02T00:00:00.123Z"},
    "visits": 5,
    "score": 0.5,
    "raw": {"$binary": "AP8=", "$type": "00"},
    "lines": [{"sku": "b", "pieces": 3, "at": {"$date": "1970-01-01T00:00:00Z"}}],
    "stock": {"south": 8},
    "address": {"city": "Rome", "geo": {"lat": 41.9}},
    "note": "text",
}
SPARSE = {"_id": "sparse", "at": {"$date": 1767312000123}, "address": None}
BAD = {**RELAXED, "_id": "bad", "at": {"$date": "2026-01-02"}, "price": "much"}
AT = datetime(2026, 1, 2, 0, 0, 0, 123000)


def lines(*documents: dict) -> str:
    return "".join(json.dumps(each) + "\n" for each in documents)


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    made = Lake(spark, tmp_path_factory.mktemp("documents"), table(SPEC))
    made.land("changes/1.json", lines(CANONICAL), at="2026-02-01")
    made.land("changes/2.json", lines(RELAXED, SPARSE, BAD), at="2026-02-01")
    both = ({**each, "_id": f"m{i}"} for i, each in enumerate((CANONICAL, RELAXED)))
    made.land("changes/3.json", lines(*both), at="2026-02-01")
    (made.report,) = made.done("incremental")
    made.found = {row.id: row for row in made.current.collect()}
    return made


@pytest.mark.parametrize("id", [OID, "plain", "m0", "m1"])
def test_wrapped_values_are_the_values_of_the_declared_types(lake, id):
    is_canonical = id in (OID, "m0")
    row = lake.found[id]
    assert (row["at"], row.price, row.raw) == (AT, Decimal("12.50"), b"\x00\xff")
    assert row.visits == (9_007_199_254_740_993 if is_canonical else 5)
    assert row.score == (float("-inf") if is_canonical else 0.5)
    assert row.note == (OID if is_canonical else "text")
    first = ("a", 2) if is_canonical else ("b", 3)
    assert [tuple(each) for each in row.lines] == [(*first, datetime(1970, 1, 1))]
    stock = {"north": 7} if is_canonical else {"south": 8}
    assert {k: v for k, v in row.stock.items() if v is not None} == stock


@pytest.mark.parametrize("id", [OID, "plain", "m0", "m1"])
def test_fields_inside_are_columns_and_none_is_lost(lake, id):
    is_canonical = id in (OID, "m0")
    row = lake.found[id]
    found = (row.town, row.latitude, row.address_zip, row.address_geo_lon)
    canonical = ("Oslo", 59.9, "0150", "10.7")
    assert found == (canonical if is_canonical else ("Rome", 41.9, None, None))
    assert "address" not in lake.current.columns
    assert row.other == '{"$timestamp":{"i":"1","t":"5"}}'


def test_what_a_document_lacks_has_no_value(lake):
    row = lake.found["sparse"]
    assert (row["at"], row.price, row.lines, row.town) == (AT, None, None, None)


def test_what_cannot_be_read_is_quarantined(lake):
    assert lake.report.quarantined == 1
    (row,) = lake.tables.quarantine.read().collect()
    assert row.lake_reason == "price: cannot be read as decimal(10,2): much"


@pytest.mark.nightly
def test_the_streamer_writes_the_same_rows(lake, tmp_path):
    """Of Spark 3.4, by the same expressions."""
    spec = replace(lake.spec, engine=Engine.STREAMER)
    streamed = Lake(lake.spark, tmp_path, spec)
    for number in (1, 2, 3):
        content = (
            lake.root / f"landing/tests/things/changes/{number}.json"
        ).read_bytes()
        streamed.land(f"changes/{number}.json", content, at="2026-02-01")
    assert stream(streamed, "incremental", tmp_path) == 0
    streamed.done("incremental")
    names = sorted(set(lake.changes.columns) - {"lake_etag", "lake_landed_at"})
    texts = [
        sorted(str(row) for row in each.changes.select(names).collect())
        for each in (lake, streamed)
    ]
    assert texts[0] == texts[1] and len(texts[0]) == 5
    row = streamed.current.where(f"id = '{OID}'").first()
    assert (row.digits, row.day) == (Decimal("-5.00"), date(2026, 1, 2))


FLAT = """
source:
  kind: feed
  path: tests/things
  new_columns: {new}
  format: {{type: parquet}}
columns:
  id: int
  ts: timestamp
  city: {{type: string, source: [address.city, town]}}
  {more}
key: [id]
order_by: [ts]
storage: {{buckets: 1}}
"""
ROW = "1 AS id, timestamp'2026-01-01' AS ts"
ADDRESS = "named_struct('City', 'Oslo', 'zip', 7) AS address"


@pytest.mark.parametrize(
    "new, more, select, columns",
    [
        ("add", "", ADDRESS, {"city": "Oslo", "address_zip": 7}),
        ("ignore", "", ADDRESS, {"city": "Oslo"}),
        ("ignore", "", "'Rome' AS town", {"city": "Rome"}),
        ("ignore", "", "'Bern' AS `address.city`", {"city": "Bern"}),
        (
            *("ignore", 'address: "struct<zip:int>"', ADDRESS),
            {"city": "Oslo", "address": None},
        ),
    ],
    ids=["other fields", "declared alone", "an older name", "a whole name", "both"],
)
def test_a_struct_is_flattened_as_declared(spark, tmp_path, new, more, select, columns):
    spec = table(FLAT.format(new=new, more=more))
    lake = Lake(spark, tmp_path, spec)
    land_parquet(lake, "changes/1", f"{ROW}, {select}")
    (file,) = list_landing(lake.store, lake.tables.landing, ["changes/*"])
    shape = shape_of(spark, lake.store, file, spec)
    grown = columns_with(spec, file, shape, [(n, c.type) for n, c in spec.columns])
    (row,) = read_inputs(spark, spec, [Input(file, shape, 1)], grown).collect()
    wanted = {name: each for name, each in columns.items() if name != "address"}
    assert {name: row[name] for name in wanted} == wanted
    assert [name for name, _ in grown][2:] == list(columns)


def test_undeclared_fields_are_refused_where_that_is_asked_for(spark, tmp_path):
    spec = table(FLAT.format(new="refuse", more=""))
    lake = Lake(spark, tmp_path, spec)
    land_parquet(lake, "changes/1", f"{ROW}, {ADDRESS}")
    (told,) = lake.run("incremental").set_aside
    assert "has undeclared column(s) address_zip" in told["reason"]


def test_wrapped_values_without_the_setting_are_refused_with_it(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC.replace(", extended: true", "")))
    lake.land(
        "changes/1.json", lines({"_id": "1", "at": "2026-01-01", "x": {"$oid": "5"}})
    )
    (told,) = lake.run("incremental").set_aside
    assert "set source.format.extended" in told["reason"]
