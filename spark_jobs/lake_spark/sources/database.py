"""A database as the driver of Spark speaks to it: one session, few statements."""

from __future__ import annotations

import re
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Protocol, Tuple

from pyspark.sql import SparkSession

from lake_spec.model.column_type import ColumnType
from lake_spec.model.connections import Database
from lake_spec.text.marked_values import row_value, unmarked
from lake_spark import java
from lake_spark.errors import PullFailed, StageError, first_line
from lake_spark.sources.secrets import Credentials

LONGEST_WAIT = 10
"""Seconds that a session which joins others waits for a lock before the pull fails.

Whoever wants the table for itself waits for the sessions that read it, and those
that arrive later wait for that one: without an end, all of them wait for ever.
"""

MOST_DIGITS = 38
"""Of a decimal of the lake."""

_THROWN = re.compile(r"^Caused by: [\w.$]+: ")
_UNTRUSTED = re.compile(r"PKIX|[Cc]ertificate|could not be verified by hostname")
_SQL_ERROR = re.compile(r"\b[\w.]*SQL\w*Exception: ([^\n]+)")


@dataclass(frozen=True)
class SourceColumn:
    """A column of the source's table, as the database's catalogue describes it.

    `type` is the database's own plain type below any domain, or a word for another
    kind (enum, composite); `digits` are the numbers in its parentheses; `element` is
    the type of an array's elements, with `digits` of its own.
    """

    name: str
    type: str
    digits: Tuple[int, ...] = ()
    element: str = ""
    nullable: bool = True
    generated: bool = False


@dataclass(frozen=True)
class TargetColumn:
    """How the table wants a column: its declared type, None for an undeclared one.

    `as_events` asks for values as Debezium's events have them, which the table takes
    after this load.
    """

    type: Optional[ColumnType] = None
    as_events: bool = False

    @property
    def as_text(self) -> bool:
        """Return whether the table wants the server's own text."""
        return self.type is not None and self.type.name == "string"

    def is_a(self, *names: str) -> bool:
        """Return whether it is wanted like events, in one of these types."""
        found = self.type.name if self.type is not None else ""
        return self.as_events and found in names


@dataclass(frozen=True)
class Reading:
    """How a column is read: SQL for the database, then the type that its text gets.

    `cast` is None where what the database sends is kept. An array arrives as JSON of
    texts, or as a `!` and the server's text where it has several dimensions.
    """

    sql: str
    cast: Optional[str] = None


def decimal_of(digits: Tuple[int, ...]) -> Optional[str]:
    """Return the exact type of a number of so many digits; None where the lake has none."""
    if not digits:
        return None
    precision, scale = digits[0], digits[1] if len(digits) > 1 else 0
    # PostgreSQL 15 rounds before the point, or has zeros right after it.
    precision, scale = max(precision - min(scale, 0), scale), max(scale, 0)
    return f"decimal({precision},{scale})" if precision <= MOST_DIGITS else None


@dataclass(frozen=True)
class SessionSnapshot:
    """What a session has open: its time (UTC) and its snapshot, where others can join."""

    at: str
    snapshot: Optional[str] = None


class Dialect(Protocol):
    """What differs from one kind of database to another."""

    driver: str
    begin: Tuple[str, ...]
    cursors: Dict[str, str]
    """Types of columns that a cursor can be, each with a name for `literal`."""

    def url(self, database: Database) -> str:
        """Return its JDBC address, without user and password."""

    def properties(self, database: Database, ca: Optional[str]) -> Dict[str, str]:
        """Return further properties of every session; `ca` is a file of certificates."""

    def quoted(self, name: str) -> str:
        """Quote an identifier in SQL."""

    def opened(self, session: "Session", table: str) -> SessionSnapshot:
        """Return the time and the snapshot of a session that just began to read a table."""

    def joining(self, opened: SessionSnapshot) -> str:
        """Return the statement that begins a session of Spark's in the same snapshot."""

    def columns(self, session: "Session", table: str) -> List[SourceColumn]:
        """Return the columns of a table, in its order; hidden and generated ones too."""

    def is_sent(self, column: SourceColumn) -> bool:
        """Return whether Debezium sends values of a column."""

    def now(self, session: "Session") -> str:
        """Return the server's time, UTC, as text."""

    def newest(
        self, session: "Session", table: str, column: SourceColumn
    ) -> Optional[str]:
        """Return the last number that the database gave a cursor; None if it gives none."""

    def reading(self, column: SourceColumn, wanted: TargetColumn) -> Reading:
        """Return how a column is read without loss."""

    def edges(
        self, session: "Session", table: str, column: SourceColumn, parts: int
    ) -> List[str]:
        """Return literals that cut the column's values into so many ranges; [] for one."""

    def as_cursor(self, column: SourceColumn, sql: str) -> str:
        """Return SQL of the text of a cursor's value."""

    def literal(self, column: SourceColumn, value: str) -> str:
        """Return a cursor's value, as its text, in SQL."""


