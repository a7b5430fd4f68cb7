"""A table of plain Parquet in the Glue catalogue: one request makes its newest commit seen.

The entry names the folder of the commit, and of partitions only from which to which value
there are some (Athena's partition projection): no partition is registered, so none is of
another commit than the others. Spark finds partitions by their folders, as in every table
of files whose partitions the catalogue does not track.
"""

from __future__ import annotations

from typing import Any, Dict

from lake_spark.storage.parquet_table import ParquetTable

INPUT = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"


def projection(table: ParquetTable, kinds: Dict[str, str]) -> Dict[str, str]:
    """Return the properties by which Athena knows the partitions of the newest commit.

    Args:
        table: a table with a commit.
        kinds: types of its partition columns by name, whole numbers and dates.
    """
    if not kinds:
        return {}
    found = {"projection.enabled": "true"}
    ranges = table.commit().ranges
    for name, kind in kinds.items():
        is_date = kind == "date"
        # Without a row there is no folder, and any range is right.
        low, high = ranges.get(name, ("1970-01-01",) * 2 if is_date else ("0", "0"))
        column = f"projection.{name.lower()}"
        found[f"{column}.type"] = "date" if is_date else "integer"
        found[f"{column}.range"] = f"{low},{high}"
        if is_date:
            found[f"{column}.format"] = "yyyy-MM-dd"
    return found


def entry_of(table: ParquetTable, wanted: Dict[str, Any]) -> Dict[str, Any]:
    """Return what Glue receives of the table, of what it would receive were it Hudi's."""
    kinds = {each["Name"]: each["Type"] for each in wanted["PartitionKeys"]}
    folder, stored = table.folder(), wanted["StorageDescriptor"]
    return {
        **wanted,
        "Parameters": {
            **wanted["Parameters"],
            "spark.sql.sources.provider": "parquet",
            "classification": "parquet",
            **projection(table, kinds),
        },
        "StorageDescriptor": {
            **stored,
            "Location": folder,
            "InputFormat": INPUT,
            "SerdeInfo": {
                **stored["SerdeInfo"],
                "Parameters": {"path": folder, "serialization.format": "1"},
            },
        },
    }
