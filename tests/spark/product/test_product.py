"""Products through loads, changes, late rows and redefinitions.

Three orders of two buyers; customer 10 is `new` since the 1st and `gold` since the 10th,
customer 20 appears late.
"""

from __future__ import annotations

import pytest

from lake_spec.model import Storage
from tests.spark.stall import Stall

ORDERS = """U,1,10,2026-01-05,5,2026-01-05
U,2,10,2026-01-15,7,2026-01-15
U,3,20,2026-01-15,9,2026-01-15
"""
MOST_JOBS = 16
"""Of a build in part with one lookup, by a session that plans no query again."""

CUSTOMERS = "U,10,new,n,2026-01-01\nU,10,gold,n,2026-01-10\n"


@pytest.fixture
def stall(spark, tmp_path):
    stall = Stall(spark, tmp_path, ["enriched", "by_segment", "by_buyer"])
    stall.take(orders=ORDERS, customer=CUSTOMERS)
    return stall


def segments(stall):
    return dict(stall.rows("enriched", "order_id", "segment"))


def built(lake, stage="product"):
    (report,) = lake.done(stage)
    return report.state, report.built, report.upserted, report.deleted


@pytest.mark.nightly
def test_a_fact_has_the_version_of_its_time(stall):
    lake = stall.lakes["enriched"]
    assert built(lake) == ("done", "whole: it was never built", 3, 0)
    assert segments(stall) == {"1": "new", "2": "gold", "3": "Unknown"}
    report = lake.run("product")
    assert (report.state, report.current_rows) == ("nothing_new", 3)


def test_without_news_nothing_is_written(stall):
    lake = stall.lakes["enriched"]
    lake.done("product")
    before = lake.files()
    assert lake.run("product").state == "nothing_new"
    assert lake.files() == before


@pytest.mark.nightly
def test_late_rows_reopen_only_the_facts_of_their_keys(stall):
    lake = stall.lakes["enriched"]
    lake.done("product")
    stall.take(customer="U,20,late,n,2026-01-02\nU,10,silver,n,2026-01-12\n")
    assert built(lake) == ("done", "in part", 2, 0)
    assert segments(stall) == {"1": "new", "2": "silver", "3": "late"}
    rows = lake.tables.current.read().collect()
    commits = {row.order_id: row["_hoodie_commit_time"] for row in rows}
    assert commits[1] < commits[2] == commits[3]


@pytest.mark.nightly
def test_a_part_is_built_by_few_spark_jobs(spark, stall):
    lake = stall.lakes["enriched"]
    lake.done("product")
    stall.take(orders="U,2,20,2026-01-15,7,2026-01-20\n")
    spark.sparkContext.setJobGroup("a part", "counted by the test")
    assert built(lake) == ("done", "in part", 1, 0)
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup("a part")
    assert 5 < len(jobs) <= MOST_JOBS


def test_changes_returns_and_deletes_of_the_driver_are_followed(stall):
    lake = stall.lakes["enriched"]
    lake.done("product")
    stall.take(orders="D,1,,,,2026-01-20\nU,2,20,2026-01-15,7,2026-01-20\n")
    assert built(lake) == ("done", "in part", 1, 1)
    assert segments(stall) == {"2": "Unknown", "3": "Unknown"}
    stall.take(
        orders="U,1,10,2026-01-11,5,2026-01-21\n", customer="D,10,,,2026-01-20\n"
    )
    assert built(lake) == ("done", "in part", 1, 0)
    assert segments(stall)["1"] == "gold"


@pytest.mark.nightly
def test_a_change_that_the_product_does_not_show_writes_nothing(stall):
    lake = stall.lakes["enriched"]
    lake.done("product")
    before = {f: t for f, t in lake.files().items() if "/enriched/current/" in f}
    stall.take(
        orders="U,1,10,2026-01-05,5,2026-01-25\n", customer="U,10,gold,m,2026-01-25\n"
    )
    assert built(lake)[0] == "nothing_new"
    after = {f: t for f, t in lake.files().items() if "/enriched/current/" in f}
    assert after == before


@pytest.mark.nightly
def test_groups_follow_rows_that_came_left_or_moved(stall):
    lake = stall.lakes["by_buyer"]
    assert built(lake) == ("done", "whole: it was never built", 2, 0)
    stall.take(orders="U,2,20,2026-01-15,7,2026-01-20\n")
    assert built(lake) == ("done", "in part", 2, 0)
    assert stall.rows("by_buyer", "buyer", "orders") == [("10", "1"), ("20", "2")]
    stall.take(orders="D,1,,,,2026-01-20\n")
    assert built(lake) == ("done", "in part", 0, 1)
    assert stall.rows("by_buyer", "buyer", "orders") == [("20", "2")]


@pytest.mark.nightly
def test_a_product_of_a_product_follows_it(stall):
    first, second = stall.lakes["enriched"], stall.lakes["by_segment"]
    first.done("product"), second.done("product")
    assert stall.rows("by_segment") == [
        *[("Unknown", "1", "9"), ("gold", "1", "7"), ("new", "1", "5")]
    ]
    assert built(second)[0] == "nothing_new"
    stall.take(orders="D,1,,,,2026-01-20\n", customer="U,20,gold,n,2026-01-02\n")
    first.done("product")
    assert built(second) == ("done", "in part", 1, 2)
    assert stall.rows("by_segment") == [("gold", "2", "16")]


