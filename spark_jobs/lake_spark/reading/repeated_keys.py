"""Rows of one full copy of a table that have one key and differ.

Which of them is right is never guessed: contract section 4. A full copy is a snapshot, a
file of a full load without an order, or a full load that was pulled from a database.
"""

from __future__ import annotations

from typing import List, Optional

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from lake_spec.model import DuplicateKeys, FeedTable, FileTable
from lake_spark.changelog.schema import LogColumn
from lake_spark.scd2.events import KEY
from lake_spark.schema.columns import Columns
from lake_spark.schema.equality import comparable

REPEATS = "lake_repeats"
"""How many rows of the copy have the row's key, where they differ; else null."""

_COPY = "lake_copy"
"""Which full copy a row is of; null where it is of none."""


def identity(spec: FileTable) -> List[str]:
    """Return what one row of a full copy is about: a key, in one scope value."""
    return [KEY, *([spec.scope.column] if spec.scope else [])]


def find(rows: DataFrame, spec: FileTable, columns: Columns) -> Optional[DataFrame]:
    """Return the keys of rows that differ, with their numbers of rows; None if there are none.

    A bad row differs from each good one of its key, whatever of it can be read. The keys
    are kept in memory until they are released.
    """
    copy = _copy(spec)
    if copy is None:
        return None
    kept = rows.withColumn(_COPY, F.expr(copy)).where("lake_no_row IS NULL")
    same_row = [_COPY, *identity(spec)]
    for name in same_row:
        kept = kept.where(F.col(name).isNotNull())
    repeated = kept.groupBy(*same_row).count().where("count > 1").drop("count")
    if repeated.isEmpty():
        return None
    values = F.struct(
        F.col("lake_reason").isNull(),
        *comparable(rows, [name for name, _ in columns]),
    )
    found = (
        kept.join(repeated, same_row)
        .groupBy(*same_row)
        .agg(
            F.count("*").alias(REPEATS),
            F.count_distinct(values).alias("lake_kinds"),
            F.count_if(F.col("lake_reason").isNull()).alias("lake_good"),
        )
        .where("lake_kinds > 1 AND lake_good > 0")
        .select(*same_row, REPEATS)
        .persist(StorageLevel.MEMORY_AND_DISK)
    )
    if found.count():  # all of them: from here on the rows need not be kept
        return found
    found.unpersist()
    return None


def _copy(spec: FileTable) -> Optional[str]:
    """Return an expression: the full copy that a row is of. None if there is none."""
    if not isinstance(spec, FeedTable):
        return f"CAST({LogColumn.SNAPSHOT_AT} AS string)"
    of_load = f"CASE WHEN {LogColumn.RANK} = 0 THEN %s END"
    if spec.source.load_from is not None:  # read at one moment, into several files
        return of_load % f"regexp_extract({LogColumn.PATH}, '^(.*/)?', 0)"
    return None if spec.order_by else of_load % LogColumn.PATH.value


def marked(rows: DataFrame, spec: FileTable, found: Optional[DataFrame]) -> DataFrame:
    """Add REPEATS, and its reason to each row that is not to be guessed."""
    if found is None:
        return rows.withColumn(REPEATS, F.lit(None).cast("bigint"))
    same_row = [_COPY, *identity(spec)]
    rows = rows.withColumn(_COPY, F.expr(_copy(spec) or "NULL"))
    rows = rows.join(found, same_row, "left").drop(_COPY)
    if spec.source.duplicate_keys is DuplicateKeys.LAST:
        return rows
    words = F.format_string("its key stands in %d rows that differ", REPEATS)
    words = F.when(F.col(REPEATS).isNotNull(), words)
    return rows.withColumn("lake_reason", F.coalesce("lake_reason", words))
