"""Sound products become plans: SQL over views, and how they can be built in part."""

import json
import re
from hashlib import sha256

import pytest

from lake_check.parsing.loader import load_domain, load_lake
from lake_desk.products.plans import check, with_plans
from lake_spec.diagnostics.errors import SpecErrors
from lake_spec.model import (
    DomainSpec,
    Equality,
    Layer,
    Lookup,
    Product,
    ProductInput,
    ProductTable,
    TimeJoin,
)
from lake_spec.model.json_codec import from_data, to_data
from tests.unit.lake_desk.products.shop import plan_of

ORDERS = "{{ current('shop.orders') }} AS o"
CUSTOMER = "{{ current('crm.customer') }} AS c"


def sql_of(shop, sql, columns, source=""):
    """The SQL of a product's plan, without backticks."""
    shop.product(sql, columns, source)
    return plan_of(shop).sql.replace("`", "")


def whole(shop, sql, columns="order_id: int, n: bigint"):
    """Why a product can only be built whole; "" if in part."""
    shop.product(sql, columns)
    return plan_of(shop).whole_because


def test_a_join_by_time_becomes_conditions_on_the_versions(shop):
    plan = plan_of(shop.enriched())
    assert plan.sql == (
        "SELECT `o`.`order_id` AS `order_id`, `c`.`segment` AS `segment`, "
        "`c`.`customer_id` IS NULL AS `lake_without_match_0` "
        "FROM `input_0` AS `o` LEFT JOIN `input_1` AS `c` "
        "ON `c`.`customer_id` = `o`.`customer_id` "
        "AND `c`.`valid_from` <= `o`.`ordered_at` AND `o`.`ordered_at` < `c`.`valid_to` "
        "AND NOT `c`.`is_deleted`"
    )
    key = ("customer_id",)
    log = ("crm.customer",)
    assert plan.inputs == (
        ProductInput(
            "input_0", "shop.orders", Layer.CURRENT, ("order_id",), ("shop.orders",)
        ),
        ProductInput("input_1", "crm.customer", Layer.HISTORY, key, log),
    )
    assert (plan.driver, plan.unit, plan.unit_columns) == (
        "input_0",
        ("order_id",),
        ("order_id",),
    )
    assert plan.driver_columns == ("customer_id", "order_id", "ordered_at")
    assert plan.time_joins == (TimeJoin("crm.customer", "lake_without_match_0"),)
    on = (Equality("customer_id", "customer_id"),)
    assert plan.lookups == (Lookup("input_1", "input_0", on),)
    assert plan.whole_because == ""


@pytest.mark.parametrize(
    "select, kind, end",
    [
        ("o.order_id, count(c.segment) AS n", "LEFT", "GROUP BY o.order_id"),
        ("o.order_id, 1 AS n", "LEFT", "GROUP BY o.order_id"),
        ("DISTINCT o.order_id, c.customer_id AS n", "LEFT", ""),
        ("o.order_id, c.customer_id AS n", "LEFT", "UNION ALL SELECT 1, 2"),
        ("o.order_id, c.customer_id AS n", "", ""),
        ("o.order_id, 1 AS n", "LEFT ANTI", ""),
    ],
)
def test_no_match_is_told_of_rows_that_were_put_together_or_left_out(
    shop, select, kind, end
):
    history = "{{ as_of(history('crm.customer'), o.ordered_at) }} AS c"
    join = f"{kind} JOIN {history} ON c.customer_id = o.customer_id"
    columns = "order_id: int, n: bigint"
    shop.product(f"SELECT {select} FROM {ORDERS} {join} {end}", columns)
    assert plan_of(shop).time_joins == ()


def test_the_columns_that_tell_no_match_rebuild_no_product(shop):
    """The digest is that of the SQL without them, which releases of before had."""
    plan = plan_of(shop.enriched())
    told = ", `c`.`customer_id` IS NULL AS `lake_without_match_0`"
    said = [to_data(each) for each in plan.inputs]
    for each in said:
        each.pop("is_plain")
    data = json.dumps([plan.sql.replace(told, ""), said], sort_keys=True)
    assert plan.digest == sha256(data.encode()).hexdigest()[:16]


