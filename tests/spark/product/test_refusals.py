"""What stops the build of a product before anything is written, and what it says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lake_spec.model import Column, Maintenance, OnFail, Rule, Storage
from tests.spark.stall import Stall

ORDERS = """U,1,10,2026-01-05,5,2026-01-05
U,2,10,2026-01-15,7,2026-01-15
U,3,,2026-01-15,9,2026-01-15
"""
CUSTOMERS = "U,10,new,n,2026-01-01\n"


@pytest.fixture(scope="module")
def stall(spark, tmp_path_factory):
    stall = Stall(spark, tmp_path_factory.mktemp("stall"), ["enriched", "by_buyer"])
    stall.take(orders=ORDERS, customer=CUSTOMERS)
    stall.lakes["enriched"].done("product")
    return stall


def other(stall, **changes):
    """The same lakes, with another plan of one product."""
    again = Stall(stall.lakes["enriched"].spark, stall.root, list(stall.lakes))
    return again.replan("enriched", digest="other", **changes)


def refused(lake, stage="product", **own):
    before = lake.files()
    report = lake.run(stage, **own)
    assert lake.files() == before
    return report.error["type"], report.error["message"]


def test_two_rows_of_one_key(stall):
    sql = stall.lakes["enriched"].spec.source.plan.sql
    assert refused(other(stall, sql=f"{sql} UNION ALL {sql}")) == (
        "WrongProductRows",
        "tests.enriched: the key (order_id) is that of another row too: 6 row(s), for "
        "example key 1. Nothing was written. Correct the SQL, or the rows of its inputs.",
    )


def test_a_row_without_a_key(stall):
    sql = stall.lakes["enriched"].spec.source.plan.sql
    lake = other(
        stall,
        sql=f"SELECT amount, ordered_at, segment, nullif(order_id, 2) AS order_id FROM ({sql})",
        time_joins=(),
    )
    kind, message = refused(lake)
    assert kind == "WrongProductRows"
    assert "the key (order_id) has no value: 1 row(s)" in message


def test_a_column_that_no_input_has(stall):
    sql = stall.lakes["enriched"].spec.source.plan.sql
    kind, message = refused(other(stall, sql=sql.replace("amount", "price")))
    assert kind == "ProductMismatch"
    assert "its SQL does not fit the columns that its inputs have" in message
    assert "(tests.orders current, tests.customer history)" in message
    assert "price" in message


def test_a_type_that_does_not_hold_every_value(stall):
    columns = dict(stall.lakes["enriched"].spec.columns)
    columns["ordered_at"] = Column(type="date")
    lake = stall.lakes["enriched"]
    lake = replace_spec(stall, columns=tuple(columns.items()))
    assert refused(lake) == (
        "ProductMismatch",
        "tests.enriched: column 'ordered_at' is timestamp in its SQL and date in the "
        "spec, which does not hold every timestamp. Declare timestamp, or write "
        "CAST(... AS date) in the SQL.",
    )


def replace_spec(stall, name="enriched", **changes):
    again = Stall(stall.lakes[name].spark, stall.root, list(stall.lakes))
    return again.redefine(name, **changes)


@pytest.mark.nightly
def test_a_wider_type_builds_it_whole(spark, tmp_path):
    stall = Stall(spark, tmp_path, ["enriched"])
    stall.take(orders=ORDERS, customer=CUSTOMERS)
    stall.lakes["enriched"].done("product")
    columns = dict(stall.lakes["enriched"].spec.columns)
    columns["amount"] = Column(type="bigint")
    lake = replace_spec(stall, columns=tuple(columns.items()))
    (report,) = lake.done("product")
    assert report.built.startswith("whole: columns was ")
    assert dict(lake.current.dtypes)["amount"] == "bigint"


@pytest.mark.parametrize("on_fail", [OnFail.FAIL, OnFail.QUARANTINE])
def test_a_quality_rule(stall, on_fail):
    rule = Rule("amount", at_most=8, on_fail=on_fail)
    lake = replace_spec(stall, quality=(rule,))
    kind, message = refused(lake, "rebuild_product")
    assert kind == "WrongProductRows"
    assert "amount is above 8: 1 row(s), for example key 3" in message


def test_a_quality_rule_that_only_warns(spark, tmp_path):
    stall = Stall(spark, tmp_path, ["enriched"])
    stall.take(orders=ORDERS, customer=CUSTOMERS)
    rule = Rule("amount", at_most=8, on_fail=OnFail.WARN)
    (report,) = replace_spec(stall, quality=(rule,)).done("product")
    assert report.warnings == ["FailedQualityRule: 1 row(s): amount is above 8"]


def test_a_release_without_its_compiled_sql(stall):
    source = stall.lakes["enriched"].spec.source
    lake = replace_spec(stall, source=replace(source, plan=None))
    kind, message = refused(lake)
    assert kind == "ProductMismatch"
    assert "Build the release again and deploy it." in message


def test_other_partitions(stall):
    lake = replace_spec(stall, storage=Storage(buckets=1, partition_by=("segment",)))
    kind, message = refused(lake)
    assert kind == "SettingsChanged"
    assert 'storage.partition_by was [], now ["segment"]' in message


@pytest.mark.nightly
def test_a_key_that_rows_of_another_unit_have(spark, tmp_path):
    stall = Stall(spark, tmp_path, ["enriched"])
    stall.take(orders=ORDERS, customer=CUSTOMERS)
    lake = stall.redefine("enriched", key=("ordered_at",))
    stall.take(orders="D,3,,,,2026-01-16\n")
    lake.done("product")
    stall.take(orders="U,4,10,2026-01-05,5,2026-01-20\n")
    kind, message = refused(lake)
    assert kind == "WrongProductRows"
    assert "the key (ordered_at) is that of another row too, for example key" in message


def test_a_dry_run_says_what_it_would_build(stall, capsys):
    lake = other(stall)
    before = lake.files()
    assert lake.run("product", dry_run=True).state == "dry_run"
    assert lake.files() == before
    words = "would be built whole: its SQL or its inputs are others"
    assert words in capsys.readouterr().out


@pytest.fixture
def own(spark, tmp_path):
    stall = Stall(spark, tmp_path, ["enriched"])
    for name, lake in stall.lakes.items():
        stall.redefine(name, maintenance=Maintenance(keep_commits=1))
    stall.take(orders=ORDERS, customer=CUSTOMERS)
    stall.lakes["enriched"].done("product")
    return stall


@pytest.mark.nightly
def test_an_input_that_was_rebuilt_is_compared_whole_once(own, capsys):
    own.lakes["orders"].done("rebuild")
    own.take(orders="U,2,10,2026-01-15,8,2026-01-20\n")
    lake = own.lakes["enriched"]
    (report,) = lake.done("product")
    because = "whole: tests.orders current was rebuilt"
    assert (report.built, report.upserted) == (because, 1)
    own.lakes["orders"].done("rebuild")
    capsys.readouterr()
    assert lake.run("product").state == "nothing_new"
    assert f"built {because}" in capsys.readouterr().out
    own.take(orders="U,2,10,2026-01-15,9,2026-01-21\n")
    (report,) = lake.done("product")
    assert (report.built, report.upserted) == ("in part", 1)


@pytest.mark.nightly
def test_verify_finds_what_another_program_wrote(own):
    lake = own.lakes["enriched"]
    assert lake.verify().state == "done"
    lake.overwrite("amount", "amount + 1", where="order_id = 2")
    assert refused_by_verify(lake) == (
        "DiffersFromInputs",
        "tests.enriched: current differs from its inputs in 1 row(s): order_id 2: amount "
        "is 8, not 7. Find out what wrote to it, then rebuild it: the DAG tests_rebuild.",
    )


def refused_by_verify(lake):
    report = lake.verify()
    return report.error["type"], report.error["message"]


@pytest.mark.nightly
def test_verify_needs_the_commits_that_it_was_built_from(own):
    for day in (20, 21, 22):
        own.take(orders=f"U,2,10,2026-01-15,8,2026-01-{day}\n")
    own.lakes["orders"].done("maintenance")
    kind, message = refused_by_verify(own.lakes["enriched"])
    assert kind == "InputsGone"
    assert "the commits of tests.orders current that it was built from" in message
    (report,) = own.lakes["enriched"].done("product")
    assert (report.built, report.upserted) == ("in part", 1)
    assert own.lakes["enriched"].verify().state == "done"


def test_verify_of_other_sql_is_refused(own):
    own.replan("enriched", digest="other")
    kind, message = refused_by_verify(own.lakes["enriched"])
    assert kind == "SettingsChanged"
    assert "its SQL or its inputs are others" in message
