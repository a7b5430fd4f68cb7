"""Landing files of Avro and ORC, made by a query."""

from __future__ import annotations

from pathlib import Path

from tests.spark.lake import Lake


def typed_file(lake: Lake, form: str, select: str, **options: str) -> bytes:
    """One file of that format: the rows of `SELECT <select>`."""
    number = len(list(lake.root.glob("made/*")))
    made = lake.root / "made" / str(number)
    rows = lake.spark.sql(f"SELECT {select}").coalesce(1)
    rows.write.format(form).options(**options).save(f"file://{made}")
    (part,) = Path(made).glob("part-*")
    return part.read_bytes()


def land_typed(lake: Lake, path: str, select: str, **options: str) -> None:
    """Land one file, whose format its path ends with."""
    form = path.rpartition(".")[2]
    lake.land(path, typed_file(lake, form, select, **options), at="2026-02-01")