def test_an_open_version_without_end_is_valid_from_its_start_on(shop):
    join = "{{ as_of(history('crm.region'), o.at) }} r ON r.region_id = o.customer_id"
    sql = sql_of(shop, f"SELECT order_id FROM {ORDERS} JOIN {join}", "order_id: int")
    assert (
        "AND r.valid_from <= o.at AND (r.valid_to IS NULL OR o.at < r.valid_to)" in sql
    )


def test_the_value_of_unknown_is_shown_where_there_is_no_row(shop):
    join = f"LEFT JOIN {CUSTOMER} ON c.customer_id = o.customer_id AND c.region_id > 0"
    unknown = ", unknown: {crm.customer: {segment: none, region_id: 0}}"
    sql = f"SELECT order_id, segment, region_id + 1 AS n FROM {ORDERS} {join}"
    made = sql_of(shop, sql, "order_id: int, segment: string, n: int", unknown)
    absent = "CASE WHEN c.customer_id IS NULL THEN CAST"
    assert made == (
        "SELECT o.order_id AS order_id, "
        f"{absent}('none' AS STRING) ELSE c.segment END AS segment, "
        f"{absent}('0' AS INT) ELSE c.region_id END + 1 AS n "
        "FROM input_0 AS o LEFT JOIN input_1 AS c "
        "ON c.customer_id = o.customer_id AND c.region_id > 0"
    )


INNER = {
    "a table of FROM": "SELECT c.order_id FROM {orders} AS c WHERE c.region = 'x'",
    "another join": "SELECT p.order_id FROM {orders} AS p LEFT JOIN {region} AS c "
    "ON c.region_id = p.customer_id WHERE c.title = 'x'",
    "the same table": "SELECT c.region_id FROM {customer} AS c WHERE c.segment = 'x'",
}


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
def test_the_value_of_unknown_is_not_for_a_subquery_with_the_same_alias(shop, inner):
    tables = {
        "orders": "shop.orders",
        "region": "crm.region",
        "customer": "crm.customer",
    }
    inner = inner.format(
        **{name: f"{{{{ current('{each}') }}}}" for name, each in tables.items()}
    )
    join = f"LEFT JOIN {CUSTOMER} ON c.customer_id = o.customer_id"
    sql = f"SELECT order_id, segment FROM {ORDERS} {join} WHERE o.order_id IN ({inner})"
    made = sql_of(
        shop,
        sql,
        "order_id: int, segment: string",
        ", unknown: {crm.customer: {segment: none}}",
    )
    case = (
        "CASE WHEN c.customer_id IS NULL THEN CAST('none' AS STRING) ELSE c.segment END"
    )
    assert f"{case} AS segment" in made and made.count("CASE") == 1


def test_the_value_of_unknown_is_seen_by_a_subquery_of_its_row(shop):
    join = f"LEFT JOIN {CUSTOMER} ON c.customer_id = o.customer_id"
    inner = "SELECT 1 FROM {{ current('crm.region') }} AS r WHERE r.title = c.segment"
    made = sql_of(
        shop,
        f"SELECT order_id FROM {ORDERS} {join} WHERE EXISTS ({inner})",
        "order_id: int",
        ", unknown: {crm.customer: {segment: none}}",
    )
    assert "r.title = CASE WHEN c.customer_id IS NULL THEN" in made


@pytest.mark.parametrize("alias", ["o", "q"])
def test_the_type_of_a_subquerys_column_is_sparks_to_decide(shop, alias):
    rows = f"SELECT o.order_id, avg(o.amount) AS n FROM {ORDERS} GROUP BY o.order_id"
    sql = f"SELECT {alias}.order_id, {alias}.n FROM ({rows}) AS {alias}"
    shop.product(sql, "order_id: int, n: 'decimal(14,6)'")
    assert shop.messages() == []


