"""The columns that SQL makes a product's columns of, and what is left of their values."""

import pytest

from tests.unit.lake_desk.products.shop import plan_of

ORDERS = "{{ current('shop.orders') }} AS o"
CUSTOMER = "{{ current('crm.customer') }} AS c"
REGION = "{{ current('crm.region') }}"
CASES = {
    "as it is": (f"SELECT o.order_id, o.region AS v FROM {ORDERS}", "region copied"),
    "a cast": (
        f"SELECT o.order_id, CAST(o.region AS string) AS v FROM {ORDERS}",
        "region copied",
    ),
    "an expression": (
        f"SELECT o.order_id, sha2(o.region, 256) AS v FROM {ORDERS}",
        "region computed",
    ),
    "one of several": (
        f"SELECT o.order_id, max(o.region) AS v FROM {ORDERS} GROUP BY o.order_id",
        "region computed",
    ),
    "a list": (
        "SELECT o.order_id, array_join(sort_array(collect_set(o.region)), '') AS v "
        f"FROM {ORDERS} GROUP BY o.order_id",
        "region computed",
    ),
    "a total": (
        "SELECT o.order_id, CAST(sum(o.amount) / 2 AS string) AS v "
        f"FROM {ORDERS} GROUP BY o.order_id",
        "amount summed",
    ),
    "a count": (
        "SELECT o.order_id, CAST(count(DISTINCT upper(o.region)) + 1 AS string) AS v "
        f"FROM {ORDERS} GROUP BY o.order_id",
        "region derived",
    ),
    "a window": (
        "SELECT o.order_id, lag(o.region) OVER (PARTITION BY o.customer_id "
        f"ORDER BY o.ordered_at) AS v FROM {ORDERS}",
        "region computed",
    ),
    "a condition of rows": (
        "SELECT o.order_id, CAST(count(*) FILTER (WHERE o.region = 'x') AS string) AS v "
        f"FROM {ORDERS} GROUP BY o.order_id",
        "",
    ),
    "a query with a name": (
        f"WITH x AS (SELECT customer_id, max(name) AS m FROM {CUSTOMER} "
        f"GROUP BY customer_id) SELECT o.order_id, x.m AS v FROM {ORDERS} "
        "JOIN x ON x.customer_id = o.customer_id",
        "name computed",
    ),
    "a query in FROM": (
        f"SELECT o.order_id, q.title AS v FROM {ORDERS} LEFT JOIN (SELECT region_id, "
        f"title FROM {REGION}) q ON q.region_id = o.customer_id",
        "title copied",
    ),
    "a query for one value": (
        f"SELECT o.order_id, (SELECT max(r.title) FROM {REGION} AS r "
        f"WHERE r.region_id = o.customer_id) AS v FROM {ORDERS}",
        "title computed",
    ),
    "a condition by a query": (
        "SELECT o.order_id, CASE WHEN o.region IN (SELECT c.name FROM "
        f"{CUSTOMER}) THEN 'a' ELSE 'b' END AS v FROM {ORDERS}",
        "name computed, region computed",
    ),
    "both sides of a union": (
        f"SELECT order_id, region AS v FROM {ORDERS} UNION ALL "
        f"SELECT customer_id, name FROM {CUSTOMER}",
        "name copied, region copied",
    ),
    "whether there are rows": (
        "SELECT o.order_id, CASE WHEN EXISTS (SELECT r.title FROM "
        f"{REGION} AS r WHERE r.region_id = o.customer_id) THEN o.region ELSE 'b' END "
        f"AS v FROM {ORDERS}",
        "region computed",
    ),
    "without what another table has": (
        f"SELECT order_id, region AS v FROM {ORDERS} EXCEPT "
        f"SELECT customer_id, name FROM {CUSTOMER}",
        "region copied",
    ),
    "what another table has too": (
        f"SELECT order_id, region AS v FROM {ORDERS} INTERSECT "
        f"SELECT customer_id, name FROM {CUSTOMER}",
        "region copied",
    ),
    "an alias that is the name of a query": (
        f"WITH q AS (SELECT region_id, title AS region FROM {REGION}) "
        "SELECT q.order_id, (SELECT max(concat(c.name, q.region)) FROM "
        f"{CUSTOMER} WHERE c.customer_id = q.customer_id) AS v "
        "FROM {{ current('shop.orders') }} AS q",
        "name computed, region computed",
    ),
    "rows of a function": (
        f"SELECT order_id, v FROM {ORDERS} LATERAL VIEW explode(o.tags) t AS v",
        "tags computed",
    ),
    "rows of no table": (
        "SELECT order_id, v FROM VALUES (1, 'x') AS t(order_id, v)",
        "",
    ),
    # Searched once for each reader, these queries would be read 3 ** 40 times.
    "a chain of queries": (
        f"WITH q0 AS (SELECT order_id, region AS v FROM {ORDERS}), "
        + ", ".join(
            f"q{n + 1} AS (SELECT order_id, CASE WHEN v > 'x' THEN v ELSE upper(v) END "
            f"AS v FROM q{n})"
            for n in range(40)
        )
        + " SELECT order_id, v FROM q40",
        "region computed",
    ),
    "the way on which more is left": (
        "SELECT o.order_id, CASE WHEN count(o.region) > 1 THEN max(o.region) END AS v "
        f"FROM {ORDERS} GROUP BY o.order_id",
        "region computed",
    ),
}


@pytest.mark.parametrize(("sql", "expected"), CASES.values(), ids=CASES)
def test_a_column_comes_from_the_columns_of_its_expression(shop, sql, expected):
    shop.product(sql, "order_id: int, v: string")
    columns = [each for each in plan_of(shop).columns if each.column == "v"]
    found = sorted(f"{each.source} {each.how.value}" for each in columns)
    assert ", ".join(found) == expected
