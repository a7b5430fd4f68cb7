"""Published tables as readers without Spark find them: a program of `.venv-readers`.

    python -m tests.readers.reading PATHS.json ANSWER.json

For each path the answer has, for each reader and each commit that the metadata names,
the types of the columns and the rows as texts; `newest` is what a reader that asks for
no commit finds. The reader of Hudi's own files knows no other; where log files have rows
it finds LOGS.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Sequence, Tuple

import duckdb
import pyarrow as pa

from lake_spec.hudi.layout import HUDI_PREFIX

from lake_local.show import layers, published
from lake_local.show.request import LayerFiles, NeedsHudi
from tests.readers.same_text import Columns, row_texts

NEWEST, LOGS = "newest", "log files"
OWN_FILES = "duckdb hudi"
Reader = Callable[[Optional[int]], pa.Table]


def main(argv: Sequence[str]) -> None:
    paths = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    connection = layers.connect()
    for kind in ("iceberg", "delta"):
        published.load_extensions(connection, kind, None)
    found = {path: dict(of_table(connection, path)) for path in paths}
    Path(argv[1]).write_text(json.dumps(found), encoding="utf-8")


def of_table(
    connection: duckdb.DuckDBPyConnection, path: str
) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """Yield each reader with what it finds at each commit."""
    iceberg = published.iceberg_table(path, None)
    snapshots = published.iceberg_snapshots(iceberg)
    versions = published.delta_versions(published.delta_table(path, None))

    def pyiceberg(snapshot: Optional[int]) -> pa.Table:
        return iceberg.scan(snapshot_id=snapshot).to_arrow()

    def delta_rs(version: Optional[int]) -> pa.Table:
        return published.delta_rows(published.delta_table(path, None), version)

    def duckdb_iceberg(snapshot: Optional[int]) -> pa.Table:
        return of_duckdb("iceberg", snapshot)

    def duckdb_delta(version: Optional[int]) -> pa.Table:
        return of_duckdb("delta", version)

    def of_duckdb(kind: str, number: Optional[int]) -> pa.Table:
        rows = published.duckdb_rows(connection, kind, path, number)
        return rows.to_arrow_table()

    yield "pyiceberg", at_each(pyiceberg, snapshots)
    yield "duckdb iceberg", at_each(duckdb_iceberg, snapshots)
    yield "delta-rs", at_each(delta_rs, versions)
    yield "duckdb delta", at_each(duckdb_delta, versions)
    yield OWN_FILES, at_each(lambda _: own_files(path), {})


def own_files(path: str) -> pa.Table:
    """Return the rows of a Hudi table, as `show` and `sql` read it."""
    folder = Path(path.removeprefix("file://"))
    files = {
        str(each.relative_to(folder)): str(each)
        for each in folder.rglob("*")
        if each.is_file()
    }
    connection = layers.connect()
    opened = {"lake.rows": LayerFiles(files, "lake.rows")}
    layers.open_layers(connection, opened, (HUDI_PREFIX,))
    return connection.sql("FROM lake.rows").to_arrow_table()


def at_each(read: Reader, known: Mapping[str, int]) -> Dict[str, Any]:
    """Return what a reader finds, by commit; an error as its text."""
    found: Dict[str, Any] = {}
    for instant, number in ((NEWEST, None), *known.items()):
        try:
            table = read(number)
            found[instant] = [columns(table), texts(table)]
        except NeedsHudi:
            found[instant] = LOGS
        except Exception as error:  # of any library: it is a difference to report
            found[instant] = f"{type(error).__name__}: {error}"
    return found


def columns(table: pa.Table) -> Columns:
    """Return the type of each column, as Spark writes it."""
    return {field.name: spark_type(field.type) for field in table.schema}


def texts(table: pa.Table) -> Any:
    listed = [column.to_pylist() for column in table.columns]
    return row_texts(table.column_names, zip(*listed))


def spark_type(kind: pa.DataType) -> str:
    """Return the name that Spark has for a type of Arrow."""
    if pa.types.is_struct(kind):
        fields = (f"{each.name}:{spark_type(each.type)}" for each in kind)
        return f"struct<{','.join(fields)}>"
    if pa.types.is_map(kind):
        return f"map<{spark_type(kind.key_type)},{spark_type(kind.item_type)}>"
    if isinstance(kind, (pa.ListType, pa.LargeListType, pa.ListViewType)):
        return f"array<{spark_type(kind.value_type)}>"
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind) and kind.unit == "us" and kind.tz:
        return "timestamp"
    return _NAMES.get(str(kind), str(kind))


_NAMES = {
    "bool": "boolean",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "double": "double",
    "date32[day]": "date",
    **{name: "string" for name in ("string", "large_string", "string_view")},
    **{name: "binary" for name in ("large_binary", "binary_view")},
}


if __name__ == "__main__":
    main(sys.argv[1:])
