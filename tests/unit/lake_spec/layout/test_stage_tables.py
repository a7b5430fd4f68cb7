"""Each stage has the tables whose kind it builds."""

import pytest

from lake_spec.layout.stage_tables import tables_of, with_products
from lake_spec.model import (
    Dimension,
    DimensionTable,
    Engine,
    Feed,
    FeedTable,
    Json,
    Product,
    ProductTable,
    Side,
)

FEED = Feed(path="shop/orders", format=Json())


def table(cls, name, source, engine=Engine.PYSPARK):
    return cls(
        name, "shop", "Orders of the shop", "shop", source, ("id",), engine=engine
    )


TABLES = [
    table(FeedTable, "orders", FEED),
    table(FeedTable, "streamed", FEED, Engine.STREAMER),
    table(DimensionTable, "customers", Dimension(Side("a"), Side("b"))),
    table(ProductTable, "totals", Product(from_="shop.orders")),
]


@pytest.mark.parametrize(
    "stage, names",
    [
        ("incremental", ["orders", "streamed"]),
        ("scd2", ["orders", "streamed"]),
        ("prepare_incremental", ["streamed"]),
        ("dimension", ["customers"]),
        ("rebuild_dimension", ["customers"]),
        ("product", ["totals"]),
        ("rebuild_product", ["totals"]),
        ("erase", ["orders", "streamed", "totals"]),
        ("maintenance", ["orders", "streamed", "customers", "totals"]),
    ],
)
def test_a_stage_has_the_tables_of_its_kind(stage, names):
    assert [each.name for each in tables_of(stage, TABLES)] == names


def test_products_go_with_the_tables_that_they_are_made_of():
    of_totals = Product(sql="daily.sql", reads=("shop.totals", "crm.a"))
    daily = table(ProductTable, "daily", of_totals)
    of_orders = Product(sql="totals.sql", reads=("shop.orders",))
    totals = table(ProductTable, "totals", of_orders)
    tables = [daily, totals, *TABLES[:2]]
    assert with_products(["orders"], tables) == ["orders", "totals", "daily"]
    assert with_products(["streamed"], tables) == ["streamed"]
