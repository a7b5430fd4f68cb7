"""Statements by which readers query a table, to copy: docs/readers.md has all engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lake_spec.contract.glue_names import glue_name
from lake_spec.contract.table_folders import table_folder
from lake_spec.model import EnvironmentSpec, ReadableAs, TableSpec, TableType
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


def statements_of(
    table: TableSpec, environment: EnvironmentSpec
) -> Iterator[Statements]:
    """List the statements of each engine for the formats that the table is published in."""
    root = table_folder(environment.warehouse, table.full_name)
    formats = table.storage.formats
    if ReadableAs.ICEBERG in formats:
        database = ReadableAs.ICEBERG.database_of(table.domain)
        yield _of(table, "Athena", *_named(table, f'"{database}"', ";"))
        yield _of(table, "Trino", *_named(table, f'lake_iceberg."{database}"', ";"))
        yield _of(table, "DuckDB", *_scanned(table, root, "iceberg_scan"))
    elif ReadableAs.DELTA in formats:
        database = ReadableAs.DELTA.database_of(table.domain)
        yield _of(table, "Athena", *_named(table, f'"{database}"', ";"))
        yield _of(table, "DuckDB", *_scanned(table, root, "delta_scan"))
    names = [f"{table.domain}.{glue_name(table.name, layer)}" for layer in _LAYERS]
    quoted = [".".join(map(sql_identifier, name.split("."))) for name in names]
    yield _of(table, "Spark", *(f"SELECT * FROM {name}" for name in quoted))
    command = f"./run_locally.sh show {table.full_name}"
    then = None if table.is_product else f'{command} --valid-at "{A_TIME}"'
    yield Statements("This machine", f"{command} --limit 10", then)


def unreadable_by(table: TableSpec) -> str | None:
    """Say which engines cannot read a table, and why; None if all can."""
    if table.storage.formats:
        return None
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


_LAYERS = ("current", "history")


def _named(table: TableSpec, database: str, end: str) -> list[str]:
    return [
        f'SELECT * FROM {database}."{glue_name(table.name, layer)}"{end}'
        for layer in _LAYERS
    ]


def _scanned(table: TableSpec, root: str, function: str) -> list[str]:
    return [f"SELECT * FROM {function}('{root}/{layer}');" for layer in _LAYERS]


def _of(table: TableSpec, engine: str, current: str, history: str) -> Statements:
    names = table.history.columns
    start, end, deleted = (
        sql_identifier(each) if engine == "Spark" else f'"{each}"'
        for each in (names.valid_from, names.valid_to, names.is_deleted)
    )
    kind, zone = ("TIMESTAMPTZ", "+00") if engine == "DuckDB" else ("TIMESTAMP", " UTC")
    time = f"{kind} '{A_TIME}{zone}'"
    body, stop = history.removesuffix(";"), ";" if history.endswith(";") else ""
    then = (
        f"{body}\nWHERE {start} <= {time}\n  AND ({end} > {time} OR {end} IS NULL)\n"
        f"  AND NOT {deleted}{stop}"
    )
    head = current.removesuffix(";")
    return Statements(
        engine, f"{head} LIMIT 10{stop}", None if table.is_product else then
    )
