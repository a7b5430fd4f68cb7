"""How far a table was pulled by its cursor: a bookmark that no wrong value moves."""

from __future__ import annotations

import json

import pytest

from lake_spark.sources.postgresql import PostgreSqlDialect
from lake_spark.storage.object_store import FolderStore
from lake_spark.tables.table_run import Accepted
from tests.servers.fixtures import (  # noqa: F401
    ended_in_order,
    postgresql,
    servers_folder,
)
from tests.spark.pulling import BY_CURSOR, PullingLake, postgresql_at, things

BEFORE = """
DROP TABLE IF EXISTS orders;
CREATE TABLE orders (id int PRIMARY KEY, note text, updated_at timestamp);
INSERT INTO orders VALUES (1, 'a', '2026-01-01'), (2, 'a', '9999-12-31')
"""
AFTER = """
INSERT INTO orders VALUES (3, 'new', '2026-01-02');
UPDATE orders SET note = 'b', updated_at = '2026-01-02 00:00:00.000001' WHERE id = 1
"""
CORRECTED = "UPDATE orders SET note = 'c', updated_at = '2026-01-03' WHERE id = 2"
LATER = [(1, "b"), (2, "a"), (3, "new")]


@pytest.fixture(scope="module")
def shop(postgresql):  # noqa: F811
    postgresql.execute("CREATE ROLE lake LOGIN; GRANT pg_read_all_data TO lake")
    return postgresql


@pytest.fixture
def lake(spark, shop, tmp_path):
    shop.execute(BEFORE)
    return PullingLake(
        spark, tmp_path, things(BY_CURSOR, "orders"), postgresql_at(shop)
    )


def bookmark(lake):
    return json.loads((lake.home / "pulled.json").read_text())


def landed(lake):
    rows = lake.landed("changes").orderBy("id", "updated_at").collect()
    return [(row.id, row.note) for row in rows]


@pytest.mark.nightly
def test_rows_after_one_from_the_future_arrive(lake, shop):
    lake.done("full_load")
    assert bookmark(lake)["to"] == "2026-01-01T00:00:00.000000"
    shop.execute(AFTER)
    (report,) = lake.done("incremental")
    assert lake.living("note") == LATER
    (warning,) = [each for each in report.warnings if "9999-12-31" in each]
    assert "connection 'shop': orders" in warning and "'updated_at'" in warning
    assert "Correct them" in warning
    (again,) = lake.done("incremental")
    assert (again.state, again.commits) == ("nothing_new", {})
    shop.execute(CORRECTED)
    (report,) = lake.done("incremental")
    assert report.warnings == []
    assert lake.living("note") == [(1, "b"), (2, "c"), (3, "new")]
    assert bookmark(lake)["to"] == "2026-01-03T00:00:00.000000"


def test_a_bookmark_in_the_future_that_an_older_release_left_heals(lake, shop):
    lake.pull("full_load")
    (folder,) = (lake.landing / "load").iterdir()
    named = f"{folder.name}_updated_at_start_9999-12-31T00-00-00.000000"
    folder.rename(folder.parent / named)
    (lake.home / "pulled.json").unlink()
    facts = json.loads((folder.parent / named / "_pulled.json").read_text())
    del facts["bookmark"]
    (folder.parent / named / "_pulled.json").write_text(json.dumps(facts))
    shop.execute(AFTER)
    (report,) = lake.done("incremental")
    assert any("is in the future and is ignored" in w for w in report.warnings)
    assert landed(lake) == LATER
    assert bookmark(lake)["to"] == "2026-01-02T00:00:00.000001"


def test_a_bookmark_in_the_name_of_a_folder_is_read_once(lake, shop):
    shop.execute("DELETE FROM orders WHERE id = 2")
    lake.pull("full_load")
    (folder,) = (lake.landing / "load").iterdir()
    folder.rename(
        folder.parent / f"{folder.name}_updated_at_start_2026-01-01T00-00-00.000000"
    )
    (lake.home / "pulled.json").unlink()
    shop.execute(AFTER)
    lake.pull("incremental")
    assert landed(lake) == [(1, "b"), (3, "new")]
    assert bookmark(lake)["to"] == "2026-01-02T00:00:00.000001"


