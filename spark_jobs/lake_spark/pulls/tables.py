"""A table of a database as rows of Spark, all of one snapshot.

What Spark has no exact type for is text. All SQL is made of names that the
database itself told, quoted, and of numbers and times.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Iterator, List, Optional, Sequence, Set, Union

from pyspark.sql import DataFrame

from lake_spec.connections import DATABASES
from lake_spec.model import JdbcChanges, JdbcTable, PostgreSql, TableSpec
from lake_spec.sql_text import sql_identifier, sql_literal
from lake_spark.errors import PullFailed
from lake_spark.pulls.connections import connection_of
from lake_spark.pulls.database import Dialect, Opened, Server, Session, SourceColumn
from lake_spark.pulls.mariadb import MariaDbDialect
from lake_spark.pulls.postgresql import PostgreSqlDialect
from lake_spark.pulls.secrets import credentials_of
from lake_spark.table_run import TableRun

TablePull = Union[JdbcTable, JdbcChanges]

RANGE = "lake_pull_range"
"""A further column of what is asked of the database, which ranges are cut by."""

ROWS_AT_ONCE = "10000"
"""Rows that a session fetches at a time: all of them would not fit into memory."""

ALL = "1 = 1"
SMALL = ("tinyint", "smallint")
"""Types that the lake keeps as int, and that not every format has."""


@dataclass(frozen=True)
class OpenTable:
    """A table as a snapshot shows it, while the driver's session is open."""

    run: TableRun
    server: Server
    session: Session
    opened: Opened
    name: str
    columns: Sequence[SourceColumn]

    @property
    def dialect(self) -> Dialect:
        """What is special about its database."""
        return self.server.dialect

    @property
    def sql_name(self) -> str:
        """Its name in SQL."""
        return _quoted(self.dialect, self.name)

    def column(self, name: str) -> Optional[SourceColumn]:
        """The column of that name, at most the case apart."""
        alike = [each for each in self.columns if each.name.lower() == name.lower()]
        exact = [each for each in alike if each.name == name]
        return (exact or alike or [None])[0]

    def greatest(self, column: SourceColumn) -> Optional[str]:
        """The greatest value of a column, as text; None if there is none."""
        query = f"SELECT {self.dialect.greatest(column)} FROM {self.sql_name}"
        return self.session.row(query)[0]

    def in_ranges(self, column: Optional[SourceColumn], parts: int) -> DataFrame:
        """All rows, read by so many sessions at once where the column allows it."""
        cuts: List[str] = []
        if column is not None and parts > 1:
            cuts = self.dialect.edges(self.session, self.sql_name, column, parts)
        return self.read(column, ranges(cuts))

    def read(
        self, column: Optional[SourceColumn], conditions: Sequence[str]
    ) -> DataFrame:
        """Rows that conditions on the column choose, one session for each of them."""
        texts = text_columns(self.run.spec)
        readings = [
            (each.name, self.dialect.reading(each, as_text=each.name.lower() in texts))
            for each in self.columns
        ]
        listed = [f"{each.sql} AS {self.dialect.quoted(n)}" for n, each in readings]
        if column is not None:
            listed.append(f"{self.dialect.quoted(column.name)} AS {RANGE}")
        rows = self.run.spark.read.jdbc(
            self.server.url,
            f"(SELECT {', '.join(listed)} FROM {self.sql_name}) pulled",
            predicates=list(conditions),
            properties={
                **self.server.properties,
                "driver": self.dialect.driver,
                "fetchsize": ROWS_AT_ONCE,
                "sessionInitStatement": self.dialect.joining(self.opened),
            },
        )
        kinds = dict(rows.dtypes)
        return rows.selectExpr(
            *(
                _typed(name, "int" if kinds[name] in SMALL else None, each.cast)
                for name, each in readings
            )
        )


def _quoted(dialect: Dialect, name: str) -> str:
    return ".".join(dialect.quoted(each) for each in name.split("."))


def _typed(name: str, whole: Optional[str], kind: Optional[str]) -> str:
    """A time from its text; one that no time of the lake is stops the pull."""
    column = sql_identifier(name)
    if whole is not None:
        return f"CAST({column} AS {whole}) AS {column}"
    if kind is None:
        return column
    told = sql_literal(
        f"column {name}: this is no {kind.replace('_ntz', '')} of the lake; declare the"
        " column as string, or pull a view without it: "
    )
    return (
        f"CASE WHEN {column} IS NOT NULL THEN coalesce(try_cast({column} AS {kind}),"
        f" CAST(raise_error(concat({told}, {column})) AS {kind})) END AS {column}"
    )


def ranges(cuts: Sequence[str]) -> List[str]:
    """Conditions on the range column, of which each row meets one."""
    if not cuts:
        return [ALL]
    between = [
        f"{RANGE} >= {low} AND {RANGE} < {high}" for low, high in zip(cuts, cuts[1:])
    ]
    first = f"{RANGE} < {cuts[0]} OR {RANGE} IS NULL"
    return [first, *between, f"{RANGE} >= {cuts[-1]}"]


def text_columns(spec: TableSpec) -> Set[str]:
    """Source columns, in lower case, that the table wants as text."""
    return {
        source.lower()
        for name, column in spec.columns
        if column.type.lower() == "string"
        for source in column.source or (name,)
    }


@contextmanager
def opened(run: TableRun, pull: TablePull) -> Iterator[OpenTable]:
    """The table of a pull, in one snapshot until the block ends; errors by name."""
    database = connection_of(run.environment, pull.connection, *DATABASES)
    kept_in = database.secret_store
    who = credentials_of(run.store, pull.connection, database.secret, kept_in)
    is_postgresql = isinstance(database, PostgreSql)
    dialect = PostgreSqlDialect() if is_postgresql else MariaDbDialect()
    server = Server(pull.connection, database, who, dialect)
    with server.told(pull.table), server.session(run.spark) as session:
        at = dialect.opened(session, _quoted(dialect, pull.table))
        table = OpenTable(run, server, session, at, pull.table, ())
        columns = session.columns(table.sql_name)
        _names_can_be_quoted(pull, columns)
        yield OpenTable(run, server, session, at, pull.table, columns)


@contextmanager
def opened_later(
    run: TableRun, pull: TablePull, before: Sequence[str]
) -> Iterator[OpenTable]:
    """The table in a snapshot of a second that none of those folders is named for."""
    taken = {name[: len("2001-02-03T04-05-06")] for name in before}
    for _ in range(3):
        with opened(run, pull) as table:
            if table.opened.at not in taken:
                yield table
                return
        time.sleep(1)
    raise AssertionError(f"{run.spec.full_name}: the clock of {pull.connection} stands")


def _names_can_be_quoted(pull: TablePull, columns: Sequence[SourceColumn]) -> None:
    """Spark itself puts quotes around names and does not double those inside."""
    for column in columns:
        if set(column.name) & set('"`\\'):
            raise PullFailed(
                f"connection {pull.connection!r}: {pull.table}: the column"
                f" {column.name!r} has a quote in its name: pull a view that gives it"
                " another one."
            )
