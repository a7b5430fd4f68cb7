"""What readers type for a table that they find in no format but its own."""

from __future__ import annotations

import pytest

from lake_site.statements import statements_of, unreadable_by
from lake_spec.model import Product, ProductTable, Storage, TableSpec, TableType
from tests.unit.lake_site.lakes import ENVIRONMENT


def product(**storage) -> TableSpec:
    return ProductTable(
        name="totals",
        domain="shop",
        description="Totals of the orders of each day",
        owner="shop-data",
        source=Product(sql="totals.sql"),
        key=("day",),
        storage=Storage(type=TableType.PARQUET, **storage),
    )


def test_plain_parquet_is_in_the_database_of_the_domain():
    found = {each.engine: each for each in statements_of(product(), ENVIRONMENT)}
    assert list(found) == ["Athena", "Spark", "This machine"]
    assert found["Athena"].now == 'SELECT * FROM "shop"."totals" LIMIT 10;'
    assert found["Spark"].now == "SELECT * FROM `shop`.`totals` LIMIT 10"
    assert not any(each.then for each in found.values())


@pytest.mark.parametrize(
    "folders, words",
    [((), None), (("day",), "Redshift and Hive cannot, nor can Trino unless")],
)
def test_redshift_does_not_read_partitions_that_are_not_listed(folders, words):
    said = unreadable_by(product(partition_by=folders))
    assert said is None if words is None else said.startswith(words)
