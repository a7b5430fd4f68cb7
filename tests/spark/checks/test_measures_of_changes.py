"""What a commit changes leads to the same measures as all rows after it."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace

import pytest
from pyspark.sql import functions as F

from lake_spec.model import (
    AcceptedRange,
    Aggregate,
    Expression,
    Freshness,
    NullShare,
    RowCount,
    Unique,
)
from lake_spark.checks.checked_rows import CheckedRows, measured, of_changes
from lake_spec.model.checks.measures import ROWS, How, Measure
from lake_spark.checks.kept_measures import to_text
from lake_spark.materialize.difference import difference

CHECKS = (
    RowCount(at_least=1),
    Unique(("a", "c")),
    Freshness("t", 1),
    Expression("a <= b", written="`a` <= `b`"),
    NullShare("a", 0.1),
    *(AcceptedRange("a", each, at_least=0) for each in Aggregate),
    *(AcceptedRange("b", each, at_least=0) for each in Aggregate),
    AcceptedRange("c", Aggregate.MAX, at_least=0),
)


def row(random, key):
    number = random.choice([None, 1, 2, 3])
    amount = random.choice([None, "0.10", "2.50", "9.99"])
    time = random.choice([None, "2026-01-01", "2026-01-02", "2026-01-03 04:05:06.789"])
    return key, number, amount, random.choice([0.1, 0.2]), time, random.random() < 0.2


def frame(spark, rows):
    """The rows as a DataFrame; amounts and times are given as texts."""
    texts = spark.createDataFrame(
        rows, "lake_key string, a int, b string, c double, t string, is_deleted boolean"
    )
    return texts.withColumn("b", F.expr("CAST(b AS decimal(10,2))")).withColumn(
        "t", F.expr("CAST(t AS timestamp)")
    )


def changed(spark, before, after, keys):
    """The difference of the rows of these keys, as it is before a commit."""
    new = frame(spark, [after[key] for key in keys if key in after])
    old = frame(spark, [before[key] for key in keys if key in before])
    layer = SimpleNamespace(witnesses=(), is_open=F.lit(True))
    return difference(new, old, ["lake_key"], layer, new.columns)


@pytest.mark.nightly  # by day: test_each_kind_measures_the_rows_as_they_are_after_the_commit
def test_measures_follow_from_changes(spark):
    random = Random(7)
    rows = {f"k{n}": row(random, f"k{n}") for n in range(12)}
    measures, kept = None, {}
    for _ in range(8):
        before = dict(rows)
        keys = random.sample([f"k{n}" for n in range(16)], 4)
        for key in keys:
            rows[key] = row(random, key)
            if random.random() < 0.4:
                del rows[key]
        stored, now = frame(spark, list(before.values())), frame(
            spark, list(rows.values())
        )
        changes = changed(spark, before, rows, keys)
        part = of_changes(changes, lambda: stored, "is_deleted")
        whole = CheckedRows(lambda: now.where("NOT is_deleted"))
        if measures is None:
            found = {m for check in CHECKS for m in check.measures(whole.kind)}
            measures = sorted(found, key=lambda each: each.id)
        others = {}.__getitem__
        by_part = measured(part, measures, kept, others)
        assert by_part == measured(whole, measures, {}, others)
        kept = to_text(by_part)
        assert len(kept) == sum(each.is_kept for each in measures)


def test_all_rows_are_read_by_the_session_of_the_table(spark):
    other = spark.newSession()
    other.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    one, two = [("a", 1, "1.00", 0.1, None, False)], [
        ("b", 2, "1.00", 0.1, None, False)
    ]
    rows = CheckedRows(
        lambda: frame(spark, one + two), frame(other, two), frame(other, [])
    )
    zone = Measure(How.AGGREGATE, "max(current_timezone())")
    found = measured(rows, [ROWS, zone], {ROWS.id: "1"}, {}.__getitem__)
    assert found == {ROWS: 2, zone: "UTC"}
