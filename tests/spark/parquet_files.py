"""Landing files of Parquet, made by a query."""

from __future__ import annotations

from pathlib import Path

from tests.spark.lake import Lake


def land_parquet(lake: Lake, path: str, select: str) -> None:
    """Land one Parquet file: the rows of `SELECT <select>`."""
    made = lake.root / "made" / path
    lake.spark.sql(f"SELECT {select}").coalesce(1).write.parquet(f"file://{made}")
    (part,) = Path(made).glob("part-*")
    lake.land(path, part.read_bytes(), at="2026-02-01")
