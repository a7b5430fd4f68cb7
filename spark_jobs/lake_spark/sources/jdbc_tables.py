"""A table of a database as rows of Spark, all of one snapshot.

What Spark has no exact type for is text. All SQL is made of names that the
database itself reported, quoted, and of numbers and times.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Callable, Iterator, List, Optional, Sequence, Set, Tuple, Union

from pyspark.sql import DataFrame

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import Feed, FileTable, JdbcChanges, JdbcTable, Json, PostgreSql
from lake_spec.model.connections import DATABASES
from lake_spec.model.names import source_name
from lake_spec.text.sql_text import sql_identifier, sql_literal
from lake_spark.errors import PullFailed
from lake_spark.formats.missing_columns import is_sent
from lake_spark.schema.promotion import stored_type
from lake_spark.schema.timestamps import in_utc
from lake_spark.sources.certificates import certificates_of, shared_file
from lake_spark.sources.connections import connection_of
from lake_spark.sources.database import (
    Dialect,
    Reading,
    Server,
    Session,
    SessionSnapshot,
    SourceColumn,
    TargetColumn,
)
from lake_spark.sources.mariadb import MariaDbDialect
from lake_spark.sources.postgresql import PostgreSqlDialect
from lake_spark.sources.secrets import credentials_of
from lake_spark.tables.table_run import FileRun

TablePull = Union[JdbcTable, JdbcChanges]

RANGE = "lake_pull_range"
"""A further column of what is asked of the database, which ranges are cut by."""

ROWS_AT_ONCE = "10000"
"""Rows that a session fetches at a time: all of them would not fit into memory."""

ALL = "1 = 1"

_DATE = r"\d{4,6}-\d{2}-\d{2}"
_TIME = rf"{_DATE} \d{{2}}:\d{{2}}:\d{{2}}([.]\d{{1,6}})?"
_WRITTEN = {"date": _DATE, "timestamp_ntz": _TIME, "timestamp": rf"{_TIME}[+]00(:00)?"}
"""How servers write the times that the lake has: the whole text."""


@dataclass(frozen=True)
class OpenTable:
    """A table as a snapshot shows it, while the driver's session is open."""

    run: FileRun
    server: Server
    session: Session
    opened: SessionSnapshot
    name: str
    columns: Sequence[SourceColumn]

    @property
    def dialect(self) -> Dialect:
        """Return what is special about its database."""
        return self.server.dialect

    @property
    def sql_name(self) -> str:
        """Return its name in SQL."""
        return _quoted(self.dialect, self.name)

    def column(self, name: str) -> Optional[SourceColumn]:
        """Return the column of that name, at most the case apart."""
        alike = [each for each in self.columns if each.name.lower() == name.lower()]
        exact = [each for each in alike if each.name == name]
        return next(iter(exact or alike), None)

    def greatest(
        self, column: SourceColumn, up_to: Optional[str] = None
    ) -> Optional[str]:
        """Return the greatest value of a column, up to a limit in SQL; None without any."""
        name = self.dialect.quoted(column.name)
        value = self.dialect.as_cursor(column, f"max({name})")
        where = f" WHERE {name} <= {up_to}" if up_to is not None else ""
        return self.session.row(f"SELECT {value} FROM {self.sql_name}{where}")[0]

    def has_nulls(self, column: SourceColumn) -> bool:
        """Return whether a row has no value there."""
        name = self.dialect.quoted(column.name)
        query = f"SELECT 1 FROM {self.sql_name} WHERE {name} IS NULL LIMIT 1"
        return column.nullable and bool(self.session.rows(query))

    def in_ranges(self, column: Optional[SourceColumn], parts: int) -> DataFrame:
        """Read all rows, by so many sessions at once where the column allows it."""
        cuts: List[str] = []
        if column is not None and parts > 1:
            cuts = self.dialect.edges(self.session, self.sql_name, column, parts)
        return self.read(column if cuts else None, ranges(cuts))

    def read(
        self, column: Optional[SourceColumn], conditions: Sequence[str]
    ) -> DataFrame:
        """Read rows that conditions on the column choose, one session for each of them."""
        spec = self.run.spec
        wanted = wanted_columns(spec)
        readings = [
            self.dialect.reading(each, wanted(each.name)) for each in self.columns
        ]
        # By numbers, for Spark puts quotes around names and doubles none inside.
        listed = [f"{each.sql} AS c{n}" for n, each in enumerate(readings)]
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
        values = []
        for n, (each, reading) in enumerate(zip(self.columns, readings)):
            value = _typed(f"c{n}", each.name, reading, spec)
            if reading.cast == "timestamp_ntz" and wanted(each.name).type is None:
                # Tables have instants alone: a declared column is read as one later.
                zone = getattr(spec.source, "timezone", "UTC")
                value = in_utc(f"CAST({value} AS timestamp)", zone)
            values.append(f"{value} AS {sql_identifier(each.name)}")
        return rows.selectExpr(*values)


