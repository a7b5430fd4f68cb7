"""A profile counts what is there, and shows values only where that is allowed."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from lake_spark.profiling import measure as module
from lake_spark.profiling.measure import measure

SCHEMA = (
    "id int, name string, price decimal(10,2), ratio double, day date, at timestamp, "
    "ok boolean, raw binary, tags array<string>"
)
COLORS = ("red", "red", "red", "blue", "blue", None)


def row(i):
    return (
        i,
        COLORS[i % len(COLORS)],
        None if i % 10 == 0 else Decimal(i),
        i / 4,
        date(2026, 1, 1) + timedelta(days=i),
        datetime(2026, 1, 1, tzinfo=timezone.utc) + timedelta(hours=i),
        i % 2 == 0,
        bytes(i % 3),
        None if i % 4 else ["a"],
    )


@pytest.fixture(scope="module")
def profile(spark):
    rows = spark.createDataFrame([row(i) for i in range(120)], SCHEMA)
    count, columns = measure(rows, lambda name: True)
    assert count == 120
    return {each.name: each for each in columns}


def test_texts_have_counts_limits_lengths_and_top_values(profile):
    name = profile["name"]
    assert (name.type, name.nulls, name.distinct) == ("string", 20, 2)
    assert (name.min, name.max) == ("blue", "red")
    assert (name.min_length, name.max_length) == (3, 4)
    assert name.top == (("red", 60), ("blue", 40)) and name.histogram == ()


def test_numbers_have_histograms_of_equal_parts(profile):
    for name, low, high in (("id", "0", "119"), ("ratio", "0.0", "29.75")):
        found = profile[name]
        assert (found.min, found.max, found.top) == (low, high, ())
        assert found.histogram == (6,) * 20
        assert abs(found.distinct - 120) <= 12
    price = profile["price"]
    assert (price.nulls, price.min, price.max) == (12, "1.00", "119.00")
    assert sum(price.histogram) == 108


def test_dates_and_timestamps_have_them_too(profile):
    assert (profile["day"].min, profile["day"].max) == ("2026-01-01", "2026-04-30")
    assert profile["at"].max == "2026-01-05 23:00:00"
    assert profile["day"].histogram == profile["at"].histogram == (6,) * 20


def test_other_types_have_what_fits_them(profile):
    assert profile["ok"].top == (("false", 60), ("true", 60))
    raw, tags = profile["raw"], profile["tags"]
    assert (raw.min_length, raw.max_length, raw.min, raw.top) == (0, 2, None, ())
    assert (tags.nulls, tags.distinct, tags.top) == (90, None, ())


def test_columns_whose_values_may_not_be_shown_have_counts_alone(spark):
    rows = spark.createDataFrame([row(i) for i in range(120)], SCHEMA)
    _, columns = measure(rows, lambda name: name == "ok")
    for each in columns:
        if each.name != "ok":
            assert each.counts_only and each.nulls is not None
            shown = (each.min, each.max, each.min_length, each.max_length)
            assert {*shown, *each.top, *each.histogram} == {None}
    assert columns[1].distinct == 2 and columns[6].top


def test_odd_values_have_no_histogram_and_long_ones_are_cut(spark):
    values = [(float("nan"), "x" * 500, 7, "`"), (float("inf"), "x" * 500, 7, "'")]
    rows = spark.createDataFrame(
        values, "odd double, long string, one int, `a``b` string"
    )
    _, (odd, long, one, quoted) = measure(rows, lambda name: True)
    assert (odd.histogram, one.histogram) == ((), ())
    assert long.top == (("x" * 100, 2),) and long.max == "x" * 100
    assert (long.max_length, one.top) == (500, (("7", 2),))
    assert (quoted.name, quoted.distinct, quoted.top) == ("a`b", 2, ())


def test_no_rows_have_a_profile(spark):
    count, columns = measure(spark.createDataFrame([], SCHEMA), lambda name: True)
    assert count == 0 and len(columns) == 9
    assert {(each.nulls, each.min, each.top) for each in columns} == {(0, None, ())}


def test_wide_tables_are_measured_in_parts(spark, monkeypatch):
    monkeypatch.setattr(module, "WIDTH", 2)
    rows = spark.createDataFrame([row(i) for i in range(12)], SCHEMA)
    count, columns = measure(rows, lambda name: True)
    assert count == 12 and [each.name for each in columns] == rows.columns
    assert columns[6].top == (("false", 6), ("true", 6))


def test_values_of_a_column_with_too_many_are_not_counted(spark, monkeypatch):
    monkeypatch.setattr(module, "MOST_COUNTED", 1)
    rows = spark.createDataFrame([("a", 1), ("b", 1)] * 3, "name string, one int")
    _, (name, one) = measure(rows, lambda name: True)
    assert (name.distinct, name.top, one.top) == (2, (), (("1", 6),))
