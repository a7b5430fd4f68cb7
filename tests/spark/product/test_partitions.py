"""Partitions that a run asks to make again must be those of the product."""

import pytest

from lake_spec.model import Column, Product, ProductTable, Storage
from lake_spec.text.marked_values import unmarked
from lake_spark.errors import NoSuchPartitions
from lake_spark.product.partitions import require_partitions

SPEC = ProductTable(
    name="things",
    description="Things by day",
    owner="test-team",
    source=Product(sql="x.sql"),
    key=("id",),
    columns=tuple(
        (name, Column(kind))
        for name, kind in {"day": "date", "month": "int", "town": "string"}.items()
    ),
    storage=Storage(partition_by=("day", "month", "town")),
    domain="tests",
)


@pytest.mark.parametrize(
    "folder",
    [
        "day=2026-01-31/month=1/town=a%20b",
        "month=01",
        "day=__HIVE_DEFAULT_PARTITION__",
        "town=7",
    ],
)
def test_folders_of_values_of_the_columns_are_accepted(folder):
    require_partitions(SPEC, [folder])


@pytest.mark.parametrize(
    ("folder", "kind", "value"),
    [
        ("day=2026-02-30", "date", "2026-02-30"),
        ("day=2026-01-31/month=may", "int", "may"),
    ],
)
def test_a_value_that_the_column_cannot_have_is_refused(folder, kind, value):
    with pytest.raises(NoSuchPartitions) as error:
        require_partitions(SPEC, ["month=1", folder])
    column = folder.rpartition("/")[2].partition("=")[0]
    assert unmarked(str(error.value)) == (
        f"tests.things: the param partitions has {folder!r}, and {column} is {kind}, which "
        f"has no value {value!r}. Correct the param."
    )
