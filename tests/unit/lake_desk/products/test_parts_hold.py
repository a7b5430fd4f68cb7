"""A change of inputs changes only the product's rows of the units that the plan leads to.

Random products over random rows in SQLite: their rows before and after random changes,
outside of the affected units, must be equal; the rows within must be those of the SQL
over the affected rows of the driver alone. Affected units are found as a step finds them:
changed rows of the driver, before and after, and rows that lookups lead to.
"""

import random
import sqlite3
from collections import Counter
from functools import lru_cache

import pytest
import sqlglot

from tests.kinds import one_by_day
from tests.unit.lake_desk.products.shop import DOMAIN, GRANTS, Shop
from tests.unit.lake_desk.products.test_plans import plan_of

TABLES = {
    "shop.orders": ("order_id", "customer_id", "region", "n"),
    "crm.customer": ("customer_id", "segment", "region_id"),
    "crm.region": ("region_id", "title"),
}
JOINS = (
    "",
    "JOIN {{ current('crm.customer') }} AS c ON c.customer_id = o.customer_id",
    "LEFT JOIN {{ current('crm.customer') }} AS c ON c.customer_id = o.customer_id"
    " AND c.segment > 1",
    "LEFT JOIN {{ current('crm.customer') }} AS c ON o.customer_id = c.customer_id\n"
    "JOIN {{ current('crm.region') }} AS r ON r.region_id = c.region_id",
    "LEFT JOIN {{ current('crm.customer') }} AS c ON c.customer_id = o.customer_id\n"
    "LEFT JOIN {{ current('crm.region') }} AS r ON r.region_id = o.region",
)
SHAPES = {
    "rows": "SELECT o.order_id AS k, o.n AS a, {value} AS b FROM {source} {where}",
    "plain rows": "SELECT o.order_id AS k, {value} AS a, 1 AS b FROM {source}",
    "groups": "SELECT o.customer_id AS k, sum(o.n) AS a, count({value}) AS b"
    " FROM {source} {where} GROUP BY o.customer_id",
    "finer groups": "SELECT o.region AS k, max({value}) AS a, o.customer_id + 0 AS b"
    " FROM {source} GROUP BY o.customer_id + 0, o.region",
    "windows": "SELECT o.customer_id AS k, o.order_id AS a,"
    " sum({value}) OVER (PARTITION BY o.customer_id, o.region) AS b FROM {source}",
    "the first": "SELECT o.region AS k, o.order_id AS a, {value} AS b FROM {source} {where}"
    " QUALIFY row_number() OVER (PARTITION BY o.region ORDER BY o.n, o.order_id) = 1",
    "distinct": "SELECT DISTINCT o.region AS k, {value} AS a, 0 AS b FROM {source}",
}


@pytest.fixture
def shop(tmp_path):
    """Three tables of small numbers, of two domains."""
    shop = Shop.__new__(Shop)
    shop.tables = tmp_path / "tables"
    for domain in ("shop", "crm"):
        shop.put(f"{domain}/_domain.yml", DOMAIN.format(domain) + GRANTS)
    for table, columns in TABLES.items():
        domain, name = table.split(".")
        typed = ", ".join(f"{each}: int" for each in columns)
        shop.put(
            f"{domain}/{name}.yml",
            f"name: {name}\ndescription: The rows of {name}, numbers\nowner: shop-data\n"
            f"source: {{kind: snapshot, path: {domain}/{name}, files: x, format: "
            "{type: csv}, snapshot_time: {pattern: '(.*)'}}\n"
            f"key: [{columns[0]}]\ncolumns: {{{typed}}}\n",
        )
    return shop


def written(dice, shape):
    """Return the SQL of a random product of a shape."""
    join = dice.choice(JOINS)
    values = ["o.n", *(["c.segment"] if " AS c" in join else [])]
    values += ["r.title"] if " AS r" in join else []
    value = dice.choice(values)
    where = dice.choice(["", f"WHERE {value} > 1", "WHERE o.n < 4"])
    source = "{{ current('shop.orders') }} AS o " + join
    return SHAPES[shape].format(value=value, source=source, where=where)