class Session:
    """A connection of the driver; its statements are in one transaction."""

    def __init__(self, jdbc: Any) -> None:
        self._jdbc = jdbc

    def execute(self, sql: str) -> None:
        """Run a statement without rows."""
        with closing(self._jdbc.createStatement()) as statement:
            statement.execute(sql)

    def attempt(self, sql: str, *, but: str) -> None:
        """Run a statement; one that fails with the SQLSTATE `but` leaves no trace."""
        self.execute("SAVEPOINT attempt")
        try:
            self.execute(sql)
        except java.Py4JJavaError as error:
            if error.java_exception.getSQLState() != but:
                raise
            self.execute("ROLLBACK TO SAVEPOINT attempt")
        self.execute("RELEASE SAVEPOINT attempt")

    def row(self, sql: str) -> List[Optional[str]]:
        """Return the one row of a query, as texts."""
        return self.rows(sql)[0]

    def texts(self, sql: str) -> List[str]:
        """Return the one row of a query of which no value is null."""
        return [text for text in self.row(sql) if text is not None]

    def rows(self, sql: str) -> List[List[Optional[str]]]:
        """Return the rows of a query, as texts."""
        with closing(self._jdbc.createStatement()) as statement:
            found = statement.executeQuery(sql)
            count = found.getMetaData().getColumnCount()
            rows = []
            while found.next():
                rows.append([found.getString(n + 1) for n in range(count)])
            return rows


@dataclass(frozen=True)
class Server:
    """A database with who asks it."""

    name: str
    database: Database
    credentials: Credentials
    dialect: Dialect
    ca: Optional[str] = None
    """A file with the certificates that it is checked by; None: it is not checked."""

    @property
    def url(self) -> str:
        """Return its JDBC address, which names no user."""
        return self.dialect.url(self.database)

    @property
    def properties(self) -> Dict[str, str]:
        """Return what a session is opened with: to be shown to nobody."""
        return {
            **self.dialect.properties(self.database, self.ca),
            "user": self.credentials.username,
            "password": self.credentials.password,
        }

    @contextmanager
    def session(self, spark: SparkSession) -> Iterator[Session]:
        """Yield a session of the driver, in one transaction until the block ends."""
        jvm = java.packages(spark)
        registry = jvm.org.apache.spark.sql.execution.datasources.jdbc.DriverRegistry
        registry.register(self.dialect.driver)
        properties = jvm.java.util.Properties()
        for key, value in self.properties.items():
            properties.setProperty(key, value)
        jdbc = registry.get(self.dialect.driver).connect(self.url, properties)
        try:
            jdbc.setAutoCommit(False)
            session = Session(jdbc)
            for statement in self.dialect.begin:
                session.execute(statement)
            yield session
        finally:
            jdbc.close()

    @contextmanager
    def errors_named(self, what: str) -> Iterator[None]:
        """Raise errors with the names of connection and table, in the database's words."""
        try:
            yield
        except StageError:
            raise
        except Exception as error:  # py4j and Spark wrap a database's in many kinds
            found = _SQL_ERROR.search(str(error))
            words = found.group(1).strip() if found else unmarked(first_line(error))
            words = _THROWN.sub("", words)
            words = words.replace(self.credentials.password, "***")
            remedy = ""
            if self.ca and _UNTRUSTED.search(words):
                remedy = (
                    f". The server that answers as {self.database.host} is not the one"
                    " that is trusted: check `host`, which its certificate must name, and"
                    " `ca`, which must have signed it"
                )
            raise PullFailed(
                f"connection {self.name!r}: {what} could not be pulled, and none of its rows"
                f" were landed: {row_value(words)}{remedy}"
            ) from error
