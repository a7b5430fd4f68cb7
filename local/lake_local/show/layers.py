"""Layers of tables as views of DuckDB, from their files alone: no server and no Java.

    connection = connect()
    open_layers(connection, {"moma.artists": LayerFiles({...}, "moma.artists")})

leaves a connection that reads these files, and nothing else of this machine or a network.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Mapping, Tuple

import duckdb

from lake_local.show.duckdb_types import quoted
from lake_local.show.request import Files, Layer, LayerFiles, ReadingFailed
from lake_local.show.snapshot import Part, Snapshot, snapshot_of

FAILURES = (duckdb.Error, FileNotFoundError, ReadingFailed)
"""What a query raises that DuckDB refuses, that fails on a row, or that misses a file."""

_LIVE = """
WITH raw AS ({rows}), retracted AS (
    SELECT lake_path, max(_hoodie_commit_time) AS lake_retracted_at FROM raw
    WHERE lake_op = 'retract' GROUP BY lake_path
)
SELECT raw.* FROM raw LEFT JOIN retracted USING (lake_path)
WHERE lake_op <> 'retract'
    AND coalesce(_hoodie_commit_time >= lake_retracted_at, true)
"""
"""The rows of a change log without retracted ones, as `reading.live` has them."""


def connect() -> duckdb.DuckDBPyConnection:
    """Return a connection of DuckDB that downloads nothing and shows times in UTC."""
    connection = duckdb.connect(
        config={
            "autoinstall_known_extensions": False,
            "allow_community_extensions": False,
        }
    )
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def load_extension(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Load an extension of DuckDB, which came as a package."""
    packages = Path(duckdb.__file__).parents[1]
    folder = packages / f"duckdb_extension_{name}" / "extensions"
    (file,) = folder.glob(f"v*/{name}.duckdb_extension")
    connection.load_extension(str(file))


def are_gone(files: Files) -> bool:
    """Return whether a file was removed since it was listed, as a cleaning does."""
    return not all(map(os.path.exists, files.values()))


def open_layers(
    connection: duckdb.DuckDBPyConnection,
    layers: Mapping[str, LayerFiles],
    hidden: Tuple[str, ...] = (),
    written: Tuple[str, ...] = (),
    schema_of_names: str = "main",
) -> None:
    """Make a view of the newest snapshot of each layer, then close all other doors.

    Args:
        layers: by `schema.name` of their views.
        hidden: how the names of columns begin that the views do not have.
        written: files that may be written too.
        schema_of_names: where names without a schema are looked for.

    Raises:
        QueryRefused: a layer has no snapshot, or one that Hudi alone reads.
    """
    read = _reader_of_metadata()
    found = {
        name: snapshot_of(each.table, each.files, read, each.layer)
        for name, each in layers.items()
    }
    _close(connection, found.values(), written)
    for name, snapshot in found.items():
        schema, _, table = name.partition(".")
        rows = _rows(connection, snapshot)
        live = (
            _LIVE.format(rows=rows)
            if layers[name].layer == Layer.CHANGES.value
            else rows
        )
        columns = (
            quoted(each) for each in snapshot.columns if not each.startswith(hidden)
        )
        text = f"SELECT {', '.join(columns)} FROM ({live})"
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")
        connection.execute(f"CREATE VIEW {quoted(schema)}.{quoted(table)} AS {text}")
    connection.execute(f"SET schema = {_literal(schema_of_names)}")
    connection.execute("SET lock_configuration = true")


def _close(
    connection: duckdb.DuckDBPyConnection,
    snapshots: Iterable[Snapshot],
    written: Iterable[str],
) -> None:
    """Allow the files of these snapshots alone, to all that is run from now on."""
    paths = {path for each in snapshots for part in each.parts for path in part.files}
    for each in map(Path, written):  # written under another name first
        paths |= {str(each), str(each.with_name(f"tmp_{each.name}"))}
    connection.execute(f"SET allowed_paths = {_list(sorted(paths))}")
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET enable_external_access = false")


def _rows(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot) -> str:
    """Return SQL for the rows of a snapshot, in the columns that its commit names."""
    texts = [_part(connection, part, snapshot.columns) for part in snapshot.parts]
    return " UNION ALL ".join(texts or [_no_rows(snapshot.columns)])


def _part(
    connection: duckdb.DuckDBPyConnection, part: Part, columns: Mapping[str, str]
) -> str:
    """Files of older commits may lack columns, and have others or narrower types."""
    read = (
        f"read_parquet({_list(part.files)}, union_by_name => true,"
        " hive_partitioning => false)"
    )
    there = {name.lower() for name in connection.sql(f"FROM {read}").columns}
    constants = dict(part.constants)
    values = []
    for name, kind in columns.items():
        value = "NULL"
        if name in constants:
            value = _literal(constants[name])
        elif name.lower() in there:
            value = quoted(name)
        values.append(f"CAST({value} AS {kind}) AS {quoted(name)}")
    return f"SELECT {', '.join(values)} FROM {read}"


def _no_rows(columns: Mapping[str, str]) -> str:
    values = (f"CAST(NULL AS {kind}) AS {quoted(n)}" for n, kind in columns.items())
    return f"SELECT {', '.join(values)} WHERE false"


def _reader_of_metadata() -> Callable[[str], Mapping[str, Any]]:
    """Return what reads commits: JSON up to table version 6, Avro in version 8."""

    @lru_cache(maxsize=None)
    def of_avro() -> duckdb.DuckDBPyConnection:
        connection = connect()
        load_extension(connection, "avro")
        return connection

    @lru_cache(maxsize=None)
    def read(path: str) -> Mapping[str, Any]:
        with open(path, "rb") as file:
            content = file.read()
        if content.startswith(b"{"):
            found: Dict[str, Any] = json.loads(content)
            return found
        rows = of_avro().sql("FROM read_avro(?)", params=[path])
        return dict(zip(rows.columns, rows.fetchone() or ()))

    return read


def _list(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_literal, texts))}]"


def _literal(text: Any) -> str:
    if text is None:
        return "NULL"
    escaped = str(text).replace("'", "''")
    return f"'{escaped}'"