@pytest.mark.nightly
def test_a_pull_killed_before_its_bookmark_loses_and_doubles_no_row(
    lake, shop, monkeypatch
):
    shop.execute("DELETE FROM orders WHERE id = 2")

    def killed(store, uri, content):
        if uri.endswith("/pulled.json"):
            raise KeyboardInterrupt
        return write(store, uri, content)

    write = FolderStore.write
    for stage in ("full_load", "incremental"):
        monkeypatch.setattr(FolderStore, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            lake.pull(stage)
        monkeypatch.setattr(FolderStore, "write", write)
        if stage == "full_load":
            lake.done("full_load")
            shop.execute(AFTER)
    shop.execute("INSERT INTO orders VALUES (4, 'later', '2026-01-04')")
    (report,) = lake.done("incremental")
    assert landed(lake) == [(1, "b"), (1, "b"), (3, "new"), (3, "new"), (4, "later")]
    assert (report.accepted, report.duplicates) == (3, 2)
    assert lake.living("note") == [(1, "b"), (3, "new"), (4, "later")]


@pytest.mark.nightly
def test_a_run_can_be_asked_to_pull_from_a_value_again(lake, shop):
    shop.execute("DELETE FROM orders WHERE id = 2")
    lake.done("full_load")
    shop.execute("INSERT INTO orders VALUES (5, 'forgotten', '2025-06-01')")
    lake.done("incremental")
    assert lake.living("note") == [(1, "a")]
    report = lake.run("incremental", accepted=Accepted(pull_from="2025-01-01T00:00:00"))
    assert report.error is None
    assert lake.living("note") == [(1, "a"), (5, "forgotten")]
    report = lake.run("incremental", accepted=Accepted(pull_from="7"))
    assert report.error["message"] == (
        "connection 'shop': orders: pull_from is '7', and its cursor 'updated_at' is a"
        " timestamp. Give a value of that kind."
    )
    assert lake.run("incremental", accepted=Accepted(pull_from="start")).error is None


NUMBERED = """
DROP TABLE IF EXISTS numbered;
CREATE TABLE numbered
    (id bigserial PRIMARY KEY, note text, updated_at {kind}, at date DEFAULT '2026-01-01');
INSERT INTO numbered (note, updated_at) VALUES ('a', 7);
INSERT INTO numbered (note, updated_at) VALUES ('a', 9223372036854775807)
"""


@pytest.mark.parametrize("kind", ["bigint", "bigserial"])
def test_a_number_that_nothing_can_follow_moves_nothing(spark, shop, tmp_path, kind):
    shop.execute(NUMBERED.format(kind=kind))
    shop.execute("SELECT nextval('numbered_id_seq')")
    if kind == "bigserial":
        shop.execute("SELECT setval('numbered_updated_at_seq', 9)")
    spec = things(
        BY_CURSOR.replace(
            "order_by: [updated_at]", "order_by: [version]\neffective_at: at"
        ),
        "numbered",
        "id: bigint, version: {type: bigint, source: [updated_at]}, at: date",
    )
    lake = PullingLake(spark, tmp_path, spec, postgresql_at(shop))
    lake.pull("full_load")
    assert bookmark(lake)["to"] == "7"
    shop.execute("INSERT INTO numbered (note, updated_at) VALUES ('b', 8)")
    lake.pull("incremental")
    assert [(row.note, row.updated_at) for row in lake.landed("changes").collect()] == [
        ("b", 8)
    ]
    assert bookmark(lake)["to"] == "8"


def test_rows_without_a_cursor_are_told(lake, shop):
    shop.execute("UPDATE orders SET updated_at = NULL WHERE id = 2")
    lake.pull("full_load")
    report = lake.run("incremental")
    assert any("is null in some rows" in each for each in report.warnings)


RENAMED = "ALTER TABLE orders RENAME note TO remark"


def test_a_renamed_or_dropped_column_refuses_the_pull_until_it_is_declared(
    spark, shop, tmp_path
):
    shop.execute(BEFORE + "; DELETE FROM orders WHERE id = 2")
    declared = "id: int, note: {}, updated_at: timestamp"
    spec = things(BY_CURSOR, "orders", declared.format("string"))
    lake = PullingLake(spark, tmp_path, spec, postgresql_at(shop))
    lake.done("full_load")
    shop.execute(RENAMED)
    before = lake.files()
    report = lake.run("incremental")
    assert report.error["type"] == "PullFailed" and lake.files() == before
    assert report.error["message"] == (
        "connection 'shop': orders lacks the column(s) note, which tests.things declares;"
        " not declared are remark. Nothing was landed. If it was renamed there, declare"
        " columns: {note: {source: [remark, note], ...}}; if it was dropped, {note:"
        " {dropped: true, ...}}."
    )
    words = declared.format("{type: string, source: [remark, note]}")
    lake.spec = things(BY_CURSOR, "orders", words)
    shop.execute("UPDATE orders SET updated_at = '2026-01-05', remark = 'b'")
    lake.done("incremental")
    assert lake.living("note") == [(1, "b")]
    shop.execute("ALTER TABLE orders DROP remark")
    assert "lacks the column(s) note" in lake.run("incremental").error["message"]
    words = declared.format("{type: string, source: [remark, note], dropped: true}")
    lake.spec = things(BY_CURSOR, "orders", words)
    lake.done("incremental")
    assert lake.living("note") == [(1, "b")]


def test_a_row_read_again_without_an_undeclared_column_keeps_its_value(lake, shop):
    shop.execute("DELETE FROM orders WHERE id = 2")
    shop.execute("INSERT INTO orders VALUES (6, 'kept', '2026-01-01')")
    lake.done("full_load")
    shop.execute(RENAMED)
    shop.execute("UPDATE orders SET updated_at = '2026-01-01 00:00:01' WHERE id = 1")
    lake.done("incremental")
    assert lake.living("note") == [(1, None), (6, "kept")]


OLD = "DELETE FROM orders WHERE id = 2; INSERT INTO orders VALUES (6, 'old', '2025-01-01')"
WITH_DEFAULT = "ALTER TABLE orders ADD fee numeric(4,2) NOT NULL DEFAULT 1.50"
NOT_PULLED = (
    "NewColumnNotPulled: orders: new column(s) with values in rows that no pull reads: "
    "fee (1 rows): those rows have not moved their cursor since, so the table has null "
    "there. Read all rows again once: ./run_locally.sh run tests_incremental --param "
    "tables=things --param pull_from=start; or set source.new_columns: refresh."
)


def fees(lake):
    return [(key, fee and str(fee)) for key, fee in lake.living("fee")]


@pytest.mark.nightly
def test_a_column_with_a_default_is_told_until_all_rows_were_read(lake, shop):
    """Row 1 is read again for the overlap: it takes the value without a new version."""
    shop.execute(OLD)
    lake.done("full_load", "scd2")
    shop.execute(WITH_DEFAULT)
    for _ in range(2):
        report, _ = lake.done("incremental", "scd2")
        assert NOT_PULLED in report.warnings
        assert fees(lake) == [(1, "1.50"), (6, None)]
    report = lake.run("incremental", accepted=Accepted(pull_from="start"))
    assert report.error is None
    lake.done("scd2")
    assert fees(lake) == [(1, "1.50"), (6, "1.50")]
    assert [row[0] for row in lake.versions("note")] == [1, 6]  # one version each
    (report,) = lake.done("incremental")
    assert not [each for each in report.warnings if each.startswith("NewColumn")]


@pytest.mark.nightly
def test_a_column_with_a_default_reads_all_rows_where_the_spec_says_so(
    spark, shop, tmp_path
):
    shop.execute(f"{BEFORE}; {OLD}")
    by_cursor = BY_CURSOR.replace(
        "  load: load/**", "  new_columns: refresh\n  load: load/**"
    )
    lake = PullingLake(
        spark, tmp_path, things(by_cursor, "orders"), postgresql_at(shop)
    )
    lake.done("full_load", "scd2")
    shop.execute(WITH_DEFAULT)
    shop.execute("UPDATE orders SET note = 'b', updated_at = '2026-01-02' WHERE id = 1")
    report, _ = lake.done("incremental", "scd2")
    assert not [each for each in report.warnings if each.startswith("NewColumn")]
    assert fees(lake) == [(1, "1.50"), (6, "1.50")]
    assert sorted(row[0] for row in lake.versions("note")) == [1, 1, 6]
    (report,) = lake.done("incremental")
    assert report.state == "nothing_new"


@pytest.mark.nightly
def test_a_column_without_a_value_is_nothing_to_tell(lake, shop):
    shop.execute(OLD)
    lake.done("full_load")
    shop.execute("ALTER TABLE orders ADD fee numeric(4,2)")
    (report,) = lake.done("incremental")
    assert not [each for each in report.warnings if each.startswith("NewColumn")]


@pytest.mark.nightly  # by day: schema/test_timestamps.py
def test_rows_of_an_hour_that_a_clock_shows_twice_arrive(
    spark, shop, tmp_path, monkeypatch
):
    shop.execute(BEFORE + "; DELETE FROM orders WHERE id = 2")
    in_vienna = BY_CURSOR.replace("key:", "  timezone: Europe/Vienna\nkey:")
    spec = things(in_vienna, "orders")
    lake = PullingLake(spark, tmp_path, spec, postgresql_at(shop))
    lake.done("full_load")
    nights = [  # what the database's clock says in UTC, and what is written before
        ("2026-10-25 00:59:30", (2, "02:59, first"), "2026-10-25 02:59:00"),
        ("2026-10-25 01:10:00", (3, "02:09, second"), "2026-10-25 02:09:00"),
        ("2026-10-25 01:59:00", (4, "02:11, second"), "2026-10-25 02:11:00"),
        ("2026-10-25 02:59:00", (5, "03:58"), "2026-10-25 03:58:00"),
    ]
    rows = [(1, "a")]
    for now, (number, note), written in nights:
        shop.execute(f"INSERT INTO orders VALUES ({number}, '{note}', '{written}')")
        monkeypatch.setattr(PostgreSqlDialect, "now", lambda *_, now=now: now)
        (report,) = lake.done("incremental")
        rows.append((number, note))
        assert (lake.living("note"), report.warnings) == (rows, [])
