"""How rows of landing files are counted."""

from __future__ import annotations

import pytest

from lake_spark.reading.accounting import count_rows, counts_by_split

COLUMNS = (
    "lake_path string, lake_block int, lake_id bigint, lake_no_row string,"
    " lake_reason string, lake_op string, lake_key string, lake_unavailable string,"
    " lake_old_key string, lake_started string, lake_effective_at timestamp,"
    " lake_before struct<id: int>, lake_repeats bigint"
)


@pytest.fixture
def rows(spark):
    """Rows of two files, of which those of the first have starts."""
    starts = {"a": ["3", None, "1", "2"], "b": [None, None]}
    found = [
        (path, 0, n, None, None, "upsert", str(n), None, None, start, *[None] * 3)
        for path, each in starts.items()
        for n, start in enumerate(each)
    ]
    return spark.createDataFrame(found, COLUMNS)


def test_the_first_and_the_last_start_of_a_file_are_known(rows):
    counted = count_rows(rows, {})
    assert counted.starts(["a", "b"]) == counted.starts(["a"]) == {"1", "3"}
    assert counted.starts(["b"]) == set()
    assert counted.total == 6


def test_no_row_is_sorted_to_be_counted(rows):
    """Spark sorts whole rows where an aggregate is no number: a load needed a heap for it."""
    rules = {"a rule": "count_if(lake_reason = 'x')"}
    counts = counts_by_split(rows, rules)
    plan = counts._jdf.queryExecution().executedPlan().toString()
    assert "HashAggregate" in plan and "SortAggregate" not in plan
