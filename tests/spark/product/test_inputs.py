"""Products of a dimension and of tables of another domain, and an erase in these.

The domain crm has customers, their addresses and a dimension of both, which products of
the domain tests read as of the times of its orders.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Sequence

import pytest

from lake_spec.model import Storage, TableSpec
from tests.spark.erasing import CANARY, erased, files_with
from tests.kinds import TABLE_TYPES
from tests.spark.lake import DOMAIN
from tests.spark.stall import FILES, Stall, specs_of

GRANT = "table_grants: [{tables: [customer, dim_customer], to: [tests]}]\n"
CRM = {
    "_domain": DOMAIN.replace("tests", "crm", 1) + GRANT,
    "customer": FILES["customer"],
    "address": """
columns: {id: int, city: string, since: timestamp}
key: [id]
order_by: [since]
effective_at: since
""",
    "dim_customer": """
source:
  kind: dimension
  main: {table: customer, columns: [segment]}
  joined: {table: address, columns: [city]}
key: [id]
""",
}
TESTS = {
    "orders": FILES["orders"],
    "located": """
columns: {order_id: int, segment: string, city: string}
key: [order_id]
source:
  kind: product
  sql: located.sql
  unknown: {crm.dim_customer: {segment: Unknown}}
""",
    "by_city": """
columns: {city: string, customers: bigint}
key: [city]
source: {kind: product, sql: by_city.sql}
""",
    "enriched": """
columns: {order_id: int, segment: string}
key: [order_id]
source: {kind: product, sql: enriched.sql}
""",
    "by_segment": """
columns: {segment: string, orders: bigint}
key: [segment]
source: {kind: product, sql: by_segment.sql}
""",
}
SQL = {
    "located": """
SELECT o.order_id, d.segment, d.city
FROM {{ current('tests.orders') }} AS o
LEFT JOIN {{ as_of(history('crm.dim_customer'), o.ordered_at) }} AS d ON d.id = o.buyer
""",
    "by_city": """
SELECT d.city, count(*) AS customers
FROM {{ current('crm.dim_customer') }} AS d WHERE d.city IS NOT NULL GROUP BY d.city
""",
    "enriched": """
SELECT o.order_id, c.segment
FROM {{ current('tests.orders') }} AS o
LEFT JOIN {{ as_of(history('crm.customer'), o.ordered_at) }} AS c ON c.id = o.buyer
""",
    "by_segment": """
