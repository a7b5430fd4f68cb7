"""The partitions of a product that a run asks to make again."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lake_spec.hudi.layout import NO_PARTITIONS
from lake_spec.layout.partition_folders import parts_of
from lake_spec.model import ProductTable
from lake_spec.model.column_type import ColumnType
from lake_spec.model.type_conversion import is_value_of
from lake_spec.text.marked_values import quoted_value
from lake_spark.errors import NoSuchPartitions


def require_partitions(spec: ProductTable, folders: Sequence[str]) -> None:
    """Raise NoSuchPartitions if a folder names no partition column, or no value of it."""
    known = spec.storage.partition_by
    for folder in folders:
        for column, value in parts_of(folder):
            if column not in known:
                has = f"by {', '.join(known)}" if known else "none"
                raise NoSuchPartitions(
                    f"{spec.full_name}: the param partitions has {quoted_value(folder)}, and its "
                    f"partitions are {has}. Choose other tables, or correct the param."
                )
            kind = spec.type_of(column)
            if kind and value not in NO_PARTITIONS and not _may_be(value, kind):
                raise NoSuchPartitions(
                    f"{spec.full_name}: the param partitions has {quoted_value(folder)}, and "
                    f"{column} is {kind.text}, which has no value {quoted_value(value)}. "
                    "Correct the param."
                )


def _may_be(value: str, kind: ColumnType) -> bool:
    """Return whether a value of a folder is one of a type; of times only Spark knows."""
    return kind.name == "timestamp" or is_value_of(value, kind)


def in_partitions(rows: DataFrame, folders: Sequence[str]) -> DataFrame:
    """Return the rows that are stored in one of those folders of partitions."""
    return rows.where(reduce(or_, (_is_in(rows, each) for each in folders)))


def _is_in(rows: DataFrame, folder: str) -> Column:
    kinds = dict(rows.dtypes)
    return reduce(
        Column.__and__,
        (_has(column, value, kinds[column]) for column, value in parts_of(folder)),
    )


def _has(column: str, value: str, kind: str) -> Column:
    stored = F.col(f"`{column}`")
    if value in NO_PARTITIONS:
        return stored.isNull() | stored.cast("string").isin(*NO_PARTITIONS)
    return stored == F.lit(value).cast(kind)
