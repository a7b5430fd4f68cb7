"""Rows of current that are not marked as deleted, also those without a mark."""

from __future__ import annotations

import pytest

from lake_spark.scd2.current import CurrentLayer, not_deleted
from tests.spark.lake import FEED_FILES, table

SPEC = table(FEED_FILES + """columns: {id: string, ts: timestamp}
key: [id]
order_by: [ts]
current: {deletes: soft}
""")


@pytest.fixture(scope="module")
def rows(spark):
    marks = [("kept", False), ("gone", True), ("of before there were marks", None)]
    return spark.createDataFrame(marks, "id string, is_deleted boolean")


def test_a_row_without_a_mark_is_not_deleted(rows):
    found = not_deleted(rows, "is_deleted").collect()
    assert [row.id for row in found] == ["kept", "of before there were marks"]
    assert not_deleted(rows, "other").count() == not_deleted(rows, "").count() == 3


def test_the_layer_counts_the_same_rows_as_open(rows):
    found = rows.where(CurrentLayer(SPEC, ["id"]).is_open).collect()
    assert [row.id for row in found] == ["kept", "of before there were marks"]