def test_stars_are_the_declared_columns(shop):
    columns = "order_id: int, region_id: int, title: string, at: timestamp"
    sql = "SELECT region_id AS order_id, * FROM {{ current('crm.region') }} AS r"
    assert sql_of(shop, sql, columns) == (
        "SELECT r.region_id AS order_id, r.region_id AS region_id, r.title AS title, "
        "r.at AS at FROM input_0 AS r"
    )


def test_from_and_its_keys_are_a_select(shop):
    shop.put(
        "shop/firsts.yml",
        """\
name: firsts
description: First order of each customer
owner: shop-data
source:
  kind: product
  from: shop.orders
  where: amount IS NOT NULL
  derive: {year: year(ordered_at)}
  deduplicate: {by: [customer_id], order_by: [ordered_at], keep: first}
key: [customer_id]
columns: {customer_id: int, order_id: int, year: int}
""",
    )
    plan = plan_of(shop, "shop.firsts")
    assert plan.sql.replace("`", "") == (
        "SELECT customer_id, order_id, year FROM (SELECT "
        "orders.customer_id AS customer_id, orders.order_id AS order_id, "
        "YEAR(orders.ordered_at) AS year, "
        "ROW_NUMBER() OVER (PARTITION BY orders.customer_id "
        "ORDER BY orders.ordered_at ASC, orders.order_id ASC) = 1 AS lake_keep "
        "FROM input_0 AS orders WHERE NOT orders.amount IS NULL) AS lake_rows "
        "WHERE lake_keep"
    )
    assert (plan.unit, plan.unit_columns) == (("customer_id",), ("customer_id",))


def test_qualify_reads_the_column_of_the_table_where_an_alias_has_its_name(shop):
    qualify = "QUALIFY row_number() OVER (PARTITION BY o.region ORDER BY o.at) = 1"
    sql = f"SELECT order_id, ordered_at AS at FROM {ORDERS} {qualify}"
    made = sql_of(shop, sql, "order_id: int, at: timestamp")
    assert "(PARTITION BY o.region ORDER BY o.at) = 1 AS lake_keep" in made


def test_a_qualify_within_another_reads_the_column_of_the_table_too(shop):
    inner = "QUALIFY row_number() OVER (PARTITION BY o.region ORDER BY o.at) = 1"
    rows = f"SELECT order_id, region, ordered_at AS at FROM {ORDERS} {inner}"
    outer = "QUALIFY row_number() OVER (PARTITION BY q.region ORDER BY q.at) = 1"
    made = sql_of(shop, f"SELECT order_id FROM ({rows}) AS q {outer}", "order_id: int")
    assert "(PARTITION BY o.region ORDER BY o.at) = 1 AS lake_keep" in made
    assert "(PARTITION BY q.region ORDER BY q.at) = 1 AS lake_keep" in made


def test_a_table_without_an_alias_has_its_own_name(shop):
    sql = "SELECT orders.order_id FROM {{ current('shop.orders') }}"
    assert sql_of(shop, sql, "order_id: int") == (
        "SELECT orders.order_id AS order_id FROM input_0 AS orders"
    )


def test_groups_are_units_by_the_columns_that_are_shown(shop):
    group = "GROUP BY o.region, o.customer_id, year(o.at)"
    sql = f"SELECT o.customer_id AS order_id, count(*) AS n FROM {ORDERS} {group}"
    shop.product(sql, "order_id: int, n: bigint")
    plan = plan_of(shop)
    assert (plan.unit, plan.unit_columns) == (("customer_id",), ("order_id",))


def test_a_lookup_may_lead_over_another(shop):
    region = "{{ current('crm.region') }} AS r ON c.region_id = r.region_id"
    join = f"JOIN {CUSTOMER} ON c.customer_id = o.customer_id LEFT JOIN {region}"
    shop.product(f"SELECT order_id FROM {ORDERS} {join}")
    assert plan_of(shop).lookups == (
        Lookup("input_1", "input_0", (Equality("customer_id", "customer_id"),)),
        Lookup("input_2", "input_1", (Equality("region_id", "region_id"),)),
    )


