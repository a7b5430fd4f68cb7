"""Each stage has the tables whose kind it builds."""

import pytest

from lake_spec.layout.stage_tables import tables_of, with_products
from lake_spec.model import Dimension, Engine, Feed, Json, Product, Side, TableSpec

FEED = Feed(path="shop/orders", format=Json())


def table(name, source, engine=Engine.PYSPARK):
    return TableSpec(
        name, "shop", "Orders of the shop", "shop", source, ("id",), engine=engine
    )


TABLES = [
    table("orders", FEED),
    table("streamed", FEED, Engine.STREAMER),
    table("customers", Dimension(Side("a"), Side("b"))),
    table("totals", Product(from_="shop.orders")),
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
    daily = table("daily", Product(sql="daily.sql", reads=("shop.totals", "crm.a")))
    totals = table("totals", Product(sql="totals.sql", reads=("shop.orders",)))
    tables = [daily, totals, *TABLES[:2]]
    assert with_products(["orders"], tables) == ["orders", "totals", "daily"]
    assert with_products(["streamed"], tables) == ["streamed"]
