"""What tests of an erase do to a lake, and a search of its files of its own.

The search knows nothing of the product's: it opens every file below the lake, packed
ones unpacked, every file of Parquet or Avro as rows of whatever version, and looks for a
text.
"""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path
from typing import Dict, List, Set

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lake_spec.state.report import Report
from tests.spark.lake import Lake
from tests.spark.reprocessing import rows

SECRET = "a secret of the tests"
CANARY = "ZQX-canary-7"
"""What stands in every row of the subject, and in no other."""


def request_file(lake: Lake) -> Path:
    """Where a request lies."""
    return lake.root / "runs/erase/tests/request.json"


def ask(lake: Lake, *keys: Dict[str, object]) -> str:
    """Put a request to erase these keys of the lake's table; its URI."""
    (lake.root / "secret").write_text(SECRET)
    file = request_file(lake)
    file.parent.mkdir(parents=True, exist_ok=True)
    lake.store.write(
        f"file://{file}", json.dumps({"keys": {lake.spec.name: list(keys)}}).encode()
    )
    return f"file://{file}"


def erased(lake: Lake, *keys: Dict[str, object]) -> Report:
    """Erase these keys; it may not fail."""
    report = lake.run("erase", request_uri=ask(lake, *keys))
    assert report.error is None, report.error
    return report


def others(lake: Lake) -> tuple:
    """Both tables without the rows of the subject."""
    return tuple([r for r in one if CANARY not in repr(r)] for one in rows(lake))


def places_of(lake: Lake, text: str) -> Set[str]:
    """Folders (landing, changes, current ...) of the lake that have a file with the text."""
    return {_place(lake, file) for file in files_with(lake, text)}


def files_with(lake: Lake, text: str) -> List[Path]:
    """Every file of landing, warehouse, runs and profiles with the text, also in its name."""
    found = []
    for folder in ("landing", "warehouse", "runs/tests_incremental", "runs/profiles"):
        files = sorted(f for f in (lake.root / folder).rglob("*") if f.is_file())
        found += [f for f in files if has_text(lake.spark, f, text) or text in str(f)]
    return found


def has_text(spark: SparkSession, file: Path, text: str) -> bool:
    """Whether a file has the text: as it is, unpacked, or in a row of it."""
    content = file.read_bytes()
    for suffix, unpack in ((".gz", gzip.decompress), (".bz2", bz2.decompress)):
        content = unpack(content) if file.name.endswith(suffix) else content
    if text.encode() in content or json.dumps(text)[1:-1].encode() in content:
        return True
    if file.suffix not in (".parquet", ".avro"):
        return False
    rows = spark.read.format(file.suffix[1:]).load(f"file://{file}")
    values = [F.col(f"`{name}`").cast("string") for name in rows.columns]
    told = F.concat_ws(" ", *values)
    return not rows.where(F.contains(told, F.lit(text))).isEmpty()


def _place(lake: Lake, file: Path) -> str:
    parts = file.relative_to(lake.root).parts
    return parts[3] if parts[0] == "warehouse" else parts[0]
