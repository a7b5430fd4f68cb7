"""A step names the jars that its tables need, and no others."""

from __future__ import annotations

import pytest

from lake_spec.model import Avro, Csv, Feed, FeedTable, Storage, TableSpec
from lake_spec.model.choices import ReadableAs
from lake_spec.platform.jars import AVRO, ICEBERG, jars_of


def table(form, *readable_as: ReadableAs) -> TableSpec:
    return FeedTable(
        name="orders",
        domain="sales",
        description="Orders",
        owner="team",
        source=Feed(path="sales/orders", load="l/*", changes="c/*", format=form),
        columns=(),
        key=("id",),
        storage=Storage(readable_as=readable_as),
    )


@pytest.mark.parametrize(
    "tables, jars",
    [
        ([table(Csv())], ()),
        ([table(Csv(), ReadableAs.DELTA)], ()),
        ([table(Csv()), table(Csv(), ReadableAs.ICEBERG)], (ICEBERG,)),
        ([table(Avro(), *ReadableAs)], (AVRO, ICEBERG)),
    ],
    ids=["plain", "delta", "iceberg", "avro-and-all"],
)
def test_jars_are_those_that_a_table_asks_for(tables, jars):
    assert jars_of(iter(tables)) == jars
