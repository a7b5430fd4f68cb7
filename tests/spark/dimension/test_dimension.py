"""Two tables as one dimension, through loads, changes, maintenance and redefinitions.

Changes of the feed are of January 2026, snapshots of the 10th and the 20th (what
they lack is gone). Customers are loaded alone, without any address; then come the
addresses. The second batch brings late changes, returns and a new column. Ids 1 to 9:

1 renamed on the 5th, moves on the 10th, gets a phone on the 25th
2 deleted on the 6th, returns on the 22nd
3 never has an address
4 has an address long before the customer is known, on the 2nd, told late
5 loses the address on the 10th, has another from the 20th
6 is renamed and moves at the same instant, the 10th
7 renamed on the 15th, then, told late, on the 4th
8 has only its address's note changed, which the dimension does not show
9 renamed on the 16th; moved on the 15th already, says the snapshot of the 20th
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from tests.kinds import one_by_day
from tests.spark.reprocessing import done_reprocess
from tests.spark.shop import DIMENSIONS, SNAPSHOT_DAYS, SEED, Shop, domain_of

LOAD = "".join(f",{i},name{i},2022-07-01\n" for i in (1, 2, 3, 5, 6, 7, 8, 9))
FIRST = """U,1,Anne,2026-01-05
D,2,,2026-01-06
U,6,Fay,2026-01-10
U,7,Gus,2026-01-15
U,9,Ida,2026-01-16
"""
SECOND = """U,1,Anne,2026-01-25,555
I,2,Bob,2026-01-22,
I,4,Dan,2026-01-02,
U,7,Gil,2026-01-04,
"""
CITIES = ("Bonn", "Bern", "Brno", "Bath", "Bari", "Biel", "Bray", "Bam")
ADDRESSES = {i: f"{city},," for i, city in zip((1, 2, 4, 5, 6, 7, 8, 9), CITIES)}
MOVES = {1: "Cork,,", 6: "Como,,", 8: "Bray,new,"}
RETURNS = {5: "Dijon,,", 9: "Delft,,2026-01-15"}
HISTORY = [
    (1, "name1", "Bonn", "1900-01-01", "2026-01-05"),
    (1, "Anne", "Bonn", "2026-01-05", "2026-01-10"),
    (1, "Anne", "Cork", "2026-01-10", "2026-01-25"),
    (1, "Anne", "Cork", "2026-01-25", "9999-12-31"),
    (2, "name2", "Bern", "1900-01-01", "2026-01-06"),
    (2, "Bob", "Bern", "2026-01-22", "9999-12-31"),
    (3, "name3", None, "1900-01-01", "9999-12-31"),
    (4, "Dan", "Brno", "2026-01-02", "9999-12-31"),
    (5, "name5", "Bath", "1900-01-01", "2026-01-10"),
    (5, "name5", None, "2026-01-10", "2026-01-20"),
    (5, "name5", "Dijon", "2026-01-20", "9999-12-31"),
    (6, "name6", "Bari", "1900-01-01", "2026-01-10"),
    (6, "Fay", "Como", "2026-01-10", "9999-12-31"),
    (7, "name7", "Biel", "1900-01-01", "2026-01-04"),
    (7, "Gil", "Biel", "2026-01-04", "2026-01-15"),
    (7, "Gus", "Biel", "2026-01-15", "9999-12-31"),
    (8, "name8", "Bray", "1900-01-01", "9999-12-31"),
    (9, "name9", "Bam", "1900-01-01", "2026-01-15"),
    (9, "name9", "Delft", "2026-01-15", "2026-01-16"),
    (9, "Ida", "Delft", "2026-01-16", "9999-12-31"),
]


@pytest.fixture(scope="module")
def shop(spark, tmp_path_factory):
    """Customers loaded, then two batches of both; judged after each."""
    root = tmp_path_factory.mktemp("shop")
    shop = Shop(spark, root, domain_of(root / "specs"))
    shop.wrong = []

    def judge():
        shop.wrong.append([shop.mismatches(name) for name in DIMENSIONS])

    assert shop.bring_up(tables=())[0].state == "nothing_new"
    shop.land_customers("load/1.csv", "", LOAD)
    shop.bring_up("full_load", "scd2")
    judge()
    shop.land_customers("changes/1.csv", "", FIRST)
    shop.land_addresses(SNAPSHOT_DAYS[0], ADDRESSES)
    second = {i: row for i, row in {**ADDRESSES, **MOVES}.items() if i != 5}
    shop.land_addresses(SNAPSHOT_DAYS[1], second)
    shop.bring_up("incremental", "scd2")
    judge()
    shop.land_customers("changes/2.csv", ",phone", SECOND)
    shop.land_addresses(SNAPSHOT_DAYS[2], {**second, **RETURNS})
    shop.bring_up("incremental", "scd2")
    judge()
    return shop


def rows_of(lake) -> list:
    """Everything in history and current, made comparable."""
    return [sorted(map(str, each.collect())) for each in (lake.history, lake.current)]


def test_after_every_batch_the_dimensions_are_those_of_the_oracle(shop):
    assert shop.wrong == [[[], []]] * 3, f"seed {SEED}"


@pytest.mark.parametrize("name", DIMENSIONS)
def test_a_version_opens_when_either_side_changes(shop, name):
    living = shop.lakes[name].history.where("NOT is_deleted AND id < 100")
    days = ("string(date(valid_from)) AS since", "string(date(valid_to))")
    rows = living.selectExpr("id", "name", "town", *days).orderBy("id", "since")
    assert [tuple(row) for row in rows.collect()] == HISTORY


def test_a_deleted_customer_leaves_a_marker_and_a_soft_row(shop):
    lake = shop.lakes["dim_merged"]
    (marker,) = lake.history.where("id = 2 AND is_deleted").collect()
    since, until = datetime(2026, 1, 6), datetime(2026, 1, 22)
    assert (marker.valid_from, marker.valid_to) == (since, until)
    assert (marker.name, marker.town, marker.is_current) == (None, None, False)
    deleted = lake.current.where("is_deleted")
    assert deleted.where("name IS NOT NULL OR town IS NOT NULL").count() == 0
    dead = [v for v in shop.expected().values() if v[-1].end is not None]
    assert deleted.count() == len(dead) > 0


def test_a_new_column_of_a_table_is_shown(shop):
    rows = shop.lakes["dim_customer"].history.where("phone IS NOT NULL").collect()
    assert [(row.id, row.phone, row.is_current) for row in rows] == [(1, "555", True)]


def test_only_touched_keys_are_written(shop):
    rows = shop.lakes["dim_customer"].tables.history.read()
    commits = {row.id: row["_hoodie_commit_time"] for row in rows.collect()}
    assert commits[3] < commits[4]


def test_without_news_nothing_is_written(shop):
    before = shop.lakes["address"].files()
    reports = shop.bring_up("incremental", "scd2")
    assert [report.state for report in reports] == ["nothing_new"] * 2
    assert shop.lakes["address"].files() == before
    lake = shop.lakes["dim_customer"]
    counts = (reports[0].versions, reports[0].current_rows)
    assert counts == (lake.history.count(), lake.current.count())


@pytest.mark.parametrize("name", one_by_day(DIMENSIONS))
def test_maintenance_and_a_rebuild_change_no_row(shop, name):
    lake = shop.lakes[name]
    before = rows_of(lake)
    lake.done("maintenance")
    assert rows_of(lake) == before
    assert lake.done("dimension")[0].state == "nothing_new"
    assert lake.done("rebuild_dimension")[0].state == "done"
    assert rows_of(lake) == before


@pytest.mark.nightly
def test_a_reprocess_of_a_table_reaches_the_dimensions(shop):
    lake, path = shop.lakes["customer"], "changes/1.csv"
    file = shop.root / "landing/tests/customer" / path
    lake.land(path, file.read_text().replace("U,6,Fay,2026-01-10\n", ""))
    done_reprocess(lake, path)
    shop.bring_up(tables=())
    assert [shop.mismatches(name) for name in DIMENSIONS] == [[], []]
    (now,) = shop.lakes["dim_customer"].current.where("id = 6").collect()
    assert (now.name, now.town) == ("name6", "Como")


def test_other_tracked_columns_are_refused_until_a_rebuild(shop):
    history = replace(shop.lakes["dim_customer"].spec.history, track=("town",))
    other = shop.redefined("dim_customer", history=history)
    report = other.lakes["dim_customer"].run("dimension")
    assert report.error["type"] == "SettingsChanged"
    assert 'history.track was [], now ["town"]' in report.error["message"]
    assert "tests_rebuild --param tables=dim_customer" in report.error["message"]
    other.lakes["dim_customer"].done("rebuild_dimension")
    assert other.mismatches("dim_customer", tracked=["town"]) == []


def test_other_columns_to_show_take_a_rebuild(shop):
    source = shop.lakes["dim_customer"].spec.source
    fewer = replace(source, joined=replace(source.joined, columns=("city",)))
    other = shop.redefined("dim_customer", source=fewer).lakes["dim_customer"]
    assert "source.joined was" in other.run("dimension").error["message"]
    other.done("rebuild_dimension")
    assert "moved_at" not in other.history.columns
    assert other.history.where("town IS NOT NULL").count() > 0


def test_two_columns_of_one_name_are_refused_when_one_appears(shop):
    source = shop.lakes["dim_customer"].spec.source
    clash = replace(source, joined=replace(source.joined, rename=(("city", "phone"),)))
    other = shop.redefined("dim_customer", source=clash).lakes["dim_customer"]
    report = other.run("rebuild_dimension")
    assert report.error["type"] == "DimensionMismatch"
    assert "would have two columns 'phone'" in report.error["message"]


def test_a_file_of_others_among_those_of_a_table_is_named(shop):
    folder = shop.root / "warehouse/tests/address/history"
    theirs = folder / "part-0.snappy.parquet"
    theirs.write_bytes(next(folder.glob("*.parquet")).read_bytes())
    report = shop.lakes["dim_customer"].run("dimension")
    theirs.unlink()
    assert report.error["type"] == "ForeignFiles"
    assert f"file://{theirs}: " in report.error["message"]


@pytest.mark.nightly
def test_a_table_that_was_redefined_is_waited_for_then_all_is_joined_anew(shop):
    history = replace(shop.lakes["customer"].spec.history, ignore=("name",))
    other = shop.redefined("customer", history=history)
    lake, customer = other.lakes["dim_merged"], other.lakes["customer"]
    for stage in ("dimension", "rebuild_dimension"):
        message = lake.run(stage).error["message"]
        assert "tests_rebuild --param tables=customer" in message
    versions = lake.history.count()
    customer.done("rebuild")
    lake.done("dimension")
    assert lake.history.count() < versions
    assert other.mismatches("dim_merged", tracked=["town", "phone"]) == []
