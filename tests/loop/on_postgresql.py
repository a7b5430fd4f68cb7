"""Random work on PostgreSQL: its triggers, its commit times, its connector."""

from __future__ import annotations

import math
import time
from datetime import datetime
from random import Random
from typing import Any, Dict

import psycopg

from lake_spec.model import Connection
from tests.loop.kinds import POSTGRESQL
from tests.loop.source import LONGEST_WAIT, Session, Source
from tests.loop.tables import GENERATED, IGNORED, TABLES, Table
from tests.servers.connectors import postgresql_connector
from tests.servers.postgresql import PostgreSql
from tests.spark.pulling import postgresql_at

WATCH = """
CREATE OR REPLACE FUNCTION {audit}.watch_{table}() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN
  IF TG_OP = 'TRUNCATE' THEN {truncated}; RETURN NULL; END IF;
  IF TG_OP = 'DELETE' THEN {gone}; RETURN NULL; END IF;
  IF TG_OP = 'UPDATE' AND ({old_key}) IS DISTINCT FROM ({new_key}) THEN {gone}; END IF;
  {made};
  RETURN NULL;
END $$
"""


def remember_commit_times(server: PostgreSql) -> None:
    """Let a server keep the time of each commit, which it does not by default."""
    server.execute("ALTER SYSTEM SET track_commit_timestamp = on")
    server.stop()
    server.start()


class OnPostgreSql(Source):
    """Commit times are known to the microsecond, to the audit after the commit."""

    database = POSTGRESQL
    audit_columns = (
        "audit_number bigint GENERATED ALWAYS AS IDENTITY, audit_op text, audit_at xid"
    )
    audit_at = "pg_current_xact_id()::xid"
    audit_time = "pg_xact_commit_timestamp(audit_at)"

    def create(self) -> None:
        super().create()
        # Debezium sends it in its snapshot, and in no change.
        self.server.execute(
            f"ALTER TABLE {self.schema}.{GENERATED} ADD COLUMN {IGNORED} int"
            " GENERATED ALWAYS AS (length(name)) STORED"
        )
        for each in TABLES:
            place = f"{self.schema}.{each.name}"
            if each.is_full:
                self.server.execute(f"ALTER TABLE {place} REPLICA IDENTITY FULL")
            for name, when, rows in (
                ("rows", "INSERT OR UPDATE OR DELETE", "ROW"),
                ("all", "TRUNCATE", "STATEMENT"),
            ):
                self.server.execute(
                    f"CREATE TRIGGER watch_{name} AFTER {when} ON {place} FOR EACH"
                    f" {rows} EXECUTE FUNCTION {self.audit}.watch_{each.name}()"
                )
        self.server.execute(
            f"CREATE PUBLICATION {self.schema} FOR TABLES IN SCHEMA {self.schema}"
        )

    def watch(self, table: Table) -> None:
        self.server.execute(self._watch(table))

    def _watch(self, table: Table) -> str:
        key = list(table.key)
        return WATCH.format(
            audit=self.audit,
            table=table.name,
            truncated=self.audited(table, "t", "NEW", []),
            gone=self.audited(table, "d", "OLD", key),
            made=self.audited(table, "u", "NEW", list(self.shapes[table.name].now)),
            old_key=", ".join(f"OLD.{name}" for name in key),
            new_key=", ".join(f"NEW.{name}" for name in key),
        )

    def alter(self, table: Table, how: str) -> None:
        with self.server.connect() as connection:
            connection.execute(f"ALTER TABLE {self.schema}.{table.name} {how}")
            connection.execute(self._watch(table))

    def value(self, random: Random, kind: str) -> Any:
        if kind == "ratio" and random.random() < 0.1:
            return random.choice([math.nan, math.inf, -math.inf])
        return super().value(random, kind)

    def now(self) -> datetime:
        ((now,),) = self.server.execute("SELECT clock_timestamp() AT TIME ZONE 'UTC'")
        return now

    def reader(self) -> Connection:
        known = self.server.execute("SELECT 1 FROM pg_roles WHERE rolname = 'lake'")
        if not known:
            self.server.execute("CREATE ROLE lake LOGIN")
            self.server.execute("GRANT pg_read_all_data TO lake")
        return postgresql_at(self.server)

    def capturing(self, again: int = 0) -> Dict[str, str]:
        names = {"publication": self.schema, "slot": self.schema}
        made = postgresql_connector(
            self.server, prefix=self.schema, schema=self.schema, **names
        )
        return {**made, "heartbeat.interval.ms": "500"}

    def forget(self) -> None:
        for _ in range(50):
            try:
                self.server.execute(f"SELECT pg_drop_replication_slot('{self.schema}')")
                return
            except psycopg.errors.ObjectInUse:
                time.sleep(0.2)

    def release(self) -> None:
        active = "SELECT 1 FROM pg_replication_slots WHERE slot_name = %s AND active"
        for _ in range(100):
            if not self.server.execute(active, (self.schema,)):
                return
            time.sleep(0.1)

    def session(self) -> Session:
        session = Session(self.server.connect())
        session.execute(f"SET lock_timeout = '{LONGEST_WAIT}s'")
        session.end(commit=True)
        return session
