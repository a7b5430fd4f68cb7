"""PostgreSQL: sessions that share a snapshot, and its types without loss."""

from __future__ import annotations

import re
from typing import Dict, List

from lake_spec.model import PostgreSql
from lake_spark.pulls.database import (
    LONGEST_WAIT,
    Opened,
    Reading,
    Session,
    SourceColumn,
)

_KEPT = ("bool", "int4", "int8", "serial", "bigserial", "float4", "float8")
_KEPT += ("text", "varchar", "bpchar", "bytea")
_KEPT_LISTS = ("_bool", "_int4", "_int8", "_float4", "_float8", "_text", "_varchar")
_SMALL = ("int2", "smallserial")
_WHOLE = (*_SMALL, "int4", "int8", "serial", "bigserial")
_TIMES = {"date": "date", "timestamp": "timestamp_ntz", "timestamptz": "timestamp"}
_MOST_DIGITS = 38
_NOT_LOCKABLE = "42809"
"""What PostgreSQL says of LOCK TABLE of a materialized view, which needs none."""

_NOW = (
    """to_char(statement_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24-MI-SS')"""
)
_FROM_SECONDS = {
    "date": "CAST(to_timestamp({}) AT TIME ZONE 'UTC' AS date)",
    "timestamp": "to_timestamp({}) AT TIME ZONE 'UTC'",
    "timestamptz": "to_timestamp({})",
}


class PostgreSqlDialect:
    """One snapshot, which the driver exports and every session of Spark's joins."""

    driver = "org.postgresql.Driver"
    begin = (
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        "SET LOCAL TIME ZONE 'UTC'",
        # It waits while Spark reads, and the snapshot goes with it.
        "SET LOCAL idle_in_transaction_session_timeout = 0",
    )
    cursors = {**dict.fromkeys((*_WHOLE, "numeric"), "number"), **_TIMES}

    def url(self, database: PostgreSql) -> str:
        """Its JDBC address, without user and password."""
        place = f"{database.host}:{database.port}/{database.database}"
        return f"jdbc:postgresql://{place}"

    def properties(self, database: PostgreSql) -> Dict[str, str]:
        """Further properties of every session."""
        return {
            "sslmode": "require" if database.tls else "prefer",
            "tcpKeepAlive": "true",
            "ApplicationName": "lake",
        }

    def quoted(self, name: str) -> str:
        """An identifier in SQL."""
        return '"' + name.replace('"', '""') + '"'

    def opened(self, session: Session, table: str) -> Opened:
        """The time and the snapshot of a session that has just begun to read a table.

        Where TRUNCATE or ALTER TABLE gave it new files, an older snapshot shows it
        empty. So the table is locked against them first.
        """
        lock = f"LOCK TABLE {table} IN ACCESS SHARE MODE"
        session.attempt(lock, but=_NOT_LOCKABLE)
        at, snapshot = session.row(f"SELECT {_NOW}, pg_export_snapshot()")
        return Opened(at, snapshot)

    def joining(self, opened: Opened) -> str:
        """The statement that begins a session of Spark's in the same snapshot."""
        snapshot = f"SET TRANSACTION SNAPSHOT '{opened.snapshot}'"
        first, zone, *_ = self.begin
        wait = f"SET LOCAL lock_timeout = '{LONGEST_WAIT}s'"
        return "; ".join((first, snapshot, zone, wait))

    def reading(self, column: SourceColumn, *, as_text: bool) -> Reading:
        """How a column is read without loss."""
        name, kind = self.quoted(column.name), column.type
        if kind in (*_KEPT, *_KEPT_LISTS) or self._is_exact(column):
            return Reading(name)
        if kind in _SMALL or kind == "_int2":
            return Reading(f"CAST({name} AS int4{'[]' if kind == '_int2' else ''})")
        if kind == "money":
            return Reading(f"CAST(CAST({name} AS numeric) AS text)")
        if kind.startswith("_"):
            return Reading(f"CAST({name} AS text[])")
        return Reading(f"CAST({name} AS text)", None if as_text else _TIMES.get(kind))

    @staticmethod
    def _is_exact(column: SourceColumn) -> bool:
        """Whether a numeric says how many digits it has, and Spark has as many."""
        digits, after = column.precision, column.scale
        return (
            column.type == "numeric"
            and 0 < digits <= _MOST_DIGITS
            and 0 <= after <= digits
        )

    def edges(
        self, session: Session, table: str, column: SourceColumn, parts: int
    ) -> List[str]:
        """Literals that cut the column's values into so many ranges; [] for one."""
        name, kind = self.quoted(column.name), column.type
        if kind not in _WHOLE and kind not in _TIMES:
            return []
        number = "{}" if kind in _WHOLE else "floor(extract(epoch FROM {}))"
        ends = [number.format(f"{each}({name})") for each in ("min", "max")]
        texts = session.row(f"SELECT {', '.join(ends)} FROM {table}")
        if not all(text and re.fullmatch(r"-?\d+", text) for text in texts):
            return []  # no rows, or an infinite time
        low, high = (int(text) for text in texts)
        parts = min(parts, high - low + 1)
        cuts = [low + (high - low + 1) * each // parts for each in range(1, parts)]
        return [_FROM_SECONDS.get(kind, "{}").format(cut) for cut in cuts]

    def greatest(self, column: SourceColumn) -> str:
        """SQL of a cursor's greatest value, as text."""
        greatest = f"max({self.quoted(column.name)})"
        if column.type not in _TIMES:
            return f"CAST({greatest} AS text)"
        if column.type == "timestamptz":
            greatest = f"{greatest} AT TIME ZONE 'UTC'"
        return f"CAST(CAST({greatest} AS timestamp) AS text)"

    def literal(self, column: SourceColumn, value: str) -> str:
        """A cursor's value, as its text, in SQL."""
        if column.type not in _TIMES:
            return value
        if column.type == "timestamptz":
            return f"CAST('{value}+00' AS timestamptz)"
        return f"CAST('{value}' AS timestamp)"
