"""A database that random work is done on: what both databases have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any, Dict, Iterator, List, Sequence, Tuple

from lake_spec.model import Connection
from tests.loop.audit import Change
from tests.loop.kinds import KINDS, as_undeclared, comparable
from tests.loop.tables import PULSE, TABLES, Columns, Table

LONGEST_WAIT = 60
"""Seconds that a statement waits for a table which a load is reading."""

Rows = List[Tuple[Any, ...]]


@dataclass
class Shape:
    """The columns that a table has now, and those that it had during the capture."""

    now: Columns
    ever: Columns = field(default_factory=dict)
    added: int = 0

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """What captures or loads it sees nothing of columns that are gone before."""
        self.ever = dict(self.now)

    def add(self, kind: str) -> str:
        """A column more; the name is a new one each time."""
        self.added += 1
        name = f"added_{self.added}"
        self.now[name] = self.ever[name] = kind
        return name

    def drop(self, name: str) -> None:
        """A column less."""
        del self.now[name]


class Source:
    """A schema of a database with the ten tables, and another with their audit."""

    database: str
    of_schema = ""
    """What CREATE SCHEMA is told next to the name."""
    is_loaded = False
    """Whether rows that were there before the capture come by a load, not from it."""

    def __init__(self, server: Any, schema: str) -> None:
        self.server = server
        self.schema = schema
        self.audit = f"{schema}_audit"
        self.shapes: Dict[str, Shape] = {
            each.name: Shape(each.columns) for each in TABLES
        }

    def create(self) -> None:
        """Make the tables, their audit and what tells how far a capture is."""
        for schema in (self.schema, self.audit):
            self.server.execute(f"CREATE SCHEMA {schema}{self.of_schema}")
        self.server.execute(f"CREATE TABLE {self.schema}.{PULSE} (id INT PRIMARY KEY)")
        for each in TABLES:
            self.server.execute(each.create(self.schema, self.type_of))
            columns = [f"{name} {self.type_of(k)}" for name, k in each.columns.items()]
            self.server.execute(
                f"CREATE TABLE {self.audit}.{each.name}"
                f" ({self.audit_columns}, {', '.join(columns)})"
            )
            self.watch(each)

    audit_columns: str
    """The columns that an audit table has next to those of its table."""

    def watch(self, table: Table) -> None:
        """Make, or make again, the triggers of a table."""
        raise NotImplementedError

    def audited(self, table: Table, what: str, row: str, names: Sequence[str]) -> str:
        """The statement of a trigger that remembers values of OLD or NEW."""
        values = "".join(f", {row}.{name}" for name in names)
        columns = "".join(f", {name}" for name in names)
        return (
            f"INSERT INTO {self.audit}.{table.name} (audit_op, audit_at{columns})"
            f" VALUES ('{what}', {self.audit_at}{values})"
        )

    audit_at: str
    """What says when a change was made."""

    def type_of(self, kind: str) -> str:
        """The type of a column of a kind."""
        return KINDS[kind].types[self.database]

    def value(self, random: Random, kind: str) -> Any:
        """A random value of a column."""
        return KINDS[kind].make(random)

    def add_column(self, table: Table, kind: str) -> None:
        """ALTER TABLE in a transaction of its own."""
        name = self.shapes[table.name].add(kind)
        column = f"{name} {self.type_of(kind)}"
        self.server.execute(f"ALTER TABLE {self.audit}.{table.name} ADD {column}")
        self.alter(table, f"ADD COLUMN {column}")

    def drop_column(self, table: Table, name: str) -> None:
        """The same, of a column that is never seen again."""
        self.shapes[table.name].drop(name)
        self.alter(table, f"DROP COLUMN {name}")

    def alter(self, table: Table, how: str) -> None:
        """Change a table and its triggers with it."""
        raise NotImplementedError

    def pulse(self, number: int) -> None:
        """A sign that the capture can be seen to have passed."""
        self.server.execute(f"INSERT INTO {self.schema}.{PULSE} VALUES ({number})")

    def rows(self, table: Table) -> Rows:
        """All rows of a table, comparable."""
        names = list(self.shapes[table.name].now)
        found = self.server.execute(
            f"SELECT {', '.join(names)} FROM {self.schema}.{table.name}"
        )
        return [tuple(_in_lake(table, names, row).values()) for row in found]

    def last_change(self, table: Table) -> int:
        """The number of the newest change that the audit has; 0 if there is none."""
        ((number,),) = self.server.execute(
            f"SELECT coalesce(max(audit_number), 0) FROM {self.audit}.{table.name}"
        )
        return number

    audit_time: str
    """When a change counts as made: its commit, as fine as its events tell it."""

    def changes(self, table: Table) -> Iterator[Change]:
        """All changes that the triggers saw, values comparable."""
        columns = list(self.shapes[table.name].ever)
        found = self.server.execute(
            f"SELECT audit_number, {self.audit_time}, audit_op, {', '.join(columns)}"
            f" FROM {self.audit}.{table.name}"
        )
        for number, time, what, *values in found:
            row = _in_lake(table, columns, values)
            key = tuple(row.pop(name) for name in table.key)
            yield Change(number, comparable(time), what, key, row)

    def topic(self, table: str) -> str:
        """Where its connector writes the events of a table."""
        return f"{self.schema}.{self.schema}.{table}"

    def connector(self, again: int = 0) -> Dict[str, str]:
        """The configuration of a connector of Debezium for it, the first or a later one."""
        made = self.capturing(again)
        return {**made, "snapshot.mode": "no_data"} if self.is_loaded else made

    def capturing(self, again: int = 0) -> Dict[str, str]:
        """The same for one that begins with the rows that are there."""
        raise NotImplementedError

    def reader(self) -> Connection:
        """How a lake reaches the database, as a user that may read alone."""
        raise NotImplementedError

    def now(self) -> datetime:
        """The time by the clock that changes have; UTC."""
        raise NotImplementedError

    def forget(self) -> None:
        """Remove what a connector leaves in the database."""

    def release(self) -> None:
        """Return when a connector that was taken away has left the database."""

    def start_log_over(self) -> None:
        """Let the server write another log; all connections to it end."""
        raise NotImplementedError

    def session(self) -> "Session":
        """A connection that transactions are played on."""
        raise NotImplementedError


def _in_lake(table: Table, names: Sequence[str], row: Sequence[Any]) -> Dict[str, Any]:
    """The values of a row, as comparable as the lake's own."""
    return {
        name: comparable(value) if name in table.columns else as_undeclared(value)
        for name, value in zip(names, row)
    }


class Session:
    """A connection with at most one open transaction."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def execute(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Run a statement within the transaction; the first one begins it."""
        with self.connection.cursor() as cursor:
            cursor.execute(sql, values or None)

    def truncate(self, source: Source, table: Table) -> bool:
        """Remove all rows of a table at once; whether that ended the transaction."""
        self.execute(f"TRUNCATE TABLE {source.schema}.{table.name}")
        return False

    def end(self, *, commit: bool) -> None:
        """End the transaction."""
        self.connection.commit() if commit else self.connection.rollback()

    def close(self) -> None:
        """End the connection, and what was not committed on it."""
        self.connection.close()
