"""Tables of a stage wait for those that they need, and for no others."""

from __future__ import annotations

from dataclasses import dataclass

from lake_spark.step.table_order import waves
from lake_spec.model import (
    Csv,
    Feed,
    FeedTable,
    Product,
    ProductTable,
    References,
    TableSpec,
)


@dataclass(frozen=True)
class Of:
    """What the order is asked about."""

    spec: TableSpec


def product(name: str, *reads: str) -> Of:
    source = Product(sql=f"{name}.sql", reads=tuple(f"shop.{each}" for each in reads))
    return Of(ProductTable(name, "shop", "About orders", "shop", source, ("id",)))


def table(name: str, *refers_to: str) -> Of:
    source = Feed(path=f"shop/{name}", format=Csv())
    checks = tuple(References("x", f"{each}.id") for each in refers_to)
    about = (name, "shop", "About orders", "shop", source, ("id",))
    return Of(FeedTable(*about, checks=checks))


def names(found):
    return [[each.spec.name for each in wave] for wave in found]


def test_products_follow_those_that_they_read():
    top, by_day = product("top", "by_day", "rich"), product("by_day", "rich")
    rich, other = product("rich", "orders"), product("other", "orders")
    found = names(waves([top, by_day, rich, other]))
    assert found == [["rich", "other"], ["by_day"], ["top"]]


def test_a_product_whose_inputs_are_not_of_the_step_waits_for_nothing():
    assert names(waves([product("top", "by_day")])) == [["top"]]


def test_a_table_follows_those_that_its_checks_refer_to():
    tables = [table("lines", "orders", "lines"), table("orders", "customers")]
    tables += [table("customers"), table("regions", "gone")]
    assert names(waves(tables)) == [["customers", "regions"], ["orders"], ["lines"]]


def test_tables_that_refer_to_each_other_are_done_together():
    tables = [table("a", "b"), table("b", "a"), table("c", "a"), table("d")]
    assert names(waves(tables)) == [["d"], ["a", "b", "c"]]