def _quoted(dialect: Dialect, name: str) -> str:
    return ".".join(dialect.quoted(each) for each in name.split("."))


def _typed(value: str, name: str, reading: Reading, spec: FileTable) -> str:
    """Return a value of the type that is cast to.

    One that it does not hold stops the pull.
    """
    kind = reading.cast
    if kind is None:
        return value
    if kind in ("int", "float"):
        return f"CAST({value} AS {kind})"
    if kind == "bits":
        return _bytes_of_bits(value)
    typed = f"try_cast({value} AS {kind})"
    if kind in _WRITTEN:
        written = sql_literal(f"^{_WRITTEN[kind]}$")
        typed = f"CASE WHEN {value} RLIKE {written} THEN {typed} END"
    elif kind.startswith("struct<"):
        texts = sql_literal(re.sub(r":\w+", ":string", kind))
        typed = f"CAST(from_json({value}, {texts}) AS {kind})"
    elif kind.startswith("array<"):
        inner = sql_literal("array<string>")
        texts = f"from_json({value}, {inner})"
        typed = f"CASE WHEN {value} NOT LIKE '!%' THEN CAST({texts} AS {kind}) END"
    # JSON's own numbers are doubles to many readers: digits are written as text.
    exact = kind.startswith("decimal") and isinstance(spec.source.format, Json)
    shown = (
        f"substring({value}, 2, 200)" if kind[:5] == "array" else f"left({value}, 200)"
    )
    message = f"concat({_wrong_value(name, kind)}, {shown})"
    return (
        f"CASE WHEN {value} IS NOT NULL THEN CASE WHEN {typed} IS NULL"
        f" THEN raise_error({message}) ELSE {value if exact else typed} END END"
    )


def _wrong_value(name: str, kind: str) -> str:
    what = f"not a {kind.replace('_ntz', '')} of the lake"
    if kind.startswith("array<"):
        what = f"an array of several dimensions, which {kind} is not"
    return sql_literal(
        f"column {name} holds a value that is {what}. Declare the column as string to"
        " land its text, or pull a view without such rows. The value: "
    )


def _bytes_of_bits(value: str) -> str:
    """Return bits as Debezium writes them: the last eight are the first byte."""
    whole = f"lpad({value}, CAST(ceil(length({value}) / 8) * 8 AS int), '0')"
    count = f"CAST(length({whole}) / 8 AS int)"
    byte = (
        f"lpad(conv(substring({whole}, length({whole}) - 8 * i - 7, 8), 2, 16), 2, '0')"
    )
    listed = f"transform(sequence(0, {count} - 1), i -> {byte})"
    return (
        f"CASE WHEN {value} = '' THEN unhex('') WHEN {value} IS NOT NULL"
        f" THEN unhex(array_join({listed}, '')) END"
    )


def ranges(cuts: Sequence[str]) -> List[str]:
    """Return conditions on the range column, of which each row meets one."""
    if not cuts:
        return [ALL]
    between = [
        f"{RANGE} >= {low} AND {RANGE} < {high}" for low, high in zip(cuts, cuts[1:])
    ]
    first = f"{RANGE} < {cuts[0]} OR {RANGE} IS NULL"
    return [first, *between, f"{RANGE} >= {cuts[-1]}"]


def wanted_columns(spec: FileTable) -> Callable[[str], TargetColumn]:
    """Return how the table wants the source's columns, by their names in any case."""
    source = spec.source
    as_events = isinstance(source, Feed) and source.envelope is not None
    types = {
        each.lower(): stored_type(column.type)
        for name, column in spec.columns
        for each in column.source or (name,)
    }
    return lambda name: TargetColumn(types.get(name.lower()), as_events)


