"""Products as plain Parquet: each commit is all rows, and readers see all of one commit."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest

from lake_local.show.reading import rows as show
from lake_local.show.request import QueryRefused, Request
from lake_spec.hudi.options import Operation
from lake_spec.model import Layer, Maintenance, TableType
from lake_spark.product.units import has_keys_of_its_driver
from lake_spark.scd2.events import KEY
from lake_spark.tables import catalog, foreign_files
from tests.spark.stall import FILES, Stall, specs_of
from tests.spark.tables.test_catalog import Catalogue

DAILY = """
columns: {order_id: int, amount: int, ordered_at: timestamp, year: int, day: date}
key: [order_id]
storage: {type: parquet, partition_by: [year, day], buckets: 1, sort_by: [amount]}
source:
  kind: product
  from: tests.orders
  where: amount IS NOT NULL
  derive: {year: year(ordered_at), day: to_date(ordered_at)}
"""
TOTALS = """
columns: {year: int, amount: bigint}
key: [year]
source: {kind: product, sql: totals.sql}
"""
SQL = {"totals": """
SELECT d.year, sum(d.amount) AS amount
FROM {{ current('tests.daily') }} AS d GROUP BY d.year
"""}
ORDERS = """U,1,10,2025-12-31,9,2026-01-01
U,2,10,2026-01-15,7,2026-01-15
U,3,20,2026-01-15,5,2026-01-15
U,4,20,2026-01-15,,2026-01-15
"""
ROWS = {("1", "9", "2025"), ("2", "7", "2026"), ("3", "5", "2026")}


@pytest.fixture(scope="module")
def specs():
    return specs_of({**FILES, "daily": DAILY, "totals": TOTALS}, SQL)


@pytest.fixture
def stall(spark, tmp_path, specs):
    stall = Stall(spark, tmp_path, ["daily", "totals"], specs)
    stall.take(orders=ORDERS)
    return stall


def home_of(stall) -> Path:
    return stall.root / "warehouse" / "tests" / "daily" / "current"


def commits_of(stall) -> list:
    """The folders with rows, oldest first."""
    return sorted(each for each in home_of(stall).iterdir() if each.name[0].isdigit())


def rows_of(stall) -> set:
    return set(stall.rows("daily", "order_id", "amount", "year"))


def test_each_folder_has_one_sorted_file_of_the_declared_columns(spark, stall):
    (report,) = stall.lakes["daily"].done("product")
    assert report.built == "whole: it was never built"
    assert (report.upserted, report.current_rows) == (3, 3)
    assert rows_of(stall) == ROWS
    (commit,) = commits_of(stall)
    files = {str(f.parent.relative_to(commit)): f for f in commit.rglob("*.parquet")}
    assert sorted(files) == ["year=2025/day=2025-12-31", "year=2026/day=2026-01-15"]
    file = spark.read.parquet(f"file://{files['year=2026/day=2026-01-15']}")
    assert file.dtypes == [
        ("order_id", "int"),
        ("amount", "int"),
        ("ordered_at", "timestamp"),
    ]
    assert [row.amount for row in file.collect()] == [5, 7]
    whole = spark.read.parquet(f"file://{commit}")
    assert {(r.order_id, r.year, r.day) for r in whole.collect()} == {
        (1, 2025, dt.date(2025, 12, 31)),
        (2, 2026, dt.date(2026, 1, 15)),
        (3, 2026, dt.date(2026, 1, 15)),
    }


def test_what_is_new_becomes_another_commit_and_nothing_none(stall):
    lake = stall.lakes["daily"]
    lake.done("product")
    before = lake.files()
    assert lake.run("product").state == "nothing_new"
    assert lake.files() == before
    stall.take(orders="U,3,20,2026-02-01,6,2026-02-01\nD,1,,,,2026-02-01\n")
    (report,) = lake.done("product")
    assert report.built == "whole: it is plain Parquet (storage.type)"
    assert rows_of(stall) == {("2", "7", "2026"), ("3", "6", "2026")}
    first, second = commits_of(stall)
    table = lake.tables.current
    assert table.read_as_of(first.name).count() == 3
    assert table.read_as_of(second.name).count() == 2
    assert (table.keeps(first.name), table.keeps("2" * 17)) == (True, False)
    assert all(
        before[name] == at for name, at in lake.files().items() if name in before
    )


@pytest.mark.nightly
def test_rows_that_were_not_committed_are_never_seen_and_removed_next_time(stall):
    lake = stall.lakes["daily"]
    lake.done("product")
    table, asked = lake.tables.current, []

    def lost():
        asked.append(1)
        if len(asked) == 2:
            raise RuntimeError("the lease is lost")

    table.before_commit = lost
    with pytest.raises(RuntimeError, match="the lease is lost"):
        table.write(table.read(), Operation.REPLACE, {})
    assert len(commits_of(stall)) == 2
    assert rows_of(stall) == ROWS
    stall.take(orders="D,1,,,,2026-02-01\n")
    lake.done("product")
    first, left, last = commits_of(stall)
    assert [len(list(each.rglob("*.parquet"))) for each in (first, left, last)] == [
        2,
        0,
        1,
    ]


@pytest.mark.nightly
def test_maintenance_keeps_so_many_commits_and_says_their_size(stall):
    lake = stall.redefine("daily", maintenance=Maintenance(keep_commits=2))
    for day in range(1, 5):
        stall.take(orders=f"U,{day},10,2026-02-0{day},{day},2026-02-0{day}\n")
        lake.done("product")
    assert len(list(home_of(stall).rglob("_commits/*.json"))) == 4
    (report,) = lake.done("maintenance")
    (done,) = report.maintained
    assert (done.layer, done.done, done.before.files) == ("current", ["cleaning"], 4)
    assert done.after.bytes == done.before.bytes
    assert done.after.stored_files < done.before.stored_files
    assert len(list(home_of(stall).rglob("_commits/*.json"))) == 2
    assert len(rows_of(stall)) == 4
    (report,) = lake.done("maintenance")
    assert report.maintained[0].done == []


@pytest.mark.nightly
def test_a_product_of_it_is_built_whole_after_each_of_its_commits(stall):
    daily, totals = stall.lakes["daily"], stall.lakes["totals"]
    daily.done("product")
    totals.done("product")
    assert stall.rows("totals") == [("2025", "9"), ("2026", "12")]
    assert totals.run("product").state == "nothing_new"
    stall.take(orders="D,1,,,,2026-02-01\n")
    daily.done("product")
    (report,) = totals.done("product")
    assert report.built == (
        "whole: tests.daily current is plain Parquet, written whole each time"
    )
    assert stall.rows("totals") == [("2026", "12")]


def test_verify_finds_what_another_program_wrote(stall):
    lake = stall.lakes["daily"]
    lake.done("product")
    assert lake.verify().state == "done"
    table = lake.tables.current
    said = table.last_commit().metadata
    table.write(
        table.read().selectExpr("*").where("order_id < 3"), Operation.REPLACE, said
    )
    report = lake.verify()
    assert report.error["type"] == "DiffersFromInputs"
    assert "order_id 3: is missing" in report.error["message"]
    lake.done("rebuild_product")
    assert (lake.verify().state, rows_of(stall)) == ("done", ROWS)


def test_partitions_that_are_asked_for_are_built_with_all_others(stall):
    lake = stall.lakes["daily"]
    lake.done("product")
    report = lake.run("product", partitions=["year=2026"])
    assert (report.error, report.built) == (
        None,
        "whole: partitions were asked for, and it is plain Parquet",
    )
    assert rows_of(stall) == ROWS


def test_a_folder_without_value_is_refused(stall):
    lake = stall.lakes["daily"]
    stall.take(orders="U,5,10,,1,2026-02-01\n")
    report = lake.run("product")
    assert report.error["type"] == "WrongProductRows"
    assert "the partition column day has no value: 1 row(s)" in report.error["message"]
    assert not home_of(stall).exists()


@pytest.mark.nightly
def test_without_rows_there_is_an_empty_table(stall):
    lake = stall.lakes["daily"]
    stall.take(orders="".join(f"D,{n},,,,2026-02-01\n" for n in range(1, 5)))
    lake.done("product")
    assert (rows_of(stall), lake.tables.current.commit().files) == (set(), 0)
    stored = lake.current.drop(KEY)
    assert stored.columns == [name for name, _ in lake.spec.columns]


def test_a_damaged_commit_is_named_and_nothing_is_written(stall):
    lake = stall.lakes["daily"]
    lake.done("product")
    (commit,) = home_of(stall).glob("_commits/*.json")
    commit.write_text('{"format": 1, "files": 2}')
    before = lake.files()
    report = lake.run("product")
    assert report.error["type"] == "UnreadableState"
    assert str(commit) in report.error["message"]
    commit.write_text('{"format": 2}')
    assert "has format 2" in lake.run("product").error["message"]
    assert set(lake.files()) == set(before)


def test_files_without_folders_are_at_most_as_many_as_buckets(spark, tmp_path, specs):
    stall = Stall(spark, tmp_path, ["daily"], specs)
    orders = [f"U,{n},10,2026-01-05,{n * 7 % 50},2026-01-05\n" for n in range(50)]
    stall.take(orders="".join(orders))
    storage = replace(stall.lakes["daily"].spec.storage, partition_by=(), buckets=3)
    stall.redefine("daily", storage=storage).done("product")
    found = []
    for file in home_of(stall).rglob("*.parquet"):
        rows = spark.read.parquet(f"file://{file}").collect()
        amounts = [row.amount for row in rows]
        assert amounts == sorted(amounts)
        found += amounts
    assert len(list(home_of(stall).rglob("*.parquet"))) == 3
    assert sorted(found) == list(range(50))


@pytest.mark.nightly
def test_the_catalogue_goes_from_commit_to_commit_by_one_request(
    spark, stall, monkeypatch
):
    known = Catalogue()
    monkeypatch.setattr(
        catalog, "register", lambda run: catalog.register_tables(known, run)
    )
    lake = stall.lakes["daily"]
    lake.done("product")
    (first,) = commits_of(stall)
    entry = known.tables["daily"]
    assert entry["StorageDescriptor"]["Location"] == f"file://{first}"
    assert entry["StorageDescriptor"]["InputFormat"].endswith(
        "MapredParquetInputFormat"
    )
    said = entry["Parameters"]
    assert said["spark.sql.sources.provider"] == "parquet"
    assert {n: v for n, v in said.items() if n.startswith("projection.")} == {
        "projection.enabled": "true",
        "projection.year.type": "integer",
        "projection.year.range": "2025,2026",
        "projection.day.type": "date",
        "projection.day.range": "2025-12-31,2026-01-15",
        "projection.day.format": "yyyy-MM-dd",
    }
    assert [each["Name"] for each in entry["PartitionKeys"]] == ["year", "day"]
    columns = [each["Name"] for each in entry["StorageDescriptor"]["Columns"]]
    assert columns == ["order_id", "amount", "ordered_at"]
    stall.take(orders="D,1,,,,2026-02-01\n")
    known.changes = 0
    lake.done("product")
    second = commits_of(stall)[1]
    assert known.changes == 1 and not known.partitions.get("daily")
    entry = known.tables["daily"]
    assert entry["StorageDescriptor"]["Location"] == f"file://{second}"
    assert entry["Parameters"]["projection.year.range"] == "2026,2026"
    lake.done("product")
    assert known.changes == 1


def test_two_rows_of_one_row_have_its_key(stall):
    lake = stall.lakes["daily"]
    plan, view = lake.spec.source.plan, lake.tables.current
    orders = stall.lakes["orders"].current
    assert has_keys_of_its_driver(lake.spec, plan, orders)
    twice = f"SELECT t.* FROM ({plan.sql}) AS t LATERAL VIEW explode(array(1, 2)) AS n"
    report = stall.replan("daily", sql=twice, digest="twice").run("product")
    assert report.error["type"] == "WrongProductRows"
    assert "is that of another row too: 6 row(s), for example key 1" in (
        report.error["message"]
    )
    assert not view.has_data()


def test_keys_are_looked_at_where_they_may_be_repeated(stall):
    spec, rows = stall.lakes["daily"].spec, stall.lakes["orders"].current
    plan = spec.source.plan
    (orders,) = plan.inputs
    for other in (
        replace(plan, inputs=(replace(orders, layer=Layer.HISTORY),)),
        replace(plan, unit_columns=("amount",)),
        replace(plan, unit=("buyer",)),
        replace(plan, inputs=(orders, replace(orders, view="input_1"))),
    ):
        assert not has_keys_of_its_driver(spec, other, rows)
    exploded = rows.selectExpr("order_id", "explode(array(1, 2)) AS n")
    stacked = rows.selectExpr("order_id", "stack(2, 1, 2) AS n")
    for made in (exploded.where("n > 0"), stacked, rows.union(rows), rows.distinct()):
        assert not has_keys_of_its_driver(spec, plan, made)


@pytest.mark.parametrize(
    "then, now, words",
    [
        (TableType.PARQUET, TableType.COPY_ON_WRITE, "one of plain Parquet"),
        (TableType.COPY_ON_WRITE, TableType.PARQUET, "a table of Hudi"),
    ],
)
def test_the_type_of_a_table_is_for_ever(stall, then, now, words):
    storage = replace(stall.lakes["daily"].spec.storage, partition_by=())
    stall.redefine("daily", storage=replace(storage, type=then)).done("product")
    lake = stall.redefine("daily", storage=replace(storage, type=now))
    before = lake.files()
    reports = [lake.run(stage) for stage in ("product", "rebuild_product")]
    reports.append(lake.run("maintenance", foreign=foreign_files.move))
    for report in reports:
        assert report.error["type"] == "SettingsChanged"
        told = f"storage.type is {now.value}, and the table is {words}"
        assert told in report.error["message"]
    assert lake.files() == before


@pytest.mark.nightly
def test_a_product_of_it_takes_gone_commits_for_an_erase(stall):
    daily = stall.redefine("daily", maintenance=Maintenance(keep_commits=1))
    totals = stall.lakes["totals"]
    daily.done("product")
    totals.done("product")
    stall.take(orders="D,1,,,,2026-02-01\n")
    daily.done("product", "maintenance")
    (report,) = totals.done("product")
    assert report.built == (
        "whole: keys may have been erased in tests.daily current, whose older commits "
        "are gone"
    )
    assert stall.rows("totals") == [("2026", "12")]
    assert totals.run("product").state == "nothing_new"


@pytest.mark.nightly
def test_a_product_of_it_that_stays_as_it_is_is_built_once_for_each_commit(
    stall, capsys
):
    daily = stall.redefine("daily", maintenance=Maintenance(keep_commits=1))
    totals = stall.lakes["totals"]
    daily.done("product")
    totals.done("product")
    stall.take(orders="U,3,20,2026-01-16,5,2026-02-01\n")
    daily.done("product")
    capsys.readouterr()
    assert totals.run("product").state == "nothing_new"
    because = "built whole: tests.daily current is plain Parquet"
    assert because in capsys.readouterr().out
    daily.done("maintenance")  # which removes the commit that totals was built from
    capsys.readouterr()
    assert totals.run("product").state == "nothing_new"
    assert "built" not in capsys.readouterr().out


def test_rows_of_a_commit_that_lacks_a_file_are_not_read(stall):
    daily, totals = stall.lakes["daily"], stall.lakes["totals"]
    daily.done("product")
    next(home_of(stall).rglob("*.parquet")).unlink()
    report = totals.run("product")
    assert report.error["type"] == "MissingFiles"
    assert "1 of the 2 files of this commit are there" in report.error["message"]
    daily.done("rebuild_product")
    totals.done("product")
    assert stall.rows("totals") == [("2025", "9"), ("2026", "12")]


def test_it_is_shown_now_and_as_of_a_commit(spark, stall):
    lake = stall.lakes["daily"]
    lake.done("product")
    stall.take(orders="D,1,,,,2026-02-01\n")
    lake.done("product")
    first, second = (each.name for each in commits_of(stall))
    path = lake.tables.current.path
    asked = Request("tests.daily", "current", path, is_plain=True, order=("order_id",))
    ids = [row.order_id for row in show(spark, asked).collect()]
    assert ids == [2, 3]
    assert show(spark, asked).columns == [name for name, _ in lake.spec.columns]
    then = replace(asked, as_of=first, where="amount > 5")
    assert [row.order_id for row in show(spark, then).collect()] == [1, 2]
    with pytest.raises(QueryRefused, match="kept: it is readable since 20"):
        show(spark, replace(asked, as_of="20200101000000000"))
    with pytest.raises(QueryRefused, match="no commit of tests.daily."):
        show(spark, replace(asked, path=f"{path}/none"))
