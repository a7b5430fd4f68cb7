"""Debezium reads PostgreSQL and MariaDB into topics.

Rows 1 and 2 are there before; 3 comes, 1 changes, 2 becomes 22, 3 goes, and in the
end all go at once. Row 2 has no amount, though the column has a default.
"""

from __future__ import annotations

import pytest

from tests.servers.connectors import mariadb_connector, postgresql_connector

TABLE = "(id INT PRIMARY KEY, amount DECIMAL(10, 2) DEFAULT 7, note TEXT)"
BEFORE = "INSERT INTO watched.item VALUES (1, 10.5, 'a'), (2, NULL, NULL)"
CHANGES = (
    "INSERT INTO watched.item (id, note) VALUES (3, 'c')",
    "UPDATE watched.item SET note = 'b', amount = 11.25 WHERE id = 1",
    "UPDATE watched.item SET id = 22 WHERE id = 2",
    "DELETE FROM watched.item WHERE id = 3",
    "TRUNCATE TABLE watched.item",
)
ONE = {"id": 1, "amount": "10.50", "note": "a"}
TWO = {"id": 2, "amount": None, "note": None}
THREE = {"id": 3, "amount": "7.00", "note": "c"}
ONE_LATER = {"id": 1, "amount": "11.25", "note": "b"}
TOMBSTONE = (None, None, None)


def only_id(row):
    """A row as PostgreSQL remembers it, which by default keeps its key alone."""
    return {"id": row["id"], "amount": None, "note": None}


def expected(before_update, remembered):
    """Operation, row before, row after of each record."""
    return [
        ("r", None, ONE),
        ("r", None, TWO),
        ("c", None, THREE),
        ("u", before_update, ONE_LATER),
        ("d", remembered(TWO), None),
        TOMBSTONE,
        ("c", None, {**TWO, "id": 22}),
        ("d", remembered(THREE), None),
        TOMBSTONE,
        ("t", None, None),
    ]


def changed(record):
    value = record.json()
    return (value["op"], value["before"], value["after"]) if value else TOMBSTONE


@pytest.fixture(scope="module")
def watched(postgresql, mariadb):
    for server in (postgresql, mariadb):
        server.execute("CREATE SCHEMA watched")
        server.execute(f"CREATE TABLE watched.item {TABLE}")
        server.execute(BEFORE)
    postgresql.execute("CREATE PUBLICATION watched FOR TABLES IN SCHEMA watched")


@pytest.fixture(scope="module")
def captured(watched, postgresql, mariadb, kafka, connect):
    """The records of all three topics."""
    options = {"schema": "watched", "publication": "watched"}
    full = postgresql_connector(postgresql, prefix="full", slot="full", **options)
    flat = postgresql_connector(
        postgresql, prefix="flat", slot="flat", flat=True, **options
    )
    maria = mariadb_connector(mariadb, kafka, prefix="maria", database="watched")
    with connect.running("full", full), connect.running("flat", flat):
        with connect.running("maria", maria):
            for prefix in ("full", "flat", "maria"):
                kafka.read_until(
                    f"{prefix}.watched.item", lambda records: len(records) > 1
                )
            for change in CHANGES:
                postgresql.execute(change)
                mariadb.execute(change)
            return {
                prefix: kafka.read_until(
                    f"{prefix}.watched.item", lambda records: len(records) >= count
                )
                for prefix, count in (("full", 10), ("flat", 7), ("maria", 10))
            }


def test_changes_of_postgresql_come_in_order(captured):
    changes = [changed(record) for record in captured["full"]]
    assert changes == expected(None, only_id)


def test_changes_of_mariadb_come_in_order_with_whole_rows_before(captured):
    changes = [changed(record) for record in captured["maria"]]
    assert changes == expected(ONE, lambda row: row)


def test_flat_records_have_the_row_and_what_happened_but_no_truncate(captured):
    rows = [record.json() for record in captured["flat"]]
    assert [(row["id"], row["__op"], row["__deleted"]) for row in rows] == [
        (1, "r", "false"),
        (2, "r", "false"),
        (3, "c", "false"),
        (1, "u", "false"),
        (2, "d", "true"),
        (22, "c", "false"),
        (3, "d", "true"),
    ]
    assert rows[1]["amount"] is None
    added = {"__table", "__source_lsn", "__source_sequence", "__source_ts_ms"}
    assert all(added <= set(row) for row in rows)


@pytest.mark.parametrize("prefix", ["full", "flat", "maria"])
def test_a_new_key_is_a_delete_and_an_insert_that_name_each_other(captured, prefix):
    named = [
        (record.key_json(), name, header)
        for record in captured[prefix]
        for name, header in record.headers.items()
        if record.value is not None
    ]
    assert named == [
        ({"id": 2}, "__debezium.newkey", b'{"id":22}'),
        ({"id": 22}, "__debezium.oldkey", b'{"id":2}'),
    ]
