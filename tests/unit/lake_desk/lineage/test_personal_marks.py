"""Personal marks follow values: through dimensions, products and domains."""

from __future__ import annotations

import pytest

from lake_check.parsing.loader import load_lake
from lake_desk.products.plans import check, with_plans
from lake_spec.lineage.sensitivity import ColumnSensitivity, Mark
from lake_spec.model import Column, Product, ProductTable, Sensitivity
from tests.unit.lake_desk.products.shop import DOMAIN, GRANTS, Shop

CUSTOMER = """\
name: customer
description: The customers of all shops
owner: crm-data
source: {kind: feed, path: crm/customer, format: {type: json}}
key: [customer_id]
order_by: [at]
columns:
  customer_id: int
  email: {type: string, sensitivity: personal}
  note: {type: string, sensitivity: internal}
  at: timestamp
"""
SQL = """\
SELECT c.customer_id AS order_id, %s AS v FROM {{ current('crm.customer') }} AS c
GROUP BY c.customer_id, c.email
"""


@pytest.fixture
def shop(tmp_path) -> Shop:
    made = Shop(tmp_path)
    made.put("crm/_domain.yml", DOMAIN.format("crm") + GRANTS)
    made.put("crm/customer.yml", CUSTOMER)
    return made


def marks(shop, *, with_sql=True) -> ColumnSensitivity:
    domains = list(load_lake(shop.tables).domains.values())
    domains = with_plans(domains, shop.tables) if with_sql else domains
    return ColumnSensitivity(t for each in domains for t in each.tables)


def mark(shop, **more) -> str:
    """The sensitivity of the product's column `v` and where it is from."""
    found = marks(shop, **more).columns("shop.enriched")["v"]
    origin = f"{found.source.table}.{found.source.column}" if found.source else ""
    return f"{found.sensitivity.value} {origin or found.reads}".strip()


FROM = "personal crm.customer.email"


@pytest.mark.parametrize(
    ("value", "declared", "expected", "is_warned"),
    [
        ("c.email", "", FROM, False),
        ("c.email", ", sensitivity: personal", "personal", False),
        ("c.email", ", sensitivity: none", FROM, True),
        ("upper(c.email)", "", FROM, False),
        ("upper(c.email)", ", sensitivity: internal", "internal", True),
        ("max(c.note)", "", "internal crm.customer.note", False),
        ("max(c.note)", ", sensitivity: personal", "personal", False),
        ("CAST(avg(length(c.email)) AS string)", "", FROM, False),
        ("CAST(avg(length(c.email)) AS string)", ", sensitivity: none", "none", False),
        ("CAST(count(c.email) AS string)", "", "none", False),
        ("CAST(c.customer_id AS string)", "", "none", False),
    ],
)
def test_a_products_column_has_the_sensitivity_of_its_values(
    shop, value, declared, expected, is_warned
):
    columns = f"order_id: int, v: {{type: string{declared}}}"
    shop.product(SQL % value, columns)
    assert mark(shop) == expected
    files, faults, notes = check(shop.tables)
    warnings = [each for each in notes if each.kind == "warning"]
    assert faults == [] and len(warnings) == is_warned


def test_the_warning_says_where_and_what_to_do(shop):
    columns = "order_id: int, v: {type: string, sensitivity: none}"
    shop.product(SQL % "c.email", columns)
    _, _, notes = check(shop.tables)
    assert str(notes[0]) == (
        f"warning: {shop.tables}/shop/enriched.yml:6: columns.v.sensitivity: 'v' has the "
        "values of crm.customer.email, which is personal, and declares none. Write "
        "`sensitivity: personal`, or remove the key. [lowered-sensitivity]"
    )


@pytest.mark.parametrize(
    ("value", "check_of_v", "is_refused"),
    [
        (
            "length(c.email)",
            "{kind: accepted_range, column: v, aggregate: avg, at_most: 9}",
            True,
        ),
        ("length(c.email)", "{kind: drift, column: v, aggregate: max, share: 1}", True),
        ("length(c.email)", "{kind: null_share, column: v, at_most: 0.5}", False),
        ("length(c.email)", "{kind: drift, share: 1}", False),
        (
            "c.customer_id",
            "{kind: accepted_range, column: v, aggregate: avg, at_most: 9}",
            False,
        ),
    ],
)
def test_no_check_shows_values_that_are_personal_by_their_origin(
    shop, value, check_of_v, is_refused
):
    shop.product(SQL % value, "order_id: int, v: int")
    spec = shop.tables / "shop/enriched.yml"
    spec.write_text(f"{spec.read_text()}checks:\n  - {check_of_v}\n")
    expected = (
        "shop/enriched.yml:8: checks[0].column: got 'v'. The result is kept and shown, and "
        "its values are data of persons: they come from crm.customer.email. Name another "
        "column. [checks-show-no-values]"
    )
    assert shop.messages() == ([expected] if is_refused else [])


VISITS = """\
name: visits
description: Visits with the year of birth of the customer
owner: crm-data
source:
  kind: feed
  path: crm/visits
  format: {type: json}
  enrich: [{table: customer, by: {customer: customer_id}, columns: [born]}]
key: [id]
order_by: [at]
columns: {id: int, customer: int, at: timestamp}
checks: [{kind: accepted_range, column: born, aggregate: min, at_least: 1900}]
"""


def test_nor_values_that_a_reference_table_gives(shop):
    born = "  born: {type: int, sensitivity: personal}\n"
    shop.put("crm/customer.yml", CUSTOMER + born)
    shop.put("crm/visits.yml", VISITS)
    (found,) = shop.messages()
    assert "checks[0].column: got 'born'" in found
    assert "they come from crm.customer.born" in found


@pytest.mark.parametrize(
    ("declared", "expected"),
    [("", "personal crm.customer"), (", sensitivity: none", "none")],
)
def test_without_a_plan_what_sql_makes_of_a_personal_table_is_personal(
    shop, declared, expected
):
    columns = f"order_id: int, v: {{type: string{declared}}}"
    shop.product(SQL % "CAST(count(*) AS string)", columns)
    assert mark(shop, with_sql=False) == expected


def test_a_product_of_a_product_knows_the_first_column(shop):
    shop.product(SQL % "lower(c.email)", "order_id: int, v: string")
    shop.put(
        "shop/outer.yml",
        "name: outer\ndescription: Rows of the other product\nowner: shop-data\n"
        "source: {kind: product, from: shop.enriched}\n"
        "key: [order_id]\ncolumns: {order_id: int, v: string}\n",
    )
    found = marks(shop).columns("shop.outer")["v"]
    assert (found.source.table, found.source.column) == ("crm.customer", "email")
    assert marks(shop).is_guarded("shop.outer")


def test_a_table_that_is_not_known_counts_as_personal():
    product = ProductTable(
        "p",
        "shop",
        "Made",
        "shop-data",
        Product(sql="p.sql", reads=("crm.customer",)),
        ("id",),
        columns=(("id", Column("int")),),
    )
    found = ColumnSensitivity([product])
    assert found.columns("shop.p") == {
        "id": Mark(Sensitivity.PERSONAL, reads="crm.customer")
    }