SELECT e.segment, count(*) AS orders
FROM {{ current('tests.enriched') }} AS e WHERE e.segment IS NOT NULL GROUP BY e.segment
""",
}
ORDERS = """U,1,10,2026-01-05,5,2026-01-05
U,2,10,2026-01-15,7,2026-01-15
U,3,20,2026-01-15,9,2026-01-15
"""


@lru_cache(maxsize=None)
def all_specs() -> Sequence[TableSpec]:
    """The tables of both domains, as releases have them."""
    return specs_of(TESTS, SQL, crm=CRM)


def built(stall: Stall, *names: str):
    """What each of these products did by a run."""
    reports = [stall.lakes[name].done("product")[0] for name in names]
    return [(each.built, each.upserted, each.deleted) for each in reports]


@pytest.fixture
def located(spark, tmp_path):
    """Two products of the dimension."""
    stall = Stall(spark, tmp_path, ["dim_customer", "located", "by_city"], all_specs())
    stall.take(
        orders=ORDERS,
        customer="U,10,new,n,2026-01-01\nU,20,new,n,2026-01-01\n",
        address="U,10,Bonn,2026-01-01\nU,10,Cork,2026-01-10\n",
    )
    stall.lakes["dim_customer"].done("dimension")
    assert built(stall, "located", "by_city") == [
        ("whole: it was never built", 3, 0),
        ("whole: it was never built", 1, 0),
    ]
    return stall


def test_a_fact_has_the_row_of_a_dimension_as_of_its_time(located):
    assert located.rows("located") == [
        ("1", "new", "Bonn"),
        ("2", "new", "Cork"),
        ("3", "new", None),
    ]
    assert located.rows("by_city") == [("Cork", "1")]


@pytest.mark.nightly
def test_rows_without_a_version_at_their_time_are_counted(spark, tmp_path):
    stall = Stall(spark, tmp_path, ["enriched"], all_specs())
    stall.take(orders=ORDERS, customer="U,10,new,n,2026-01-10\n")
    words = "no version of crm.customer was valid at its time"
    (whole,) = stall.lakes["enriched"].done("product")
    assert (whole.rules, whole.upserted) == ({words: 2}, 3)
    (warning,) = whole.warnings
    assert warning.startswith(f"FewMatches: 2 of 3 row(s) (67%): {words}. Where")
    stall.take(customer="U,20,new,n,2026-01-01\n")
    (part,) = stall.lakes["enriched"].done("product")
    assert (part.built, part.rules, part.warnings) == ("in part", {words: 0}, [])
    assert stall.lakes["enriched"].verify().error is None
    assert stall.rows("enriched") == [("1", None), ("2", "new"), ("3", "new")]


@pytest.mark.nightly
def test_each_side_of_a_dimension_reopens_only_the_facts_of_its_keys(located):
    located.take(address="U,20,Oslo,2026-01-12\n")
    located.lakes["dim_customer"].done("dimension")
    assert built(located, "located", "by_city") == [("in part", 1, 0)] * 2
    located.take(customer="U,10,gold,n,2026-01-04\nD,20,,,2026-01-10\n")
    located.lakes["dim_customer"].done("dimension")
    assert built(located, "located", "by_city") == [
        ("in part", 3, 0),
        ("in part", 0, 1),
    ]
    assert located.rows("located") == [
        ("1", "gold", "Bonn"),
        ("2", "gold", "Cork"),
        ("3", "Unknown", None),
    ]
    assert located.rows("by_city") == [("Cork", "1")]


@pytest.mark.nightly
def test_a_table_of_a_dimension_that_moved_ahead_of_it_changes_no_product(located):
    located.take(address="U,20,Oslo,2026-01-12\n")
    before = located.lakes["located"].files()
    for name in ("located", "by_city"):
        assert located.lakes[name].run("product").state == "nothing_new"
    assert located.lakes["located"].files() == before


@pytest.mark.nightly
def test_products_of_a_dimension_are_verified_and_follow_its_rebuild(located):
    located.lakes["dim_customer"].done("rebuild_dimension")
    for name in ("located", "by_city"):
        assert located.lakes[name].verify().state == "done"
        assert located.lakes[name].run("product").state == "nothing_new"
    located.take(address="U,20,Oslo,2026-01-12\n")
    located.lakes["dim_customer"].done("dimension")
    assert built(located, "located", "by_city") == [("in part", 1, 0)] * 2
    located.lakes["dim_customer"].done("rebuild_dimension")
    located.take(address="U,20,Bern,2026-01-13\n")
    located.lakes["dim_customer"].done("dimension")
    assert built(located, "located", "by_city") == [
        ("whole: crm.dim_customer history was rebuilt", 1, 0),
        ("whole: crm.dim_customer current was rebuilt", 1, 1),
    ]


@pytest.mark.nightly  # by day: erasure/test_erase_of_inputs.py
@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_an_erase_of_another_domain_leaves_no_file_of_a_product(spark, tmp_path, kind):
    products = ("enriched", "by_segment")
    stall = Stall(spark, tmp_path, products, all_specs())
    for name in stall.lakes:
        stall.redefine(name, storage=Storage(type=kind, buckets=1))
    segments = f"U,10,{CANARY},n,2026-01-01\nU,20,new,n,2026-01-01\n"
    stall.take(orders=ORDERS, customer=segments)
    built(stall, *products)
    stall.take(orders="U,2,10,2026-01-16,7,2026-01-17\n")
    built(stall, *products)
    assert (CANARY, "2") in stall.rows("by_segment")
    customer = stall.lakes["customer"]
    erased(customer, {"id": "10"})
    held = {
        file.relative_to(tmp_path).parts[2] for file in files_with(customer, CANARY)
    }
    assert held == set(products)
    assert built(stall, *products) == [
        ("whole: keys were erased in crm.customer history", 3, 0),
        ("whole: keys were erased in tests.enriched current", 1, 0),
    ]
    assert stall.rows("by_segment") == [("new", "1")]
    assert stall.rows("enriched", "segment") == [("new",), (None,), (None,)]
    assert files_with(customer, CANARY) == []
    for name in products:
        assert stall.lakes[name].run("product").state == "nothing_new"
