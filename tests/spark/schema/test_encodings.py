"""Days, times, bytes and decimals as change capture writes them where types lack.

Row 1 says in each file the same; the rows after it hold what cannot be read.
"""

from __future__ import annotations

import base64
import json
from datetime import date, datetime
from decimal import Decimal

import pytest

from tests.spark.lake import Lake, table
from tests.spark.parquet_files import land_parquet

SPEC = """
source: {{kind: feed, path: tests/things, format: {{type: {form}, null_text: ["NULL"]}}}}
columns:
  id: int
  ts: {{type: timestamp, format: epoch_millis}}
  day: {{type: date, format: epoch_days}}
  since: {{type: timestamp, format: epoch_days}}
  on_day: {{type: date, format: epoch_seconds}}
  micros: {{type: timestamp, format: epoch_micros}}
  nanos: {{type: timestamp, format: epoch_nanos}}
  raw: {{type: binary, format: base64}}
  price: {{type: "decimal(9,2)", format: base64_unscaled}}
  large: {{type: "decimal(38,0)", format: base64_unscaled}}
  unsigned: {{type: "decimal(20,0)", format: unsigned_bigint}}
  clock: bigint
key: [id]
order_by: [ts]
storage: {{buckets: 1}}
quarantine: {{max_share: 1}}
"""
MILLIS = 1_767_312_000_123
LARGE = -(10**38 - 1)


def unscaled(number: int) -> str:
    """As Debezium writes a decimal in JSON: base64 of BigInteger's bytes."""
    length = (number.bit_length() + 8) // 8
    return base64.b64encode(number.to_bytes(length, "big", signed=True)).decode()


GOOD = {
    "id": 1,
    "ts": MILLIS,
    "day": -141_000,
    "since": 20_455,
    "on_day": -1,
    "micros": MILLIS * 1000 + 456,
    "nanos": -1,
    "raw": base64.b64encode(b"\x00\xff").decode(),
    "price": unscaled(-5),
    "large": unscaled(LARGE),
    "unsigned": -1,
    "clock": 3_600_000,
}
EXPECTED = (
    *(datetime(2026, 1, 2, 0, 0, 0, 123000), date(1583, 12, 16), datetime(2026, 1, 2)),
    *(date(1969, 12, 31), datetime(2026, 1, 2, 0, 0, 0, 123456)),
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    *(bytearray(b"\x00\xff"), Decimal("-0.05"), Decimal(LARGE), Decimal(2**64 - 1)),
    3_600_000,
)
WRITTEN = {
    "ts": "2026-01-02T00:00:00.123Z",
    "day": "1583-12-16",
    "since": "2026-01-02 00:00:00",
    "on_day": "1969-12-31",
    "micros": "2026-01-02T01:00:00.123456+01:00",
    "nanos": "1969-12-31T23:59:59.999999Z",
}
BAD = {
    "day": 10**9,
    "since": "2026-02-30",
    "on_day": 1.5,
    "micros": 2**63,
    "nanos": "soon",
    "raw": "*",
    "price": unscaled(10**9),
    "large": unscaled(10**38),
    "unsigned": -(2**63) - 1,
}


@pytest.fixture(scope="module")
def of_text(spark, tmp_path_factory):
    lake = Lake(spark, tmp_path_factory.mktemp("text"), table(SPEC.format(form="json")))
    bad = [{**GOOD, "id": 10 + i, name: BAD[name]} for i, name in enumerate(BAD)]
    none = {**GOOD, "id": 2, "day": None, "price": "NULL", "raw": None}
    written = {**GOOD, **WRITTEN, "id": 3}
    lines = [json.dumps(row) + "\n" for row in (GOOD, none, *bad, written)]
    lake.land("changes/1.json", "".join(lines), at="2026-02-01")
    lake.done("incremental")
    return lake


def test_texts_are_read_by_their_encoding(of_text):
    assert of_text.living(*list(GOOD)[1:])[0] == (1, *EXPECTED)


def test_times_that_are_written_out_are_the_same(of_text):
    assert of_text.living(*list(GOOD)[1:])[2] == (3, *EXPECTED)


def test_what_means_no_value_is_none(of_text):
    assert of_text.living("day", "price", "raw")[1] == (2, None, None, None)


def test_what_cannot_be_read_goes_to_the_quarantine(of_text):
    found = of_text.tables.quarantine.read().orderBy("lake_record").collect()
    reasons = [row.lake_reason for row in found]
    assert [each.split(":")[0] for each in reasons] == list(BAD)
    assert reasons[0] == "day: cannot be read as date: 1000000000"


def test_whole_numbers_of_typed_files_are_read_by_their_encoding(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC.format(form="parquet")))
    row = f"""{MILLIS} AS ts, -141000 AS day, 20455S AS since, -1L AS on_day,
        {MILLIS * 1000 + 456}BD AS micros, -1L AS nanos, X'00FF' AS raw,
        '{GOOD["price"]}' AS price, CAST({LARGE}BD AS decimal(38,0)) AS large,
        -1L AS unsigned, 3600000 AS clock"""
    land_parquet(lake, "changes/1", f"1 AS id, {row}")
    land_parquet(lake, "changes/2", f"2 AS id, {row.replace('-141000', '1000000000')}")
    land_parquet(lake, "changes/3", f"3 AS id, {row.replace('20455S', '1.5D')}")
    report = lake.run("incremental")
    assert lake.living(*list(GOOD)[1:]) == [(1, *EXPECTED)]
    assert report.quarantined == 1
    (told,) = report.set_aside
    assert "column 'since' is double, but the table's column 'since'" in told["reason"]
