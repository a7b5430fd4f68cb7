"""The program behind `show --through`: rows as readers without Hudi find them.

    python -m lake_local.show.readers REQUESTS.json READER.log

The published metadata of a table is read by pyiceberg (`iceberg`), delta-rs (`delta`)
or DuckDB's own extensions (`duckdb`); DuckDB then filters, sorts and limits the rows.
It runs in the environment of `requirements/readers.in`, without Java.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple
from urllib.parse import urlsplit

import duckdb
from deltalake import DeltaTable
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.io import load_file_io
from pyiceberg.serializers import FromInputFile
from pyiceberg.table import StaticTable

from lake_spec.layout.published_tables import iceberg_location
from lake_spec.text.sql_text import sql_literal

from lake_local.show import request as requests
from lake_local.show.columns import shown
from lake_local.show.instants import readable
from lake_local.show.query import REFUSED, answer, keep_output_clean
from lake_local.show.request import QueryRefused, Request, Through, Validity

INSTANT = "lake.hudi-instant"
"""Names the commit of Hudi in each Iceberg snapshot and each Delta version."""

_EXTENSIONS = {"iceberg": ("avro", "iceberg"), "delta": ("delta",)}
_SCANS = {
    "iceberg": ("iceberg_scan", "snapshot_from_id"),
    "delta": ("delta_scan", "version"),
}
"""DuckDB's function for a format, and its parameter for one commit."""


def main(argv: Sequence[str]) -> int:
    """Answer every request in turn; REFUSED with the reason for one without answer."""
    asked = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    data, words = keep_output_clean(Path(argv[1]))
    connection = connect()
    try:
        for each in (requests.from_json(raw) for raw in asked["requests"]):
            found = Found(rows(connection, each, asked["endpoint"]))
            answer(found, each, data, words, Found.write_parquet)
    except QueryRefused as error:
        print(error, file=words)
        return REFUSED
    finally:
        for stream in (data, words):
            stream.flush()
    return 0


class Found:
    """Rows of DuckDB, with the few methods of a Spark DataFrame that `answer` calls."""

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        self._relation = relation

    @property
    def columns(self) -> List[str]:
        """The names of the columns."""
        names: List[str] = self._relation.columns
        return names

    def count(self) -> int:
        """Return the number of rows."""
        rows: int = self._relation.count("*").fetchall()[0][0]
        return rows

    def limit(self, number: int) -> Found:
        """Return so many rows at most."""
        return Found(self._relation.limit(number))

    def collect(self) -> List[Tuple[Any, ...]]:
        """Return all rows."""
        return list(self.toLocalIterator())

    def toLocalIterator(self, _: bool = False) -> Iterator[Tuple[Any, ...]]:
        """Yield the rows, timestamps in UTC without a zone."""
        for batch in self._relation.to_arrow_reader():
            columns = [each.to_pylist(maps_as_pydicts="strict") for each in batch]
            for row in zip(*columns):
                yield tuple(_without_zone(value) for value in row)

    def write_parquet(self, output: str, limit: int) -> None:
        """Write rows as one Parquet file; a limit of 0 is all."""
        limited = self._relation.limit(limit) if limit else self._relation
        limited.write_parquet(output)


def _without_zone(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def rows(
    connection: duckdb.DuckDBPyConnection, request: Request, endpoint: Optional[str]
) -> duckdb.DuckDBPyRelation:
    """Return the rows that are asked for; QueryRefused says why there is no answer."""
    found = _READERS[request.through](connection, request, endpoint)
    if request.valid:
        found = found.filter(_valid_at(request.valid))
    if request.where:
        try:
            found = found.filter(request.where)
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise QueryRefused(
                f"--where {request.where!r}: {reason}. Write one condition in DuckDB's SQL."
            ) from None
    if request.count:
        return found
    order = [_column(name) for name in request.order if name in found.columns]
    ordered = found.sort(*order) if order else found
    return ordered.select(*map(_column, shown(found.columns, request)))


def connect() -> duckdb.DuckDBPyConnection:
    """Return a connection of DuckDB that never downloads anything."""
    return duckdb.connect(config={"autoinstall_known_extensions": False})


def load_extensions(
    connection: duckdb.DuckDBPyConnection, published: str, endpoint: Optional[str]
) -> None:
    """Load what DuckDB reads a format with; its extensions came as packages.

    Args:
        published: `iceberg` or `delta`.
        endpoint: address of S3; None where tables are folders of this machine.
    """
    packages = Path(duckdb.__file__).parents[1]
    for name in (*(("httpfs",) if endpoint else ()), *_EXTENSIONS[published]):
        folder = packages / f"duckdb_extension_{name}" / "extensions"
        (file,) = folder.glob(f"v*/{name}.duckdb_extension")
        connection.load_extension(str(file))
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
        snapshot.summary[INSTANT]: snapshot.snapshot_id
        for snapshot in table.metadata.snapshots
        if snapshot.summary and INSTANT in snapshot.summary.additional_properties
    }


def delta_table(path: str, endpoint: Optional[str]) -> DeltaTable:
    """Return the newest published Delta version of the table at `path`."""
    options = {"AWS_ENDPOINT_URL": endpoint, "AWS_ALLOW_HTTP": "true"}
    return DeltaTable(path, storage_options=options if endpoint else None)


def delta_versions(table: DeltaTable) -> Dict[str, int]:
    """Return the version of each published instant; the newest where it has several."""
    return {
        each[INSTANT]: each["version"]
        for each in reversed(table.history())
        if INSTANT in each
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


def _valid_at(validity: Validity) -> duckdb.Expression:
    at = duckdb.ConstantExpression(datetime.fromisoformat(validity.at))
    begins, ends = _column(validity.valid_from), _column(validity.valid_to)
    deleted = _column(validity.is_deleted)
    is_live = deleted.isnull() | ~deleted
    return (begins <= at) & (ends.isnull() | (ends > at)) & is_live


def _column(name: str) -> duckdb.Expression:
    quoted = name.replace('"', '""')
    return duckdb.SQLExpression(f'"{quoted}"')


_READERS = {
    Through.ICEBERG.value: _by_pyiceberg,
    Through.DELTA.value: _by_delta_rs,
    Through.DUCKDB.value: _by_duckdb,
}


if __name__ == "__main__":
    # Without Python's own end: threads of Arrow may still hold files of delta-rs, and
    # one that lets go while the interpreter ends aborts the process, after all rows.
    # Source: github.com/apache/arrow/issues/34314.
    os._exit(main(sys.argv[1:]))