WHOLE = {
    "SELECT 1 AS order_id, 1L AS n": "it reads no table",
    "SELECT order_id, n FROM VALUES (1, 1L) AS t(order_id, n)": (
        "its first table is no input"
    ),
    f"SELECT max(order_id) AS order_id, count(*) AS n FROM {ORDERS}": (
        "it aggregates all rows: it has no GROUP BY"
    ),
    f"SELECT order_id, (SELECT count(*) FROM {CUSTOMER}) AS n\nFROM {ORDERS}": (
        "it has a subquery in line 1"
    ),
    f"SELECT order_id, 1L AS n FROM {ORDERS}\nUNION SELECT customer_id, 2L FROM {CUSTOMER}": (
        "it has a UNION"
    ),
    f"SELECT order_id, 1L AS n FROM {ORDERS}\nFULL JOIN {CUSTOMER}"
    " ON c.customer_id = o.customer_id": ("it has a FULL JOIN in line 2"),
    f"SELECT order_id, 1L AS n FROM {ORDERS}\nCROSS JOIN {CUSTOMER}": (
        "it has a CROSS JOIN in line 2"
    ),
    f"SELECT order_id, 1L AS n FROM {ORDERS}\nJOIN {CUSTOMER} ON c.region_id = o.customer_id": (
        "c is not joined by its whole key [customer_id] in line 2"
    ),
    f"SELECT order_id, 1L AS n FROM {ORDERS}\nJOIN {CUSTOMER}"
    " ON c.customer_id = o.customer_id OR c.region_id > 1": (
        "c is not joined by its whole key [customer_id] in line 2"
    ),
    f"SELECT order_id + 1 AS order_id, 1L AS n FROM {ORDERS}": (
        "the SELECT does not show [order_id] of shop.orders unchanged"
    ),
    f"SELECT order_id, row_number() OVER (ORDER BY at) AS n\nFROM {ORDERS}": (
        "ROW_NUMBER() in line 1 has no PARTITION BY a column of the driver"
    ),
    f"SELECT customer_id AS order_id, count(*) AS n FROM {ORDERS} GROUP BY ROLLUP (1)": (
        "its GROUP BY is not a list of columns"
    ),
    f"SELECT max(order_id) AS order_id, count(*) AS n FROM {ORDERS} GROUP BY year(at)": (
        "its GROUP BY, DISTINCT or PARTITION BY have no column in common that is one of "
        "shop.orders"
    ),
}


@pytest.mark.parametrize("sql", WHOLE)
def test_what_can_only_be_built_whole_says_why(shop, sql):
    assert whole(shop, sql) == WHOLE[sql]


IN_PART = {
    f"SELECT order_id, size(tags) AS n FROM {ORDERS}": ("order_id",),
    f"SELECT DISTINCT order_id, 1L AS n FROM {ORDERS}": ("order_id",),
    f"SELECT order_id, v AS n FROM {ORDERS} LATERAL VIEW posexplode(tags) t AS v, w": (
        "order_id",
    ),
    f"SELECT order_id, 1L AS n FROM {ORDERS} LEFT ANTI JOIN {CUSTOMER}"
    " ON c.customer_id = o.customer_id": ("order_id",),
    f"SELECT o.customer_id AS order_id, sum(count(*)) OVER (PARTITION BY o.customer_id) AS n"
    f" FROM {ORDERS} GROUP BY o.customer_id, o.region": ("customer_id",),
}


@pytest.mark.parametrize("sql", IN_PART)
def test_what_can_be_built_in_part_has_a_unit(shop, sql):
    assert whole(shop, sql) == ""
    assert plan_of(shop).unit == IN_PART[sql]


def test_validate_notes_what_is_built_whole(shop):
    shop.product(f"SELECT max(order_id) AS order_id FROM {ORDERS}")
    files, diagnostics, (note,) = check(shop.tables)
    assert (files, diagnostics) == (7, [])
    assert note.file == str(shop.tables / "shop" / "enriched.yml")
    assert str(note) == (
        "note: shop.enriched is built whole each time, because it aggregates all rows: it "
        "has no GROUP BY."
    )


