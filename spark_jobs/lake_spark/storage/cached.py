"""Rows that are read more than once, kept for as long as they are."""

from __future__ import annotations

from contextlib import ExitStack

from pyspark.sql import DataFrame
from pyspark.storagelevel import StorageLevel


def keep(rows: DataFrame, until: ExitStack) -> DataFrame:
    """The rows, from their first use on in memory, or on disk, until that is left."""
    until.callback(rows.unpersist)
    return rows.persist(StorageLevel.MEMORY_AND_DISK)
