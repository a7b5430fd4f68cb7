"""Readers that opened a published table and read it again: a program of `.venv-readers`.

    python -m tests.readers.staying PATH...

Each reader opens the newest commit of each table. A line of JSON says, by table and by
reader, what they find then, and one more for each line of stdin.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Callable, Dict, Iterator, Sequence, Tuple

import duckdb

from lake_local.show import layers, published
from tests.readers.reading import columns, texts

Opened = Dict[str, Dict[str, Callable[[], Any]]]


def main(paths: Sequence[str]) -> None:
    connection = layers.connect()
    for kind in ("iceberg", "delta"):
        published.load_extensions(connection, kind, None)
    opened = {path: dict(of_table(connection, path)) for path in paths}
    say(opened)
    for _ in sys.stdin:
        say(opened)


def of_table(
    connection: duckdb.DuckDBPyConnection, path: str
) -> Iterator[Tuple[str, Callable[[], Any]]]:
    """Yield each reader, which reads the commit that is the newest now."""
    iceberg = published.iceberg_table(path, None)
    delta = published.delta_table(path, None)
    snapshot, version = iceberg.metadata.current_snapshot_id, delta.version()

    def of_duckdb(kind: str, number: int) -> Callable[[], Any]:
        def read() -> Any:
            rows = published.duckdb_rows(connection, kind, path, number)
            return rows.to_arrow_table()

        return read

    yield "pyiceberg", lambda: iceberg.scan(snapshot_id=snapshot).to_arrow()
    yield "delta-rs", delta.to_pyarrow_table
    yield "duckdb iceberg", of_duckdb("iceberg", snapshot)
    yield "duckdb delta", of_duckdb("delta", version)


def say(opened: Opened) -> None:
    """Print what every reader finds; an error as its text."""
    found: Dict[str, Dict[str, Any]] = {}
    for path, of_path in opened.items():
        for reader, read in of_path.items():
            try:
                table = read()
                answer: Any = [columns(table), texts(table)]
            except Exception as error:  # of any library: it is an answer
                answer = f"{type(error).__name__}: {error}"
            found.setdefault(path, {})[reader] = answer
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