def random_rows(dice):
    """Return rows by table and key; a few values meet often, some are null."""

    def value():
        return dice.choice([None, 1, 2, 3, 4])

    rows = {}
    for table, columns in TABLES.items():
        keys = dice.sample(
            range(1, 9 if table == "shop.orders" else 5), dice.randint(1, 4)
        )
        rows[table] = {key: (key, *(value() for _ in columns[1:])) for key in keys}
    return rows


def changed(dice, rows):
    """Return other rows, and the changed keys by table: some gone, some new, some other."""
    other = random_rows(dice)
    after, keys = {}, {}
    for table, now in rows.items():
        touched = [key for key in {*now, *other[table]} if dice.random() < 0.3]
        after[table] = {k: row for k, row in now.items() if k not in touched}
        after[table].update({k: other[table][k] for k in touched if k in other[table]})
        keys[table] = {k for k in touched if now.get(k) != after[table].get(k)}
    return after, keys


def answer(plan, rows, driver_rows=None):
    """Return the product's rows, as SQLite makes them.

    Of a restricted driver, it has the columns that a step reads of it alone.
    """
    database = sqlite3.connect(":memory:")
    for each in plan.inputs:
        columns = TABLES[each.table]
        found = list(rows[each.table].values())
        if each.view == plan.driver and driver_rows is not None:
            assert plan.driver_columns
            kept = [c for c in columns if c in (*plan.unit, *plan.driver_columns)]
            places = [columns.index(column) for column in kept]
            found = [[row[at] for at in places] for row in driver_rows]
            columns = kept
        database.execute(f"CREATE TABLE {each.view} ({', '.join(columns)})")
        marks = ", ".join("?" for _ in columns)
        database.executemany(f"INSERT INTO {each.view} VALUES ({marks})", found)
    return Counter(database.execute(for_sqlite(plan.sql)))


@lru_cache(maxsize=None)
def for_sqlite(sql):
    (found,) = sqlglot.transpile(sql, read="spark", write="sqlite")
    return found


def affected(plan, states, keys):
    """Return the driver's rows that changes may change, before and after."""
    met = {plan.driver: keys[plan.input(plan.driver).table]}
    for lookup in plan.lookups:
        met[lookup.view] = set(keys[plan.input(lookup.view).table])
    for lookup in reversed(plan.lookups):  # each leads over the one before
        table = plan.input(lookup.other).table
        (on,) = lookup.on
        at = TABLES[table].index(on.other)
        for rows in states:
            found = {k for k, row in rows[table].items() if row[at] in met[lookup.view]}
            met[lookup.other] = met[lookup.other] | found
    driver = plan.input(plan.driver).table
    return [
        row
        for rows in states
        for key, row in rows[driver].items()
        if key in met[plan.driver]
    ]


@pytest.mark.parametrize("products", one_by_day([3, 12]))
@pytest.mark.parametrize("shape", SHAPES)
def test_only_rows_of_affected_units_change(shop, shape, products):
    dice = random.Random(shape)
    driver = TABLES["shop.orders"]
    moved = 0
    for _ in range(products):
        sql = written(dice, shape)
        shop.product(sql, "k: int, a: bigint, b: bigint")
        text = (shop.tables / "shop/enriched.yml").read_text()
        shop.put("shop/enriched.yml", text.replace("key: [order_id]", "key: [k]"))
        plan = plan_of(shop)
        assert plan.whole_because == "", sql
        columns = [driver.index(name) for name in plan.unit]
        shown = [("k", "a", "b").index(name) for name in plan.unit_columns]
        for _ in range(20):
            before = random_rows(dice)
            after, keys = changed(dice, before)
            rows = affected(plan, (before, after), keys)
            units = {tuple(row[at] for at in columns) for row in rows}
            old, new = answer(plan, before), answer(plan, after)

            def within(found, is_within):
                return Counter(
                    {
                        row: count
                        for row, count in found.items()
                        if (tuple(row[at] for at in shown) in units) == is_within
                    }
                )

            assert within(old, False) == within(new, False), (sql, before, after)
            own = [
                row
                for row in after["shop.orders"].values()
                if tuple(row[at] for at in columns) in units
            ]
            assert answer(plan, after, own) == within(new, True), (sql, before, after)
            moved += old != new
    assert moved > 3 * products
