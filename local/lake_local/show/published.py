"""Tables as readers of Iceberg and Delta find them, in what is published next to Hudi.

pyiceberg (`iceberg`), delta-rs (`delta`) and DuckDB's own extensions (`duckdb`) read the
metadata; they are imported here alone, for they are slow to start.
"""

from __future__ import annotations

import os
from typing import Any, Dict, Mapping, Optional
from urllib.parse import urlsplit

import duckdb
from deltalake import DeltaTable
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.io import load_file_io
from pyiceberg.serializers import FromInputFile
from pyiceberg.table import StaticTable

from lake_spec.layout.published_tables import HUDI_INSTANT, iceberg_location
from lake_spec.text.sql_text import sql_literal

from lake_local.show.instants import readable
from lake_local.show.layers import load_extension
from lake_local.show.request import QueryRefused, Request, Through

_EXTENSIONS = {"iceberg": ("avro", "iceberg"), "delta": ("delta",)}
_SCANS = {
    "iceberg": ("iceberg_scan", "snapshot_from_id"),
    "delta": ("delta_scan", "version"),
}
"""DuckDB's function for a format, and its parameter for one commit."""


def rows(
    connection: duckdb.DuckDBPyConnection, request: Request, endpoint: Optional[str]
) -> duckdb.DuckDBPyRelation:
    """Return all rows that a reader finds; QueryRefused where it has none as of then."""
    return _READERS[request.through](connection, request, endpoint)


def load_extensions(
    connection: duckdb.DuckDBPyConnection, published: str, endpoint: Optional[str]
) -> None:
    """Load what DuckDB reads a format with; from packages.

    Args:
        published: `iceberg` or `delta`.
        endpoint: address of S3; None where tables are folders of this machine.
    """
    for name in (*(("httpfs",) if endpoint else ()), *_EXTENSIONS[published]):
        load_extension(connection, name)
    if endpoint:
        # It takes no parameters. The values are of our own environment.
        values = {
            "KEY_ID": os.environ["AWS_ACCESS_KEY_ID"],
            "SECRET": os.environ["AWS_SECRET_ACCESS_KEY"],
            "REGION": os.environ["AWS_REGION"],
            "ENDPOINT": urlsplit(endpoint).netloc,
            "URL_STYLE": "path",
        }
        text = ", ".join(f"{name} {sql_literal(v)}" for name, v in values.items())
        connection.execute(
            f"CREATE OR REPLACE SECRET lake (TYPE s3, USE_SSL false, {text})"
        )


def iceberg_table(path: str, endpoint: Optional[str]) -> StaticTable:
    """Return the newest published Iceberg metadata of the Hudi table at `path`."""
    properties = {}
    if endpoint:
        properties = {
            "s3.endpoint": endpoint,
            "s3.access-key-id": os.environ["AWS_ACCESS_KEY_ID"],
            "s3.secret-access-key": os.environ["AWS_SECRET_ACCESS_KEY"],
            "s3.region": os.environ["AWS_REGION"],
        }
    folder = iceberg_location(path)
    io = load_file_io(properties, folder)
    with io.new_input(f"{folder}/metadata/version-hint.text").open() as file:
        location = f"{folder}/metadata/v{int(file.read())}.metadata.json"
    # pyiceberg's own from_metadata makes an object of the class that metadata names.
    return StaticTable(
        identifier=("static-table", location),
        metadata_location=location,
        metadata=FromInputFile.table_metadata(io.new_input(location)),
        io=io,
        catalog=NoopCatalog("static-table"),
    )


def iceberg_snapshots(table: StaticTable) -> Dict[str, int]:
    """Return the snapshot of each published instant."""
    return {
        snapshot.summary[HUDI_INSTANT]: snapshot.snapshot_id
        for snapshot in table.metadata.snapshots
        if snapshot.summary and HUDI_INSTANT in snapshot.summary.additional_properties
    }


def delta_table(path: str, endpoint: Optional[str]) -> DeltaTable:
    """Return the newest published Delta version of the table at `path`."""
    options = {"AWS_ENDPOINT_URL": endpoint, "AWS_ALLOW_HTTP": "true"}
    return DeltaTable(path, storage_options=options if endpoint else None)


def delta_versions(table: DeltaTable) -> Dict[str, int]:
    """Return the version of each published instant; the newest where it has several."""
    return {
        each[HUDI_INSTANT]: each["version"]
        for each in reversed(table.history())
        if HUDI_INSTANT in each
    }


def delta_rows(table: DeltaTable, version: Optional[int]) -> Any:
    """Return the table of Arrow that delta-rs reads, at a version or newest."""
    if version is not None:
        table.load_as_version(version)
    return table.to_pyarrow_table()


def duckdb_rows(
    connection: duckdb.DuckDBPyConnection,
    published: str,
    path: str,
    number: Optional[int],
) -> duckdb.DuckDBPyRelation:
    """Return the rows that DuckDB's extension reads, at a snapshot or version, or newest.

    Args:
        published: `iceberg` or `delta`.
        path: the folder of the Hudi table.
        number: of the snapshot or version; None for the newest.
    """
    function, option = _SCANS[published]
    if published == "iceberg":
        path = iceberg_location(path)
    if number is None:
        return connection.sql(f"FROM {function}(?)", params=[path])
    text = f"FROM {function}(?, {option} => ?)"
    return connection.sql(text, params=[path, number])


def _by_pyiceberg(
    connection: duckdb.DuckDBPyConnection, request: Request, endpoint: Optional[str]
) -> duckdb.DuckDBPyRelation:
    table = iceberg_table(request.path, endpoint)
    chosen = _as_of(request, iceberg_snapshots(table))
    return connection.from_arrow(table.scan(snapshot_id=chosen).to_arrow())


def _by_delta_rs(
    connection: duckdb.DuckDBPyConnection, request: Request, endpoint: Optional[str]
) -> duckdb.DuckDBPyRelation:
    table = delta_table(request.path, endpoint)
    chosen = _as_of(request, delta_versions(table))
    return connection.from_arrow(delta_rows(table, chosen))


def _by_duckdb(
    connection: duckdb.DuckDBPyConnection, request: Request, endpoint: Optional[str]
) -> duckdb.DuckDBPyRelation:
    published = request.published or ""
    load_extensions(connection, published, endpoint)
    if published == "iceberg":
        known = iceberg_snapshots(iceberg_table(request.path, endpoint))
    else:
        known = delta_versions(delta_table(request.path, endpoint))
    return duckdb_rows(connection, published, request.path, _as_of(request, known))


def _as_of(request: Request, known: Mapping[str, int]) -> Optional[int]:
    """Return what stands for the last published instant up to the request's."""
    if request.as_of is None:
        return None
    before = [each for each in known if each <= request.as_of]
    if before:
        return known[max(before)]
    first = f"{readable(min(known))} UTC" if known else "none"
    raise QueryRefused(
        f"--as-of {readable(request.as_of)} UTC: {request.table} {request.layer} is "
        f"published for no commit up to then. Choose a time from the first one on: {first}."
    )


_READERS = {
    Through.ICEBERG.value: _by_pyiceberg,
    Through.DELTA.value: _by_delta_rs,
    Through.DUCKDB.value: _by_duckdb,
}
