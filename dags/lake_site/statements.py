"""Statements by which readers query a table, to copy: docs/readers.md has all engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lake_spec.layout.glue_names import glue_name
from lake_spec.layout.published_tables import iceberg_location
from lake_spec.layout.table_folders import layer_folder
from lake_spec.model import (
    EnvironmentSpec,
    ReadableAs,
    TableSpec,
    TableType,
    VersionedTable,
)
from lake_spec.text.sql_text import sql_identifier

A_TIME = "2026-01-31 00:00:00"
"""The time in statements about a state of the past, in UTC."""


@dataclass(frozen=True)
class Statements:
    """What an engine takes for the rows as they are now, and as they were."""

    engine: str
    now: str
    then: str | None = None
    """Rows as they were at `A_TIME` in the business; None where nothing keeps them."""


@dataclass(frozen=True)
class _Dialect:
    """How SQL of an engine writes names and times, and ends."""

    quoted: Callable[[str], str]
    time: str
    end: str


_ANSI = _Dialect('"{}"'.format, f"TIMESTAMP '{A_TIME} UTC'", ";")
_DUCKDB = _Dialect('"{}"'.format, f"TIMESTAMPTZ '{A_TIME}+00'", ";")
_SPARK = _Dialect(sql_identifier, f"TIMESTAMP '{A_TIME} UTC'", "")

_NOT_LISTED = (
    "Redshift and Hive cannot, nor can Trino unless it projects partitions: those of "
    "plain Parquet are not listed in the catalogue."
)

_Place = Callable[[str], str]
"""Gives by a layer what follows FROM."""


def statements_of(
    table: TableSpec, environment: EnvironmentSpec
) -> Iterator[Statements]:
    """List the statements of each engine for the formats that the table is published in."""
    for engine, dialect, place in _readers(table, environment):
        now = f"SELECT * FROM {place('current')} LIMIT 10{dialect.end}"
        then = None
        if isinstance(table, VersionedTable):
            then = _then(table, dialect, place("history"))
        yield Statements(engine, now, then)
    command = f"./run_locally.sh show {table.full_name}"
    has_history = isinstance(table, VersionedTable)
    then = f'{command} --valid-at "{A_TIME}"' if has_history else None
    yield Statements("This machine", f"{command} --limit 10", then)


def _readers(
    table: TableSpec, environment: EnvironmentSpec
) -> Iterator[tuple[str, _Dialect, _Place]]:
    def named(database: str, quoted: Callable[[str], str] = _ANSI.quoted) -> _Place:
        return lambda layer: f"{database}.{quoted(glue_name(table.name, layer))}"

    def scanned(function: str, place: Callable[[str], str] = str) -> _Place:
        folder = environment.warehouse, table.stored_as
        return lambda layer: f"{function}('{place(layer_folder(*folder, layer))}')"

    if table.storage.is_plain:
        yield "Athena", _ANSI, named(_ANSI.quoted(table.domain))
    elif ReadableAs.ICEBERG in table.storage.formats:
        database = _ANSI.quoted(ReadableAs.ICEBERG.database_of(table.domain))
        yield "Athena", _ANSI, named(database)
        yield "Trino", _ANSI, named(f"lake_iceberg.{database}")
        yield "DuckDB", _DUCKDB, scanned("iceberg_scan", iceberg_location)
    elif ReadableAs.DELTA in table.storage.formats:
        database = _ANSI.quoted(ReadableAs.DELTA.database_of(table.domain))
        yield "Athena", _ANSI, named(database)
        yield "DuckDB", _DUCKDB, scanned("delta_scan")
    yield "Spark", _SPARK, named(_SPARK.quoted(table.domain), _SPARK.quoted)


def _then(table: VersionedTable, dialect: _Dialect, place: str) -> str:
    names, time = table.history.columns, dialect.time
    start, end, deleted = map(
        dialect.quoted, (names.valid_from, names.valid_to, names.is_deleted)
    )
    return (
        f"SELECT * FROM {place}\nWHERE {start} <= {time}\n"
        f"  AND ({end} > {time} OR {end} IS NULL)\n  AND NOT {deleted}{dialect.end}"
    )


def unreadable_by(table: TableSpec) -> str | None:
    """Say which engines cannot read a table, and why; None if all can."""
    if table.storage.formats:
        return None
    if table.storage.is_plain:
        return _NOT_LISTED if table.storage.partition_by else None
    engines = "Redshift, Snowflake, Trino and DuckDB"
    if (
        table.storage.table_version == 6
        and table.storage.type is TableType.COPY_ON_WRITE
    ):
        return f"{engines} cannot: it is published neither as Iceberg nor as Delta."
    return (
        f"Athena, {engines} cannot: it is published neither as Iceberg nor as Delta "
        "(storage.readable_as)."
    )
