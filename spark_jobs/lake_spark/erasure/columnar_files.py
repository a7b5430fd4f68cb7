"""Rows of Parquet, Avro and ORC files made blank: null in every column, in place."""

from __future__ import annotations

from typing import Set

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lake_spec.model import Parquet

from lake_spec.text.sql_text import sql_identifier
from lake_spark.landing import literal_paths
from lake_spark.storage.parquet_file import by_footer
from lake_spark.tables.table_run import FileRun

_BLOCK, _ID = "lake_block", "lake_id"
_NUMBER, _BLANK = "lake_row_number", "lake_is_blank"
_GONE = f"{_NUMBER} int, {_BLANK} boolean"


def blank_typed(run: FileRun, uri: str, records: Set[int], folder: str) -> bytes:
    """Blank these rows (from 1) of a file's content; `folder` is for the way.

    Spark writes it again: its columns and values stay, statistics and other notes of
    the old file go.
    """
    form, file = run.spec.source.format.type, _rows(run, uri)
    placed = file.selectExpr(
        "*",
        f"input_file_block_start() AS {_BLOCK}",
        f"monotonically_increasing_id() AS {_ID}",
    )
    in_order = F.row_number().over(Window.orderBy(_BLOCK, _ID))
    numbered = placed.withColumn(_NUMBER, in_order)
    gone = run.spark.createDataFrame([(n, True) for n in sorted(records)], _GONE)
    marked = numbered.join(F.broadcast(gone), _NUMBER, "left")
    rows = marked.repartition(1).sortWithinPartitions(_NUMBER)
    kept = [
        F.when(F.col(_BLANK).isNull(), F.col(sql_identifier(n))).alias(n)
        for n in file.columns
    ]
    rows.select(*kept).write.format(form).save(folder)
    (part,) = [e for e in run.store.list(f"{folder}/part-") if e.size]
    return run.store.read(part.uri)


def _rows(run: FileRun, uri: str) -> DataFrame:
    kind = run.spec.source.format
    is_parquet = isinstance(kind, Parquet)
    reader = by_footer(run.spark, uri) if is_parquet else run.spark.read
    return literal_paths.load(reader, kind.type, [uri])
