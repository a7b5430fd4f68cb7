"""Tables pulled from real databases.

Accounts: 1,000 rows of 100 each, between whose first and last quarter money moves
all the time. Orders: three rows, of which more come by their `updated_at`, one of
them committed late.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
from contextlib import contextmanager

import pytest

from tests.servers.fixtures import (  # noqa: F401
    ended_in_order,
    postgresql,
    servers_folder,
)
from tests.kinds import one_by_day
from tests.spark.pulling import (
    BY_CURSOR,
    SNAPSHOTS,
    FEED,
    PASSWORD,
    PullingLake,
    postgresql_at,
    things,
)


@pytest.fixture(scope="module")
def shop(postgresql):  # noqa: F811
    postgresql.execute("CREATE ROLE lake LOGIN; GRANT pg_read_all_data TO lake")
    return postgresql


@contextmanager
def moving_money(shop):
    """Commits transfers between accounts of different ranges until the block ends."""
    done = threading.Event()
    commits = []

    def move():
        with shop.connect() as connection:
            while not done.is_set():
                number = len(commits) % 250
                update = "UPDATE accounts SET balance = balance + %s WHERE id = %s"
                connection.execute(update, (-1, number + 1))
                connection.execute(update, (1, number + 751))
                connection.commit()
                commits.append(number)
                done.wait(0.002)  # Spark needs a core too

    thread = threading.Thread(target=move)
    thread.start()
    try:
        yield commits
    finally:
        done.set()
        thread.join()


def test_parallel_ranges_are_of_one_timestamp(spark, shop, tmp_path):
    shop.execute(
        "CREATE TABLE accounts (id int PRIMARY KEY, balance int, updated_at timestamptz);"
        "INSERT INTO accounts SELECT id, 100, '2026-01-01Z' FROM generate_series(1, 1000) id"
    )
    spec = things(FEED, "accounts")
    lake = PullingLake(spark, tmp_path, spec, postgresql_at(shop))
    with moving_money(shop) as commits:
        while len(commits) < 10:
            time.sleep(0.01)
        lake.pull("full_load")
        assert len(commits) > 50
    (files,) = lake.pulls("load").values()
    rows = lake.landed("load")
    total = rows.selectExpr("count(*)", "sum(balance)", "count_if(balance <> 100)")
    count, balance, moved = total.first()
    assert (len(files), count, balance) == (4, 1000, 100_000) and moved > 0


ORDERS = """
CREATE TABLE {name} (id int PRIMARY KEY, note text, updated_at {type});
INSERT INTO {name} VALUES (1, 'a', '2026-01-01 12:00:00'),
    (2, 'a', '2026-01-01 12:00:10'), (3, 'a', '2026-01-01 12:00:20')
"""
CHANGES = """
INSERT INTO {name} VALUES (4, 'new', '2026-01-01 12:05:00'),
    (5, 'committed late', '2026-01-01 12:00:05');