@pytest.mark.nightly
def test_a_change_at_the_end_of_two_joins_is_followed(spark, tmp_path):
    stall = Stall(spark, tmp_path, ["by_way"])
    stall.take(orders=ORDERS, customer=CUSTOMERS, region="U,n,North,2026-01-01\n")
    lake = stall.lakes["by_way"]
    lake.done("product")
    assert stall.rows("by_way") == [("1", "gold", "North"), ("2", "gold", "North")]
    stall.take(region="U,n,Nord,2026-01-02\nU,s,South,2026-01-02\n")
    assert built(lake) == ("done", "in part", 2, 0)
    stall.take(customer="U,20,new,s,2026-01-02\nD,10,,,2026-01-20\n")
    assert built(lake) == ("done", "in part", 1, 2)
    assert stall.rows("by_way") == [("3", "new", "South")]


@pytest.mark.nightly  # by day: test_other_sql_builds_it_whole_and_says_so
def test_what_can_only_be_built_whole_writes_what_differs(spark, tmp_path, capsys):
    stall = Stall(spark, tmp_path, ["latest"])
    stall.take(orders=ORDERS)
    lake = stall.lakes["latest"]
    lake.done("product")
    stall.take(orders="U,1,10,2026-01-25,5,2026-01-25\n")
    assert built(lake) == ("done", "whole: it has a subquery in line 3", 1, 1)
    assert stall.rows("latest") == [("1", "10"), ("3", "20")]
    stall.take(orders="U,1,10,2026-01-26,6,2026-01-26\n")
    assert built(lake)[0] == "nothing_new"
    capsys.readouterr()
    assert built(lake)[0] == "nothing_new"
    assert "built whole" not in capsys.readouterr().out


def test_each_partition_is_one_file_in_the_order_that_is_asked_for(spark, tmp_path):
    stall = Stall(spark, tmp_path, ["enriched"])
    orders = [
        f"U,{n},1{n % 2},2026-01-05,{n * 7 % 100},2026-01-05\n" for n in range(100)
    ]
    customers = "U,10,a,n,2026-01-01\nU,11,b,n,2026-01-01\n"
    stall.take(orders="".join(orders), customer=customers)
    storage = Storage(buckets=1, partition_by=("segment",), sort_by=("amount",))
    lake = stall.redefine("enriched", storage=storage)
    lake.done("product")
    found = {}
    for file in (tmp_path / "warehouse/tests/enriched").rglob("segment=*/*.parquet"):
        rows = spark.read.parquet(f"file://{file}").select("amount").collect()
        found.setdefault(file.parent.name, []).append([row.amount for row in rows])
    assert sorted(found) == ["segment=a", "segment=b"]
    evens, odds = (sorted(n * 7 % 100 for n in range(s, 100, 2)) for s in (0, 1))
    assert (found["segment=a"], found["segment=b"]) == ([evens], [odds])


@pytest.fixture
def parted(spark, tmp_path):
    """A product with partitions, one row of which another program changed in each."""
    stall = Stall(spark, tmp_path, ["enriched"])
    stall.take(orders=ORDERS, customer=CUSTOMERS)
    storage = Storage(buckets=1, partition_by=("segment",))
    lake = stall.redefine("enriched", storage=storage)
    lake.done("product")
    lake.overwrite("amount", "0")
    return stall


def amounts(stall):
    return dict(stall.rows("enriched", "order_id", "amount"))


@pytest.mark.nightly
def test_partitions_are_made_again_where_another_program_wrote_to_them(parted):
    lake = parted.lakes["enriched"]
    assert lake.run("product").state == "nothing_new"
    assert amounts(parted) == {"1": "0", "2": "0", "3": "0"}
    report = lake.run("product", partitions=["segment=new", "segment=none"])
    assert (report.error, report.built, report.upserted) == (None, "in part", 1)
    assert amounts(parted) == {"1": "5", "2": "0", "3": "0"}
    before = lake.files()
    assert lake.run("product", partitions=["segment=new"]).state == "nothing_new"
    assert lake.files() == before
    assert lake.verify().error["type"] == "DiffersFromInputs"
    lake.run("product", partitions=["segment=gold", "segment=Unknown"])
    assert lake.verify().state == "done"


@pytest.mark.nightly
def test_what_the_inputs_changed_is_built_next_to_the_partitions(parted):
    parted.take(orders="U,4,10,2026-01-15,8,2026-01-20\n")
    lake = parted.lakes["enriched"]
    report = lake.run("product", partitions=["segment=new"])
    assert (report.error, report.built, report.upserted) == (None, "in part", 2)
    assert amounts(parted) == {"1": "5", "2": "0", "3": "0", "4": "8"}
    assert lake.run("product").state == "nothing_new"


def test_partitions_of_a_column_that_is_none_are_refused(parted):
    lake = parted.lakes["enriched"]
    before = lake.files()
    report = lake.run("product", partitions=["segment=new", "year=2026"])
    assert (report.error["type"], report.error["message"]) == (
        "NoSuchPartitions",
        "tests.enriched: the param partitions has 'year=2026', and its partitions are by "
        "segment. Choose other tables, or correct the param.",
    )
    assert lake.files() == before


def test_other_sql_builds_it_whole_and_says_so(stall):
    stall.lakes["enriched"].done("product")
    sql = stall.lakes["enriched"].spec.source.plan.sql.replace("Unknown", "None")
    lake = stall.replan("enriched", sql=sql, digest="enriched 2")
    assert built(lake) == ("done", "whole: its SQL or its inputs are others", 3, 0)
    assert segments(stall)["3"] == "None"
    assert built(lake, "rebuild_product")[1] == "whole: a rebuild was asked for"


def test_a_product_waits_for_a_table_that_was_never_loaded(spark, tmp_path):
    stall = Stall(spark, tmp_path, ["enriched"])
    stall.take(orders=ORDERS)
    report = stall.lakes["enriched"].run("product")
    assert (report.state, report.error) == ("nothing_new", None)
    assert report.warnings == [
        "InputNotBuilt: it was not built, because it reads tests.customer history, which "
        "has no commit yet. Load that table first."
    ]
