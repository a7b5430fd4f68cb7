"""DuckDB, with its extensions of Delta and Iceberg."""

from __future__ import annotations

from typing import Any

from tests.hostile.attacks.attack import attack


@attack("DuckDB", "INSERT INTO an attached Delta table", on=("current", "changes"))
def duckdb_inserts_rows(engine: Any, layer: str) -> None:
    engine.duckdb.execute("DETACH DATABASE IF EXISTS things")
    engine.duckdb.execute(
        f"ATTACH '{engine.folder(layer)}' AS things (TYPE delta, READ_WRITE)"
    )
    engine.duckdb.execute("INSERT INTO things SELECT * FROM things LIMIT 3")


@attack("DuckDB", "COPY TO a file in the table's folder")
def duckdb_copies_a_file_into_the_folder(engine: Any, layer: str) -> None:
    folder = engine.folder(layer)
    engine.duckdb.execute(
        f"COPY (SELECT 1 AS id) TO '{folder}/place=north/x.parquet' (FORMAT parquet)"
    )
