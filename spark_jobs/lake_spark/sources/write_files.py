"""Pulled rows as the files of a folder."""

from __future__ import annotations

from typing import Any, Dict, Optional

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from lake_spark.sources.jdbc_tables import OpenTable
from lake_spark.sources.staging_folder import folder_at

FORMAT = {
    "ignoreNullFields": "false",
    # JSON would lose the microseconds.
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""How values are written, and read back, in text."""


def land(
    table: OpenTable,
    path: str,
    rows: DataFrame,
    facts: Optional[Dict[str, Any]] = None,
    *,
    keep_empty: bool = False,
) -> int:
    """Write rows into a folder below the landing folder and finish it; return how many.

    `facts` are what the finished folder says of itself besides.

    Without rows there is no file, unless an empty one says something.
    """
    count = _write(table, path, rows)
    if not count and not keep_empty:
        folder = folder_at(table.run, path)
        folder.discard()
        folder.begin()
    return _finish(table, path, rows, count, facts, keep_empty=keep_empty)


def land_if_any(
    table: OpenTable, path: str, rows: DataFrame, facts: Optional[Dict[str, Any]] = None
) -> int:
    """Land the same, but without rows make no folder."""
    count = _write(table, path, rows)
    if not count:
        folder_at(table.run, path).discard()
        table.run.say(f"nothing new in {table.name}")
        return 0
    return _finish(table, path, rows, count, facts, keep_empty=False)


def _write(table: OpenTable, path: str, rows: DataFrame) -> int:
    folder = folder_at(table.run, path)
    folder.begin()
    counted = Observation()
    seen = rows.observe(counted, F.count(F.lit(1)).alias("rows"))
    form = table.run.spec.source.format.type
    seen.write.format(form).options(**FORMAT).mode("append").save(folder.uri)
    count: int = counted.get["rows"]
    return count


def _finish(
    table: OpenTable,
    path: str,
    rows: DataFrame,
    count: int,
    facts: Optional[Dict[str, Any]],
    *,
    keep_empty: bool,
) -> int:
    folder = folder_at(table.run, path)
    folder.sweep(keep_empty=keep_empty)
    folder.finish(
        {
            "connection": table.server.name,
            "table": table.name,
            "at": table.opened.at,
            "rows": count,
            "schema": rows.schema.jsonValue(),
            **(facts or {}),
        }
    )
    table.run.say(f"pulled {count:,} row(s) of {table.name} into {path}/")
    return count
