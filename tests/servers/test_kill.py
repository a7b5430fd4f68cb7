"""Connect is killed with -9, twice, while rows come into both databases.

Row 0 is there before and read first. Then come the rows 1, 2, 3 ..., twenty in each
transaction; every one must be in its topic once, in order.
"""

from __future__ import annotations

import threading

import pytest

from tests.servers.connectors import mariadb_connector, postgresql_connector

TOPICS = ("killed-pg.counted.number", "killed-maria.counted.number")
ROWS = 20
INSERT = "INSERT INTO counted.number VALUES (%s)"


class Writer(threading.Thread):
    """Writes rows into both databases until it is told to stop."""

    def __init__(self, *databases):
        super().__init__()
        self.databases = databases
        self.written = 1
        self.enough = threading.Event()

    def run(self):
        connections = [database.connect() for database in self.databases]
        while not self.enough.wait(0.05):
            numbers = range(self.written, self.written + ROWS)
            for connection in connections:
                connection.cursor().executemany(INSERT, [(each,) for each in numbers])
                connection.commit()
            self.written += ROWS
        for connection in connections:
            connection.close()

    def stop(self):
        self.enough.set()
        if self.ident is not None:
            self.join()


@pytest.fixture
def writer(postgresql, mariadb):
    for database in (postgresql, mariadb):
        database.execute("CREATE SCHEMA counted")
        database.execute("CREATE TABLE counted.number (id INT PRIMARY KEY)")
        database.execute(INSERT, (0,))
    postgresql.execute("CREATE PUBLICATION counted FOR TABLES IN SCHEMA counted")
    thread = Writer(postgresql, mariadb)
    yield thread
    thread.stop()


@pytest.fixture
def connectors(writer, postgresql, mariadb, kafka, connect):
    options = {"schema": "counted", "publication": "counted", "slot": "counted"}
    maria = {"database": "counted", "server_id": 1001}
    pg = postgresql_connector(postgresql, prefix="killed-pg", **options)
    made = mariadb_connector(mariadb, kafka, prefix="killed-maria", **maria)
    with connect.running("killed-pg", pg), connect.running("killed-maria", made):
        yield


def test_a_killed_worker_loses_and_doubles_nothing(connectors, writer, kafka, connect):
    def wait_for_more_than(count):
        for topic in TOPICS:
            kafka.read_until(topic, lambda records: len(records) > count, seconds=60)

    # What is written while Debezium's MariaDB connector begins to read the rows that
    # are there may come as one of those and as a change.
    wait_for_more_than(0)
    writer.start()
    for _ in range(2):
        wait_for_more_than(writer.written)
        connect.kill()
        connect.start()
    wait_for_more_than(writer.written)
    writer.stop()
    wait_for_more_than(writer.written - 1)
    for topic in TOPICS:
        rows = [record.json()["after"]["id"] for record in kafka.read(topic)]
        assert rows == list(range(writer.written))
