"""Pulls of tables that others want for themselves.

Stock: rewritten as a whole by TRUNCATE and INSERT while a pull begins. Parts: ten
rows behind a view that takes its time, and a column that is added while they are
read by more sessions than run at once.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import pytest

from lake_spark.sources import mariadb as of_mariadb, postgresql as of_postgresql
from tests.servers.fixtures import (  # noqa: F401
    ended_in_order,
    mariadb,
    postgresql,
    servers_folder,
)
from tests.spark.pulling import (
    FEED,
    PASSWORD,
    PullingLake,
    mariadb_at,
    postgresql_at,
    things,
)

COLUMNS = "id: int, updated_at: timestamp"


@pytest.fixture(scope="module")
def shop(postgresql):  # noqa: F811
    postgresql.execute("CREATE ROLE lake LOGIN; GRANT pg_read_all_data TO lake")
    return postgresql


@contextmanager
def meanwhile(work):
    """Do it next to the block, and wait for its end."""
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def test_a_table_that_is_written_anew_is_never_seen_empty(spark, shop, tmp_path):
    shop.execute("CREATE TABLE stock AS SELECT id FROM generate_series(1, 40) id")
    lake = PullingLake(spark, tmp_path, things(FEED, "stock"), postgresql_at(shop))
    writer = shop.connect()
    writer.execute("TRUNCATE stock")
    writer.execute("INSERT INTO stock SELECT id FROM generate_series(1, 50) id")

    def end_later():
        time.sleep(1.5)
        writer.commit()
        writer.close()

    with meanwhile(end_later):
        lake.pull("full_load")
    assert lake.landed("load").count() == 50


def test_a_materialized_view_is_pulled_too(spark, shop, tmp_path):
    shop.execute(
        "CREATE MATERIALIZED VIEW newest AS SELECT id FROM generate_series(1, 3) id"
    )
    lake = PullingLake(spark, tmp_path, things(FEED, "newest"), postgresql_at(shop))
    lake.pull("full_load")
    assert lake.landed("load").count() == 3


def test_a_pull_gives_way_to_who_waits_for_the_table(
    spark, shop, tmp_path, monkeypatch
):
    monkeypatch.setattr(of_postgresql, "LONGEST_WAIT", 1)
    shop.execute(
        "CREATE TABLE parts AS SELECT id FROM generate_series(1, 10) id;"
        "CREATE VIEW slow AS SELECT id, now() AS updated_at, pg_sleep(0.1)::text AS x"
        " FROM parts"
    )
    spec = things(FEED, "slow, parallel: 8", COLUMNS)
    lake = PullingLake(spark, tmp_path, spec, postgresql_at(shop))

    def add_a_column():
        for _ in range(1_200):  # a minute: a pull that was refused lands nothing
            if list(lake.landing.glob("load/*/_pulling")):
                break
            time.sleep(0.05)
        shop.execute("ALTER TABLE parts ADD COLUMN y int")

    with meanwhile(add_a_column):
        error = lake.run("full_load").error
    assert error["type"] == "PullFailed", error
    assert "canceling statement due to lock timeout" in error["message"]
    lake.pull("full_load")
    assert lake.landed("load").count() == 10


def test_mariadb_does_not_wait_for_ever_either(
    spark, mariadb, tmp_path, monkeypatch  # noqa: F811
):
    monkeypatch.setattr(of_mariadb, "LONGEST_WAIT", 1)
    mariadb.execute("CREATE DATABASE locks")
    mariadb.execute(
        "CREATE TABLE locks.parts (id INT PRIMARY KEY, updated_at TIMESTAMP)"
    )
    place = f"'lake'@'{mariadb.host}'"
    mariadb.execute(f"CREATE USER {place} IDENTIFIED BY '{PASSWORD}'")
    mariadb.execute(f"GRANT SELECT ON locks.* TO {place}")
    shop = mariadb_at(mariadb, "locks")
    lake = PullingLake(spark, tmp_path, things(FEED, "parts", COLUMNS), shop)
    with mariadb.connect("locks") as holder:
        with holder.cursor() as cursor:
            cursor.execute("LOCK TABLES parts WRITE")
        error = lake.run("full_load").error
    assert error["type"] == "PullFailed", error
    assert "Lock wait timeout exceeded" in error["message"]
