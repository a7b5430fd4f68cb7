"""Published tables, read by engines that know nothing of Hudi."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Dict, List, Optional
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lake_spec.layout.published_tables import iceberg_location
from lake_spark.landing import literal_paths

INSTANT = "lake.hudi-instant"


def iceberg_rows(
    spark: SparkSession, path: str, instant: Optional[str] = None
) -> DataFrame:
    """What Spark's own reader of Iceberg finds, as of a commit of Hudi if wished."""
    reader = spark.read.format("iceberg")
    if instant is not None:
        reader = reader.option("snapshot-id", iceberg_snapshots(path)[instant])
    return reader.load(iceberg_location(path))


def iceberg_folder(path: str) -> Path:
    """The folder of Iceberg's metadata of the Hudi table at a path."""
    return Path(iceberg_location(path)[len("file://") :]) / "metadata"


def delta_folder(path: str) -> Path:
    """The folder of the Delta log of the Hudi table at a path."""
    return Path(path[len("file://") :]) / "_delta_log"


def iceberg_file(path: str) -> Path:
    """The file of the newest metadata, as readers without a catalogue find it."""
    folder = iceberg_folder(path)
    version = (folder / "version-hint.text").read_text()
    return folder / f"v{version}.metadata.json"


def iceberg_metadata(path: str) -> dict:
    """The newest metadata."""
    return json.loads(iceberg_file(path).read_text())


def iceberg_snapshots(path: str) -> Dict[str, int]:
    """Snapshot ids by commit of Hudi."""
    found = iceberg_metadata(path)["snapshots"]
    return {each["summary"][INSTANT]: each["snapshot-id"] for each in found}


def delta_versions(path: str) -> Dict[str, int]:
    """Versions by commit of Hudi."""
    found = {}
    for file in sorted(delta_folder(path).glob("*.json")):
        first = json.loads(file.read_text().splitlines()[0])
        found[first["commitInfo"][INSTANT]] = int(file.stem)
    return found


def versions_of(path: str) -> Dict[str, List[str]]:
    """The commits of Hudi that each format has a version of, once for each version."""
    snapshots = iceberg_metadata(path)["snapshots"]
    files = sorted(delta_folder(path).glob("*.json"))
    first = [json.loads(file.read_text().splitlines()[0]) for file in files]
    return {
        "iceberg": [each["summary"][INSTANT] for each in snapshots],
        "delta": [each["commitInfo"][INSTANT] for each in first],
    }


def delta_rows(
    spark: SparkSession, path: str, instant: Optional[str] = None
) -> DataFrame:
    """What the protocol says of a log: the files in force, in the declared columns."""
    log = delta_folder(path)
    versions = delta_versions(path)
    last = max(versions.values()) if instant is None else versions[instant]
    actions: List[dict] = []
    points = sorted(int(f.name[:20]) for f in log.glob("*.checkpoint.parquet"))
    start = max((v for v in points if v <= last), default=None)
    if start is not None:
        file = f"file://{log}/{start:020}.checkpoint.parquet"
        actions += [
            json.loads(line) for line in spark.read.parquet(file).toJSON().collect()
        ]
    else:
        start = -1
    for version in range(start + 1, last + 1):
        text = (log / f"{version:020}.json").read_text()
        actions += [json.loads(line) for line in text.splitlines()]
    files: Dict[str, dict] = {}
    schema = None
    for each in actions:
        if each.get("metaData"):
            schema = StructType.fromJson(json.loads(each["metaData"]["schemaString"]))
        if each.get("add"):
            files[each["add"]["path"]] = each["add"]
        if each.get("remove"):
            files.pop(each["remove"]["path"], None)
    assert schema is not None
    paths = [f"{path}/{unquote(each)}" for each in files]
    if not paths:
        return spark.createDataFrame([], schema)
    return literal_paths.load(spark.read.schema(schema), "parquet", paths)


def as_text(rows: DataFrame) -> List[str]:
    """Rows in an order of their own, by columns in the order of their names."""
    return sorted(repr(row) for row in rows.select(*sorted(rows.columns)).collect())
