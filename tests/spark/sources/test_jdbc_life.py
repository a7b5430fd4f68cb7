"""What happens to a table in its life, at random times, while it is pulled by a cursor.

Rows come and change; columns are added, renamed, dropped, generated and widened. After
each pull current is what the source says, or the run is refused by name, nothing was
written, and it goes on once the spec says what happened.
"""

from __future__ import annotations

from random import Random

import pytest

from tests.servers.fixtures import (  # noqa: F401
    ended_in_order,
    mariadb,
    postgresql,
    servers_folder,
)
from tests.kinds import one_by_day
from tests.spark.pulling import (
    BY_CURSOR,
    PASSWORD,
    PullingLake,
    mariadb_at,
    postgresql_at,
    things,
)

STEPS = 6
DECLARED = {"note": "string", "qty": "int", "price": '"decimal(12,2)"'}


class Life:
    """A table, its spec, and what the lake must have of it."""

    def __init__(self, server, database, seed):
        self.server, self.is_pg = server, database == "postgresql"
        self.random = Random(f"{seed}/{database}")
        self.table = f"life.t{seed}"
        self.types = dict(DECLARED)
        self.sources = {name: [name] for name in DECLARED}
        self.dropped = set()
        self.wanted = {}
        self.made = 0
        at = "timestamptz" if self.is_pg else "timestamp(6)"
        now = "clock_timestamp()" if self.is_pg else "now(6)"
        self.now = now
        server.execute(
            f"CREATE TABLE {self.table} (id int PRIMARY KEY, note varchar(20), qty int,"
            f" price decimal(12,2), updated_at {at} NOT NULL DEFAULT {now})"
        )

    def spec(self):
        columns = "".join(
            f", {name}: {{type: {kind}, source: [{', '.join(self.sources[name])}],"
            f" dropped: {str(name in self.dropped).lower()}}}"
            for name, kind in self.types.items()
        )
        declared = f"id: int, updated_at: timestamp{columns}"
        return things(BY_CURSOR, self.table, declared)

    def there(self):
        """The lake's columns that the source has, each with its name there."""
        return {n: s[0] for n, s in self.sources.items() if n not in self.dropped}

    def work(self):
        for _ in range(self.random.randint(1, 4)):
            number = self.random.randint(1, 8)
            values = {
                "note": self.random.choice(["a", "b ", "", "é"]),
                "qty": self.random.randint(-5, 5),
                "price": self.random.choice(["0.10", "9999999999.99", "-1.5"]),
            }
            kept = {s: values[n] for n, s in self.there().items() if n in values}
            if not self.server.execute(
                f"SELECT 1 FROM {self.table} WHERE id = {number}"
            ):
                names = ", ".join(("id", *kept))
                marks = ", ".join(["%s"] * (len(kept) + 1))
                self.server.execute(
                    f"INSERT INTO {self.table} ({names}) VALUES ({marks})",
                    (number, *kept.values()),
                )
                continue
            sets = "".join(f", {name} = %s" for name in kept)
            self.server.execute(
                f"UPDATE {self.table} SET updated_at = {self.now}{sets}"
                f" WHERE id = {number}",
                tuple(kept.values()),
            )

    def happens(self):
        """One event, and what the run that follows says of it; '' where it goes on."""
        name = self.random.choice(sorted(set(self.there()) & set(DECLARED)))
        source, self.made = self.there()[name], self.made + 1
        events = ["rename", "drop", "add", "generate", "widen"]
        event = "rename" if self.made == 1 else self.random.choice(events)
        alter = f"ALTER TABLE {self.table}"
        if event == "rename" or (event == "drop" and len(self.there()) < 3):
            new = f"{name}_{self.made}"
            self.server.execute(f"{alter} RENAME COLUMN {source} TO {new}")
            self.sources[name].insert(0, new)
            return f"lacks the column(s) {name}"
        if event == "drop":
            if name == "qty":
                self._drop_generated()
            self.server.execute(f"{alter} DROP COLUMN {source}")
            self.dropped.add(name)
            return f"lacks the column(s) {name}"
        if event == "add":
            self.server.execute(f"{alter} ADD COLUMN more_{self.made} int")
            return ""
        if event == "generate" and "qty" in self.there():
            new, qty = f"twice_{self.made}", self.there()["qty"]
            self.server.execute(
                f"{alter} ADD COLUMN {new} bigint GENERATED ALWAYS AS ({qty} * 2) STORED"
            )
            self.types[new], self.sources[new] = "bigint", [new]
            self.server.execute(f"UPDATE {self.table} SET updated_at = {self.now}")
            return ""
        if event == "widen" and self.types["qty"] == "int" and self._is_alone():
            how = "ALTER COLUMN {} TYPE bigint" if self.is_pg else "MODIFY {} bigint"
            self.server.execute(f"{alter} {how.format(self.there()['qty'])}")
            self.types["qty"] = "bigint"
            return "is bigint, but the table's column 'qty' is int"
        return ""

    def _is_alone(self):
        """Whether qty is there and no generated column is made of it."""
        made = any(each.startswith("twice_") for each in self.there())
        return "qty" in self.there() and not made

    def _drop_generated(self):
        for name in [each for each in self.there() if each.startswith("twice_")]:
            self.server.execute(f"ALTER TABLE {self.table} DROP COLUMN {name}")
            self.dropped.add(name)

    def expected(self):
        """Rows by key: of dropped columns what they had."""
        names = self.there()
        listed = ", ".join(("id", *names.values()))
        for number, *values in self.server.execute(
            f"SELECT {listed} FROM {self.table}"
        ):
            row = self.wanted.setdefault(number, {})
            row.update(zip(names, values))
        return {
            number: {name: row.get(name) for name in self.types}
            for number, row in self.wanted.items()
        }


@pytest.fixture(scope="module")
def servers(postgresql, mariadb):  # noqa: F811
    postgresql.execute("CREATE ROLE lake LOGIN; GRANT pg_read_all_data TO lake")
    postgresql.execute("CREATE SCHEMA life")
    mariadb.execute("CREATE DATABASE life")
    mariadb.execute(f"CREATE USER lake IDENTIFIED BY '{PASSWORD}'")
    mariadb.execute("GRANT SELECT ON life.* TO lake")
    return {
        "postgresql": (postgresql, postgresql_at(postgresql)),
        "mariadb": (mariadb, mariadb_at(mariadb, "life")),
    }


PLAYS = [("postgresql", 1), ("mariadb", 1), ("postgresql", 2), ("mariadb", 2)]


@pytest.mark.parametrize("played", one_by_day(PLAYS))
def test_the_lake_follows_a_table_through_its_life(spark, servers, tmp_path, played):
    database, seed = played
    server, connection = servers[database]
    life = Life(server, database, seed)
    life.work()
    lake = PullingLake(spark, tmp_path, life.spec(), connection)
    lake.done("full_load")
    refused = 0
    for step in range(STEPS):
        said = life.happens() if step == 0 or life.random.random() < 0.7 else ""
        life.work()
        if said:
            before = lake.files()
            error = lake.run("incremental").error
            assert said in error["message"], error
            if error["type"] == "PullFailed":
                assert lake.files() == before
            refused += 1
        lake.spec = life.spec()
        lake.done("incremental")
        rows = lake.current.select("id", *life.types).collect()
        found = {
            row.id: {k: v for k, v in row.asDict().items() if k != "id"} for row in rows
        }
        assert found == life.expected(), (database, seed)
    assert refused