def test_validate_notes_where_a_history_begins_after_what_is_joined(shop):
    shop.product(
        f"SELECT o.order_id FROM {ORDERS} LEFT JOIN"
        " {{ as_of(history('crm.customer'), o.ordered_at) }} AS c"
        " ON c.customer_id = o.customer_id"
    )
    _, diagnostics, notes = check(shop.tables)
    assert diagnostics == []
    assert [str(each) for each in notes] == [
        "note: shop.enriched reads crm.customer as of a time, and its history begins at"
        " each row's at in the first load: rows of earlier times have no match. If"
        " what was loaded was true before, declare load_effective_at in crm.customer, as"
        ' in "1900-01-01".'
    ]
    text = (shop.tables / "crm/customer.yml").read_text()
    shop.put("crm/customer.yml", f'{text}load_effective_at: "1900-01-01"\n')
    assert check(shop.tables)[2] == []


def test_a_product_of_a_dimension_is_changed_by_the_logs_of_its_tables(shop):
    shop.put(
        "crm/client.yml",
        "name: client\ndescription: Customers with their address\nowner: crm-data\n"
        "source: {kind: dimension, main: customer, joined: {table: address, "
        "rename: {at: moved_at}}}\nkey: [customer_id]\n",
    )
    shop.put(
        "crm/address.yml",
        "name: address\ndescription: Addresses of customers\nowner: crm-data\n"
        "source: {kind: feed, path: crm/address, format: {type: json}}\n"
        "key: [customer_id]\norder_by: [at]\n"
        "columns: {customer_id: int, city: string, at: timestamp}\n",
    )
    columns = "customer_id AS order_id, city, moved_at, valid_to"
    sql = f"SELECT {columns} FROM {{{{ history('crm.client') }}}}"
    shop.product(
        sql, "order_id: int, city: string, moved_at: timestamp, valid_to: timestamp"
    )
    (found,) = plan_of(shop).inputs
    assert found.logs == ("crm.customer", "crm.address")
    assert found.key == ("customer_id",)


def test_a_product_of_a_product_has_no_log(shop):
    shop.product(f"SELECT order_id FROM {ORDERS}")
    shop.put(
        "crm/more.yml",
        "name: more\ndescription: Orders again, without change\nowner: crm-data\n"
        "source: {kind: product, from: shop.enriched}\nkey: [order_id]\n"
        "columns: {order_id: bigint}\n",
    )
    (found,) = plan_of(shop, "crm.more").inputs
    assert found.is_product and found.table == "shop.enriched"


def test_only_the_plan_changes_with_the_text(shop):
    shop.product(f"SELECT order_id FROM {ORDERS}")
    first = plan_of(shop)
    shop.product(f"-- All orders.\nselect  O.order_id\nfrom {ORDERS} -- as they are")
    assert plan_of(shop) == first
    shop.product(f"SELECT order_id FROM {ORDERS} WHERE order_id > 0")
    assert plan_of(shop).digest != first.digest
    assert re.fullmatch("[0-9a-f]{16}", first.digest)


def test_a_domain_is_decoded_without_its_plans(shop):
    shop.product(f"SELECT order_id FROM {ORDERS}")
    domain = load_domain("shop", shop.tables)
    (product,) = [t for t in domain.tables if isinstance(t, ProductTable)]
    assert product.source == Product(sql="enriched.sql", reads=("shop.orders",))
    data = json.loads(json.dumps(to_data(domain)))
    assert from_data(DomainSpec, data) == domain


def test_a_release_of_wrong_products_is_refused(shop):
    shop.product(f"SELECT nope AS order_id FROM {ORDERS}")
    domains = list(load_lake(shop.tables).domains.values())
    with pytest.raises(SpecErrors, match="enriched.sql:1: unknown column 'nope'"):
        with_plans(domains, shop.tables)