@contextmanager
def opened(run: FileRun, pull: TablePull) -> Iterator[OpenTable]:
    """Yield the table of a pull, in one snapshot until the block ends; errors by name."""
    name, domain = pull.connection, run.spec.domain
    database = connection_of(run.environment, name, domain, *DATABASES)
    kept_in = database.secret_store
    who = credentials_of(run.store, name, database.secret, kept_in)
    is_postgresql = isinstance(database, PostgreSql)
    dialect: Dialect = PostgreSqlDialect() if is_postgresql else MariaDbDialect()
    ca = None
    if database.ca is not None:
        trusted = certificates_of(run.store, name, database.ca)
        ca = shared_file(run.spark, trusted)
    server = Server(name, database, who, dialect, ca)
    with server.errors_named(pull.table), server.session(run.spark) as session:
        at = dialect.opened(session, _quoted(dialect, pull.table))
        table = OpenTable(run, server, session, at, pull.table, ())
        columns = dialect.columns(session, table.sql_name)
        _has_declared_columns(run.spec, pull, columns)
        wanted = wanted_columns(run.spec)
        columns = [
            each
            for each in _sayable(run, pull, columns)
            # Else the first event would take away what the load has.
            if wanted(each.name).type is not None
            or not wanted(each.name).as_events
            or dialect.is_sent(each)
        ]
        yield OpenTable(run, server, session, at, pull.table, columns)


@contextmanager
def opened_later(
    run: FileRun, pull: TablePull, before: Sequence[str]
) -> Iterator[OpenTable]:
    """Yield the table in a snapshot of a second that none of those folders is named for."""
    taken = {name[: len("2001-02-03T04-05-06")] for name in before}
    for _ in range(3):
        with opened(run, pull) as table:
            if table.opened.at not in taken:
                yield table
                return
        time.sleep(1)
    raise AssertionError(
        f"{run.spec.full_name}: the clock of {pull.connection} does not advance"
    )


def _sayable(
    run: FileRun, pull: TablePull, columns: Sequence[SourceColumn]
) -> Iterator[SourceColumn]:
    """Yield the columns whose names a spec can contain.

    Leave out the others, with a warning.
    """
    declared = {
        each.lower() for n, column in run.spec.columns for each in column.source or (n,)
    }
    for column in columns:
        if column.name.lower() in declared or not list(source_name((), column.name)):
            yield column
            continue
        words = (
            f"{pull.table}: the column {column.name[:100]!r} is left out: a spec cannot"
            " contain this name. Pull a view that gives it another one."
        )
        run.warn(WarningId.COLUMN_LEFT_OUT, words)


def _has_declared_columns(
    spec: FileTable, pull: TablePull, columns: Sequence[SourceColumn]
) -> None:
    """Refuse a table without a declared column, which was renamed or dropped there."""
    names = {each.name.lower() for each in columns}
    missing = list(_missing(spec, names))
    if not missing:
        return
    known = {
        each.lower() for n, column in spec.columns for each in column.source or (n,)
    }
    known.update(key.lower() for key in spec.key)
    new = [each.name for each in columns if each.name.lower() not in known]
    first, old = missing[0]
    example = (new or ["new_name"])[0]
    raise PullFailed(
        f"connection {pull.connection!r}: {pull.table} lacks the column(s)"
        f" {_listed([name for name, _ in missing])}, which"
        f" {spec.full_name} declares; not declared are {_listed(new)}."
        f" Nothing was landed. If it was renamed there, declare columns: {{{first}:"
        f" {{source: [{', '.join([example, *old])}], ...}}}}; if it was dropped, {{{first}:"
        " {dropped: true, ...}}."
    )


def _listed(names: Sequence[str], most: int = 5) -> str:
    """Return the first names of a list, for a message that reports show in part."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most]) or 'none'}{more}"


def _missing(spec: FileTable, names: Set[str]) -> Iterator[Tuple[str, Tuple[str, ...]]]:
    """Yield lake columns that no source column gives, with their source names."""
    declared = dict(spec.columns)
    for name in dict.fromkeys((*declared, *spec.key)):
        column = declared.get(name)
        sources = (column.source if column else ()) or (name,)
        if not is_sent(spec, name):
            continue
        if not names.intersection(each.lower() for each in sources):
            yield name, tuple(sources)
