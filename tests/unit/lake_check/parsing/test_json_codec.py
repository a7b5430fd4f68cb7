"""Specs go through JSON and come back equal."""

import json
from dataclasses import replace

import pytest

from lake_check.parsing.loader import load_cluster, load_domain, load_environment
from lake_spec.diagnostics.errors import NotASpec
from lake_spec.model import (
    ClusterSpec,
    Column,
    Deduplicate,
    DomainSpec,
    EnvironmentSpec,
    Equality,
    Keep,
    Layer,
    Lookup,
    Product,
    ProductInput,
    ProductPlan,
    ProductTable,
)
from lake_spec.model.json_codec import from_data, to_data

RICH = """\
name: orders
description: Orders of the shop, one row per order
owner: sales-data
source:
  kind: feed
  path: sales/orders
  format: {type: json, null_text: [NULL_]}
  operation: {column: Op, delete: [X]}
columns:
  order_id: long
  amount: {type: "decimal(10,2)", source: [Amount, Total]}
  at: timestamp
key: [order_id]
order_by: [at]
load_effective_at: 1900-01-01
engine: streamer
current: {deletes: soft}
history: {track: [amount], open_end: 9999-12-31, surrogate_key: {column: row_key}}
storage: {type: merge_on_read, index: simple, partition_by: [order_id]}
quality:
  - {column: amount, at_least: 0, on_fail: fail}
  - {column: order_id, one_of: ["1", "2"]}
"""


@pytest.fixture
def domain(specs):
    specs.put("tables/sales/orders.yml", RICH)
    return load_domain("sales", specs.tables)


@pytest.mark.parametrize("with_defaults", [True, False])
def test_a_domain_comes_back_equal(domain, with_defaults):
    text = json.dumps(to_data(domain, with_defaults=with_defaults), sort_keys=True)
    assert from_data(DomainSpec, json.loads(text)) == domain


def test_a_cluster_and_an_environment_come_back_equal(specs):
    cluster = replace(load_cluster("standard", specs.clusters), tags=(("team", "a"),))
    environment = load_environment("dev", specs.environments)
    assert from_data(ClusterSpec, to_data(cluster)) == cluster
    assert from_data(EnvironmentSpec, to_data(environment)) == environment


def test_a_release_from_before_the_classes_of_kinds_is_read(domain):
    """Its tables say the settings of all kinds, with the defaults of those they lack."""
    source = Product(sql="totals.sql", reads=("sales.orders",))
    about = ("totals", "sales", "Totals of the orders", "sales-data", source, ("id",))
    product = ProductTable(*about, columns=(("id", Column("int")),))
    data = json.loads(json.dumps(to_data(replace(domain, tables=(product,)))))
    (table,) = data["tables"]
    assert "order_by" not in table and "history" not in table
    of_feed = to_data(domain.tables[0])
    lacked = ("order_by", "effective_at", "load_effective_at", "current", "history")
    table.update({name: of_feed[name] for name in lacked})
    assert from_data(DomainSpec, data).tables == (product,)
    with pytest.raises(NotASpec, match="order_of"):
        from_data(DomainSpec, {**data, "tables": [{**table, "order_of": []}]})


PLAN = ProductPlan(
    sql="SELECT o.id, c.segment FROM input_0 AS o LEFT JOIN input_1 AS c ON c.id = o.by",
    inputs=(
        ProductInput(
            "input_0", "shop.orders", Layer.CURRENT, ("id",), ("shop.orders",)
        ),
        ProductInput("input_1", "crm.totals", Layer.HISTORY, ("id",)),
    ),
    digest="0f3a",
    driver="input_0",
    unit=("id",),
    unit_columns=("id",),
    lookups=(Lookup("input_1", "input_0", (Equality("id", "by"),)),),
)


@pytest.mark.parametrize("with_defaults", [True, False])
def test_a_product_comes_back_equal(with_defaults):
    unknown = (("crm.totals", (("segment", "none"), ("rank", 0))),)
    product = Product(
        from_="shop.orders",
        derive=(("year", "year(at)"),),
        deduplicate=Deduplicate(("id",), ("at",), Keep.FIRST),
        unknown=unknown,
        reads=("shop.orders",),
        plan=PLAN,
    )
    data = to_data(product, with_defaults=with_defaults)
    assert data["from"] == "shop.orders"
    assert from_data(Product, json.loads(json.dumps(data))) == product


def test_an_input_without_a_change_log_is_a_product():
    assert [each.is_product for each in PLAN.inputs] == [False, True]


def test_data_is_written_as_people_write_specs(domain):
    table = to_data(domain)["tables"][0]
    assert table["domain"] == "sales"
    assert table["source"]["kind"] == "feed"
    format = {
        "type": "json",
        "null_text": ["NULL_"],
        "extended": False,
        "layout": "lines",
    }
    assert table["source"]["format"] == format
    assert table["columns"][1] == [
        "amount",
        {
            "type": "decimal(10,2)",
            "source": ["Amount", "Total"],
            "format": None,
            "numbers": None,
            "dropped": False,
            "on_type_mismatch": "refuse",
            "description": None,
            "tags": [],
            "sensitivity": None,
        },
    ]
    assert table["storage"] == {
        "type": "merge_on_read",
        "index": "simple",
        "buckets": 2,
        "partition_by": ["order_id"],
        "sort_by": [],
        "readable_as": None,
        "table_version": 8,
        "shuffle": "spark",
    }


def test_defaults_can_be_left_out(specs):
    cluster = load_cluster("standard", specs.clusters)
    assert to_data(cluster, with_defaults=False) == {"name": "standard"}


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"name": 5},
        {"name": "x", "max_huors": 1},
        {"name": "x", "max_hours": True},
        {"name": "x", "tags": ["a"]},
    ],
)
def test_data_of_another_version_is_refused(data):
    with pytest.raises(
        NotASpec, match="not a ClusterSpec of this version .* Build the release again"
    ):
        from_data(ClusterSpec, data)