UPDATE {name} SET note = 'b', updated_at = '2026-01-01 12:06:00.000001' WHERE id = 1
"""
CHANGED = [(1, "b"), (4, "new"), (5, "committed late")]
COLUMNS = "id: int, note: string, updated_at: timestamp"


def test_changes_come_by_their_cursor_and_late_ones_too(spark, shop, tmp_path):
    shop.execute(ORDERS.format(name="orders", type="timestamptz"))
    spec = things(BY_CURSOR, "orders", COLUMNS)
    lake = PullingLake(spark, tmp_path, spec, postgresql_at(shop))
    lake.done("full_load")
    (name,) = lake.pulls("load")
    bookmark = json.loads((lake.home / "pulled.json").read_text())
    assert (bookmark["format"], bookmark["to"]) == (1, "2026-01-01T12:00:20.000000")
    before = lake.files()
    for report in lake.done("full_load", "incremental"):
        assert (report.commits, report.state) == ({}, "nothing_new")
    assert (lake.files(), lake.pulls("changes")) == (before, {})
    shop.execute(CHANGES.format(name="orders"))
    (report,) = lake.done("incremental")
    assert (report.accepted, report.duplicates) == (3, 0)
    assert lake.living("note") == [
        (1, "b"),
        (2, "a"),
        (3, "a"),
        (4, "new"),
        (5, "committed late"),
    ]
    bookmark = json.loads((lake.home / "pulled.json").read_text())
    assert bookmark["to"] == "2026-01-01T12:06:00.000001"


@pytest.mark.parametrize("form", one_by_day(["json", "orc"]))
def test_what_was_landed_is_not_landed_again(spark, shop, tmp_path, form):
    name = f"orders_{form}"
    shop.execute(ORDERS.format(name=name, type="timestamp"))
    spec = things(BY_CURSOR, name, COLUMNS, parquet=form)
    lake = PullingLake(spark, tmp_path, spec, postgresql_at(shop))
    lake.pull("full_load")
    shop.execute(CHANGES.format(name=name))
    lake.pull("incremental")
    lake.pull("incremental")
    assert len(lake.pulls("changes")) == 1
    rows = lake.landed("changes").orderBy("id").collect()
    assert [(int(row.id), row.note) for row in rows] == CHANGED
    assert str(rows[0].updated_at)[-15:].replace("T", " ") == "12:06:00.000001"


def test_an_empty_table_is_a_load_too(spark, shop, tmp_path):
    shop.execute("CREATE TABLE nothing (id int, note text, updated_at timestamp)")
    spec = things(FEED, "nothing", COLUMNS, parquet="json")
    lake = PullingLake(spark, tmp_path, spec, postgresql_at(shop))
    lake.pull("full_load")
    shop.execute("INSERT INTO nothing VALUES (1, NULL, now())")
    lake.pull("full_load")
    assert list(lake.pulls("load").values()) == [[]]


def test_a_pull_that_broke_off_is_seen_by_nobody_and_made_again(spark, shop, tmp_path):
    shop.execute(
        "CREATE VIEW half AS SELECT id, 1 / (id - 399) AS x, now() AS updated_at"
        " FROM generate_series(1, 400) id"
    )
    spec = things(FEED, "public.half", "id: int, x: int, updated_at: timestamp")
    lake = PullingLake(spark, tmp_path, spec, postgresql_at(shop))
    report = lake.run("full_load")
    assert report.error == {
        "type": "PullFailed",
        "message": "connection 'shop': public.half could not be pulled, and none of its"
        " rows were landed: ERROR: division by zero",
    }
    (broken,) = lake.landing.glob("load/*")
    shutil.copyfile(__file__, broken / "part-00000.parquet")
    assert (lake.seen(), report.commits) == ([], {})
    shop.execute(
        "CREATE OR REPLACE VIEW half AS SELECT id, id AS x, now() AS updated_at"
        " FROM generate_series(1, 400) id"
    )
    lake.pull("full_load")
    assert broken.name not in lake.pulls("load") or len(lake.seen()) == 4
    assert lake.landed("load").count() == 400


def test_what_is_not_there_is_named_and_the_password_never(
    spark, shop, tmp_path, capfd
):
    lake = PullingLake(spark, tmp_path, things(FEED, "no.such"), postgresql_at(shop))
    error = lake.run("full_load").error
    assert error["message"] == (
        "connection 'shop': no.such could not be pulled, and none of its rows were landed:"
        ' ERROR: schema "no" does not exist'
    )
    lake.secret.unlink()
    error = lake.run("full_load").error
    assert error["type"] == "WrongSecret" and str(lake.secret) in error["message"]
    told = capfd.readouterr()
    assert "PullFailed" in told.err and PASSWORD not in told.err + told.out


@pytest.mark.nightly
def test_each_run_pulls_a_snapshot_which_says_its_time(spark, shop, tmp_path):
    shop.execute(
        "CREATE TABLE works (id int, title text);"
        "INSERT INTO works VALUES (1, 'a'), (2, 'a'), (3, 'a')"
    )
    spec = things(SNAPSHOTS, "works", "id: int, title: string")
    lake = PullingLake(spark, tmp_path, spec, postgresql_at(shop))
    lake.done("full_load", "full_load")
    (first,) = lake.pulls("snapshots")
    shop.execute("DELETE FROM works WHERE id = 2; UPDATE works SET title = 'b'")
    lake.done("incremental")
    assert lake.living("title") == [(1, "b"), (3, "b")]
    times = lake.changes.selectExpr(
        "date_format(lake_snapshot_at, \"yyyy-MM-dd'T'HH-mm-ss\")"
    )
    assert {row[0] for row in times.collect()} == set(lake.pulls("snapshots"))
    assert len(lake.pulls("snapshots")) == 2
