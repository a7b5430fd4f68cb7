"""Rows of a Parquet file made blank: null in every column, at their old place."""

from __future__ import annotations

from typing import Set

from pyspark.sql import functions as F

from lake_spec.sql_text import sql_identifier
from lake_spark.table_run import TableRun

_NUMBER, _BLANK = "lake_row_number", "lake_is_blank"


def blank_parquet(run: TableRun, uri: str, records: Set[int], folder: str) -> bytes:
    """The content of a file with these rows (from 1) blank; `folder` is for the way.

    Spark writes it anew: its columns and values stay, statistics and other notes of
    the old footer go.
    """
    spark = run.spark
    file = spark.read.option("__globPaths__", "false").parquet(uri)
    number = (F.col("_metadata.row_index") + 1).alias(_NUMBER)
    numbered = file.select("*", number)
    gone = spark.createDataFrame([(n, True) for n in sorted(records)], _GONE)
    marked = numbered.join(F.broadcast(gone), _NUMBER, "left")
    rows = marked.repartition(1).sortWithinPartitions(_NUMBER)
    kept = [
        F.when(F.col(_BLANK).isNull(), F.col(sql_identifier(n))).alias(n)
        for n in file.columns
    ]
    rows.select(*kept).write.parquet(folder)
    (part,) = [e for e in run.store.list(f"{folder}/part-") if e.size]
    return run.store.read(part.uri)


_GONE = f"{_NUMBER} bigint, {_BLANK} boolean"
