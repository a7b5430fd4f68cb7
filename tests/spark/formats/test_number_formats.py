"""Numbers of CSV as people write them: by the file's form, and by a column's own."""

from __future__ import annotations

from decimal import Decimal

import pytest

from lake_spec.model.column_type import parse_type
from lake_spec.model.number_format import DecimalMark, GroupMark, NumberFormat
from lake_spark.schema.casts import Conversion
from lake_spark.schema.columns import TEXT
from tests.spark.lake import Lake, table

SPEC = """
source:
  kind: feed
  path: tests/things
  format: {type: csv, delimiter: ";", numbers: {decimal: ",", group: "."}}
  load: "load/*"
  changes: "changes/*"
columns:
  id: int
  price: "decimal(12,2)"
  pieces: bigint
  share: double
  rate: {type: "decimal(9,3)", numbers: {group: "'"}}
  words: string
  at: timestamp
key: [id]
order_by: [at]
quarantine: {max_share: 1.0}
storage: {buckets: 1}
"""
LOAD = """id;price;pieces;share;rate;words;at
1;1.234,56;1.234.567;0,5;1'234.5;1.234,56;2026-01-01
2;-7,5; 12 ;1,5e3;2;;2026-01-01
3;;;NaN;;x;2026-01-01
4;1.23;1;1;1;a point and two digits;2026-01-01
5;12.34,5;1;1;1;a short group;2026-01-01
6;1,234.56;1;1;1;another form;2026-01-01
7;1,234;1;1;1;more digits than declared;2026-01-01
8;1;1,5;1;1;a fraction of a whole number;2026-01-01
9;1;1;1;1,5;another form than the column's;2026-01-01
1.000;0;0;0;0;of a key;2026-01-01
"""


@pytest.fixture(scope="module")
def prices(spark, tmp_path_factory):
    lake = Lake(spark, tmp_path_factory.mktemp("numbers"), table(SPEC))
    lake.land("load/1.csv", LOAD, at="2026-02-01")
    report = lake.run("full_load")
    assert report.rows_in == 10, report
    return lake


def test_numbers_are_read_by_their_form_and_texts_stay(prices):
    found = prices.changes.select("id", "price", "pieces", "share", "rate", "words")
    rows = {each.id: tuple(each)[1:] for each in found.collect()}
    assert repr(rows.pop(3)) == "(None, None, nan, None, 'x')"
    assert rows == {
        1: (Decimal("1234.56"), 1234567, 0.5, Decimal("1234.500"), "1.234,56"),
        2: (Decimal("-7.50"), 12, 1500.0, Decimal("2.000"), None),
        1000: (Decimal("0.00"), 0, 0.0, Decimal("0.000"), "of a key"),
    }


def test_no_number_is_guessed(prices):
    found = prices.tables.quarantine.read().select("lake_record", "lake_reason")
    reasons = {each.lake_record: each.lake_reason for each in found.collect()}
    assert sorted(reasons) == [4, 5, 6, 7, 8, 9]
    form = "(decimal ',', group '.')"
    assert f"price: cannot be read as decimal(12,2) {form}: 1.23" in reasons[4]
    assert f"pieces: cannot be read as bigint {form}: 1,5" in reasons[8]
    own = "decimal(9,3) (decimal '.', group \"'\")"
    assert f"rate: cannot be read as {own}: 1,5" in reasons[9]


@pytest.mark.parametrize(
    "group, texts",
    [
        (" ", ["1 234,5", "1\u00a0234,5", "1\u202f234,5", "1\u2009234,5"]),
        ("'", ["1'234,5", "1\u2019234,5"]),
    ],
)
def test_each_character_of_a_mark_is_read(spark, group, texts):
    numbers = NumberFormat(DecimalMark.COMMA, GroupMark(group))
    value = Conversion(numbers=numbers).value("t", TEXT, parse_type("decimal(9,1)"))
    rows = spark.createDataFrame([(each,) for each in texts], "t string")
    found = [each[0] for each in rows.selectExpr(value).collect()]
    assert found == [Decimal("1234.5")] * len(texts)
