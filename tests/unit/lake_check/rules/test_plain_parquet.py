"""Plain Parquet: products alone, without settings of Hudi, in folders that have a range."""

import pytest

from lake_check.parsing.loader import load_domain
from lake_desk.export.data_contract import data_contract
from lake_desk.products.plans import with_plans
from lake_spec.model import EnvironmentSpec, ReadableAs, TableType

from tests.unit.lake_check.rules.test_product import FILE, PRODUCT, SQL
from tests.unit.lake_check.spec_files import FEED, diagnostics_of_file

PLAIN = {"storage": {"type": "parquet"}}


@pytest.fixture
def shop(specs):
    specs.put("tables/sales/totals.sql", SQL)
    return specs


@pytest.mark.parametrize(
    "storage, message",
    [
        (
            {"index": "simple"},
            "storage.index: got 'simple'. Remove it: it is a setting of Hudi, and the "
            "table is plain Parquet.",
        ),
        (
            {"readable_as": ["delta"]},
            "storage.readable_as: got ['delta']. Remove it: it is a setting of Hudi, and "
            "the table is plain Parquet.",
        ),
        (
            {"table_version": 6},
            "storage.table_version: got 6. Remove it: it is a setting of Hudi, and the "
            "table is plain Parquet.",
        ),
        (
            {"shuffle": "hudi"},
            "storage.shuffle: got 'hudi'. Remove it: it is a setting of Hudi, and the "
            "table is plain Parquet.",
        ),
        (
            {"partition_by": ["status"]},
            "storage.partition_by[0]: got 'status'. It is string: partition plain Parquet by "
            "whole numbers or dates, or choose copy_on_write.",
        ),
    ],
)
def test_settings_that_plain_parquet_cannot_have_are_refused(shop, storage, message):
    changes = {"storage": {"type": "parquet", **storage}}
    assert diagnostics_of_file(shop, FILE, PRODUCT, changes) == [message]


def test_whole_numbers_and_dates_name_folders(shop):
    columns = {**PRODUCT["columns"], "day": "date"}
    text = SQL.replace("AS pieces", "AS pieces, max(DATE '2026-01-01') AS day")
    shop.put("tables/sales/totals.sql", text)
    storage = {"type": "parquet", "partition_by": ["pieces", "day"]}
    changes = {"columns": columns, "storage": storage}
    assert diagnostics_of_file(shop, FILE, PRODUCT, changes) == []


def test_a_table_of_landing_files_is_never_plain_parquet(specs):
    assert diagnostics_of_file(specs, "tables/sales/orders.yml", FEED, PLAIN) == [
        "storage.type: got 'parquet'. Only products can be: each commit writes all rows. "
        "Choose copy_on_write or merge_on_read."
    ]


def test_it_is_built_whole_and_published_as_nothing_else(shop):
    assert diagnostics_of_file(shop, FILE, PRODUCT, PLAIN) == []
    published = EnvironmentSpec(
        **{name: "s3://a/b" for name in ("landing", "warehouse", "artifacts", "runs")},
        **{"name": "prod", "region": "eu-west-1", "logs": "s3://a/l"},
        readable_as=(ReadableAs.ICEBERG,),
    )
    domain = load_domain("sales", shop.tables, published)
    (planned,) = with_plans([domain], shop.tables)
    totals = {each.name: each for each in planned.tables}["totals"]
    assert totals.storage.type is TableType.PARQUET
    assert totals.storage.formats == ()
    assert totals.source.plan.whole_because == "it is plain Parquet (storage.type)"
    (files,) = data_contract(planned, "totals", published)["servers"]
    assert files["format"] == "parquet"
