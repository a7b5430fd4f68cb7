"""Products are built after those that they read; their inputs have change logs, or none."""

from lake_spec.facts.product_inputs import (
    logs_of,
    product_levels,
    read_by_products,
    reads_of,
)
from lake_spec.model import (
    Dimension,
    DimensionTable,
    DomainSpec,
    Feed,
    FeedTable,
    Json,
    Product,
    ProductTable,
    Side,
)

FEED = Feed(path="shop/orders", format=Json())
ORDERS = FeedTable("orders", "shop", "Orders of the shop", "shop-data", FEED, ("id",))
SIDES = Dimension(Side("orders"), Side("people"))
DIM = DimensionTable("dim", "shop", "Both of them", "shop-data", SIDES, ("id",))


def product(name, *reads, domain="shop"):
    source = Product(sql=f"{name}.sql", reads=reads)
    return ProductTable(name, domain, "Made of others", "shop-data", source, ("id",))


def names(levels):
    return [[each.name for each in level] for level in levels]


def test_levels_follow_what_is_read():
    a = product("a", "shop.c", "shop.orders")
    b, c = product("b", "crm.people"), product("c", "shop.d", "shop.b")
    d = product("d", "shop.orders")
    assert names(product_levels([a, b, c, d])) == [["b", "d"], ["c"], ["a"]]
    assert product_levels([]) == []


def test_a_circle_comes_last_and_ends():
    a, b = product("a", "shop.b"), product("b", "shop.a")
    assert names(product_levels([a, b, product("c")])) == [["c"], ["a", "b"]]


def test_a_dimension_is_changed_by_the_logs_of_its_tables():
    assert logs_of(ORDERS) == ("shop.orders",)
    assert logs_of(DIM) == ("shop.orders", "shop.people")
    assert logs_of(product("a")) == reads_of(ORDERS) == ()


def test_products_read_tables_and_the_logs_of_dimensions():
    shop = DomainSpec("shop", "What the shop sells", "shop-data", tables=(ORDERS, DIM))
    totals = product("totals", "shop.dim", "gone.table", domain="web")
    web = DomainSpec("web", "What visitors do", "web-data", tables=(totals,))
    read = ["gone.table", "shop.dim", "shop.orders", "shop.people"]
    assert read_by_products([web], [shop, web]) == read
    assert read_by_products([shop], [shop, web]) == []
