"""The columns and partitions of a table as other formats say them."""

from __future__ import annotations

import json
from typing import Any, Dict, Mapping, Optional, Tuple

from pyspark.sql.types import StructField, StructType

from lake_spec.hudi.layout import NO_PARTITIONS
from lake_spec.hudi.options import HudiKey
from lake_spark.publish.instants import BaseFile
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.tables.glue_partitions import values_of

COMMENT = "comment"
"""Names the description in the metadata of a column: Spark, Iceberg and Delta know it."""


def published_schema(table: HudiTable, descriptions: Mapping[str, str]) -> StructType:
    """Return the stored columns without Hudi's own; each may be null.

    Args:
        descriptions: of columns by name, which become their comments.
    """
    loose = StructType.fromJson(_loose(json.loads(table.schema().json())))
    return described(loose, descriptions)


def described(schema: StructType, descriptions: Mapping[str, str]) -> StructType:
    """Return the same columns with these descriptions alone as their comments."""
    return StructType(
        [
            StructField(
                each.name,
                each.dataType,
                each.nullable,
                {COMMENT: descriptions[each.name]} if each.name in descriptions else {},
            )
            for each in schema.fields
        ]
    )


def _loose(kind: Any) -> Any:
    """Return a Spark type as JSON with nulls allowed everywhere, without notes."""
    if not isinstance(kind, dict):
        return kind
    found = {name: _loose(value) for name, value in kind.items()}
    for name in ("nullable", "containsNull", "valueContainsNull"):
        if name in found:
            found[name] = True
    if "fields" in found:
        fields = [_loose(field) for field in kind["fields"]]
        found["fields"] = [{**field, "metadata": {}} for field in fields]
    return found


def same_columns(one: StructType, other: StructType) -> bool:
    """Return whether two schemas have the same columns, in whatever order."""
    return bool(_sorted(json.loads(one.json())) == _sorted(json.loads(other.json())))


def _sorted(kind: Any) -> Any:
    if not isinstance(kind, dict):
        return kind
    found = {name: _sorted(value) for name, value in _loose(kind).items()}
    if "fields" in found:
        fields = [_sorted(field) for field in found["fields"]]
        found["fields"] = sorted(fields, key=lambda field: field["name"])
    return found


def partition_columns(table: HudiTable) -> Tuple[str, ...]:
    """Return the columns that a table is partitioned by."""
    named = table.options.get(HudiKey.PARTITION_PATH.value, "")
    return tuple(name for name in named.split(",") if name)


def partition_values(
    file: BaseFile, columns: Tuple[str, ...]
) -> Dict[str, Optional[str]]:
    """Return the partition of a file as texts, by column; None for null."""
    if not columns:
        return {}
    return {
        name: None if text in NO_PARTITIONS else text
        for name, text in zip(columns, values_of(file.partition, encoded=True))
    }
