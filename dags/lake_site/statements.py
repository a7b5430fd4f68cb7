"""Statements by which readers query a table, to copy: docs/readers.md has all engines."""

from __future__ import annotations

from collections.abc import Iterator

from lake_spec.model import EnvironmentSpec, ReadableAs, TableSpec
from lake_spec.text.sql_text import sql_identifier


def statements_of(
    table: TableSpec, environment: EnvironmentSpec
) -> Iterator[tuple[str, str]]:
    """List (engine, statement) for the formats that the table is published in."""
    root = f"{environment.warehouse}/{table.domain}/{table.name}/current"
    name = sql_identifier(table.name)
    if ReadableAs.ICEBERG in table.storage.formats:
        database = ReadableAs.ICEBERG.database_of(table.domain)
        yield "Athena", f'SELECT * FROM "{database}"."{table.name}" LIMIT 10;'
        yield "Trino", f'SELECT * FROM lake_iceberg."{database}"."{table.name}" LIMIT 10;'
        yield "DuckDB", f"SELECT * FROM iceberg_scan('{root}') LIMIT 10;"
    elif ReadableAs.DELTA in table.storage.formats:
        database = ReadableAs.DELTA.database_of(table.domain)
        yield "Athena", f'SELECT * FROM "{database}"."{table.name}" LIMIT 10;'
        yield "DuckDB", f"SELECT * FROM delta_scan('{root}') LIMIT 10;"
    yield "Spark", f"SELECT * FROM {sql_identifier(table.domain)}.{name} LIMIT 10"
    yield "This machine", f"./run_locally.sh show {table.full_name} --limit 10"
