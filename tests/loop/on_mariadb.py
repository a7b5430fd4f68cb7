"""Random work on MariaDB, at times of its own: its triggers, its connector."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from random import Random
from typing import Any, Dict, Sequence

from lake_spec.model import Connection
from tests.loop.kinds import BLOB, KINDS, MARIADB, word
from tests.loop.source import LONGEST_WAIT, Session, Source
from tests.loop.tables import Table
from tests.servers.connectors import mariadb_connector
from tests.servers.kafka import Kafka
from tests.servers.mariadb import MariaDb
from tests.spark.pulling import PASSWORD, mariadb_at

HOURS_AGO = 6
"""How long ago the work seems to begin."""


class Clock:
    """The time of statements: a new second now and then, however fast they follow."""

    def __init__(self) -> None:
        self._next = time.time() - HOURS_AGO * 3600

    def tick(self) -> int:
        """The second of the next statement."""
        self._next += 0.4
        return self.now()

    def now(self) -> int:
        """The second of the last one."""
        return int(self._next)


class OnMariaDb(Source):
    """Events have the whole second at which their statement began."""

    database = MARIADB
    audit_columns = (
        "audit_number BIGINT AUTO_INCREMENT PRIMARY KEY, audit_op CHAR(1),"
        " audit_at DATETIME"
    )
    audit_at = "NOW()"
    audit_time = "audit_at"
    of_schema = " COLLATE utf8mb4_bin"  # else 'a' and 'A' were one key

    def __init__(self, server: MariaDb, schema: str, kafka: Kafka, id_: int) -> None:
        super().__init__(server, schema)
        self.kafka = kafka
        self.server_id = id_
        self.clock = Clock()
        self._logs = 0

    def watch(self, table: Table) -> None:
        """An update that changes no byte of a row is in no log, and not in the audit."""
        key, columns = list(table.key), list(self.shapes[table.name].now)
        gone = self.audited(table, "d", "OLD", key)
        made = self.audited(table, "u", "NEW", columns)
        moved = f"IF NOT ({_same(key)}) THEN {gone}; END IF"
        changed = f"IF NOT ({_same(columns)}) THEN {moved}; {made}; END IF"
        for when, body in (
            ("INSERT", made),
            ("DELETE", gone),
            ("UPDATE", f"BEGIN {changed}; END"),
        ):
            self.server.execute(
                f"CREATE OR REPLACE TRIGGER {self.schema}.{table.name}_{when.lower()}"
                f" AFTER {when} ON {self.schema}.{table.name} FOR EACH ROW {body}"
            )

    def alter(self, table: Table, how: str) -> None:
        for when in ("insert", "delete", "update"):
            self.server.execute(f"DROP TRIGGER {self.schema}.{table.name}_{when}")
        self.server.execute(f"ALTER TABLE {self.schema}.{table.name} {how}")
        self.watch(table)

    def type_of(self, kind: str) -> str:
        is_blob = self.is_loaded and kind == "long_bytes"
        return BLOB if is_blob else super().type_of(kind)

    def value(self, random: Random, kind: str) -> Any:
        """There are no arrays, and no JSON as PostgreSQL has it: texts stand for them."""
        if kind == "tags":
            return word(random)
        is_text = KINDS[kind].is_long and kind != "long_bytes"
        return super().value(random, "long" if is_text else kind)

    def now(self) -> datetime:
        second = datetime.fromtimestamp(self.clock.now(), timezone.utc)
        return second.replace(tzinfo=None)

    def reader(self) -> Connection:
        user = f"CREATE USER IF NOT EXISTS lake IDENTIFIED BY '{PASSWORD}'"
        self.server.execute(user)
        self.server.execute(f"GRANT SELECT ON {self.schema}.* TO lake")
        return mariadb_at(self.server, self.schema)

    def capturing(self, again: int = 0) -> Dict[str, str]:
        made = mariadb_connector(
            self.server,
            self.kafka,
            prefix=self.schema,
            database=self.schema,
            server_id=self.server_id + 500 * again,
        )
        history = "schema.history.internal.kafka.topic"
        made[history] += f"-{again}"
        # By default the year 1 becomes 2001.
        return {**made, "enable.time.adjuster": "false"}

    def start_log_over(self) -> None:
        self._logs += 1
        self.server.stop()
        self.server.log_name = f"bin{self.server_id}x{self._logs}"
        self.server.start()

    def session(self) -> Session:
        session = InMariaDb(self.server.connect(), self.clock)
        session.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        session.execute(
            f"SET SESSION innodb_lock_wait_timeout = {LONGEST_WAIT},"
            f" lock_wait_timeout = {LONGEST_WAIT}"
        )
        return session


def _same(names: Sequence[str]) -> str:
    """Whether a row has the same bytes before and after, whatever its collation."""
    return " AND ".join(f"BINARY OLD.{name} <=> BINARY NEW.{name}" for name in names)


class InMariaDb(Session):
    """A connection whose statements say when they are."""

    def __init__(self, connection: Any, clock: Clock) -> None:
        super().__init__(connection)
        self.clock = clock

    def execute(self, sql: str, values: Sequence[Any] = ()) -> None:
        super().execute(f"SET TIMESTAMP = {self.clock.tick()}")
        super().execute(sql, values)

    def truncate(self, source: Source, table: Table) -> bool:
        """No trigger sees it; the audit is told, at the same time."""
        super().truncate(source, table)
        Session.execute(
            self,
            f"INSERT INTO {source.audit}.{table.name} (audit_op, audit_at)"
            " VALUES ('t', NOW())",
        )
        self.end(commit=True)
        return True
