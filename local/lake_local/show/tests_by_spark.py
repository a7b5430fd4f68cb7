"""Tests of products by Spark, in one session: for SQL that DuckDB does not run."""

from __future__ import annotations

from typing import List, Sequence

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from lake_spec.model.column_type import parse_type

from lake_local.show.product_tests import Columns, EngineFailed, TestEngine, Values


class SparkEngine(TestEngine):
    """A session of Spark, which ends with it."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def typed(self, columns: Columns, rows: Sequence[Values]) -> List[Values]:
        """Return the rows as their values are written after a cast."""
        values = (
            _typed(name, kind).cast("string").alias(name)
            for name, kind in columns.items()
        )
        found = self._texts_of(columns, rows).select(*values).collect()
        return [tuple(row) for row in found]

    def open_view(self, view: str, columns: Columns, rows: Sequence[Values]) -> None:
        """Make a temporary view."""
        values = [_typed(name, kind).alias(name) for name, kind in columns.items()]
        rows_of_view = self._texts_of(columns, rows).select(*values)
        rows_of_view.createOrReplaceTempView(view)

    def made(self, sql: str, columns: Columns) -> List[Values]:
        """Return the rows of a query; EngineFailed for any error of Spark."""
        try:
            return _texts(self._spark.sql(sql), columns)
        except PySparkException as error:
            raise EngineFailed(str(error).splitlines()[0]) from None

    def close(self) -> None:
        """Stop the session."""
        self._spark.stop()

    def _texts_of(self, columns: Columns, rows: Sequence[Values]) -> DataFrame:
        schema = StructType([StructField(name, StringType()) for name in columns])
        return self._spark.createDataFrame(list(rows), schema)


def _texts(rows: DataFrame, columns: Columns) -> List[Values]:
    values = (
        _column(name).cast(kind).cast("string").alias(name)
        for name, kind in columns.items()
    )
    return [tuple(row) for row in rows.select(*values).collect()]


def _typed(name: str, kind: str) -> Column:
    """Return a text as a value of its type; tests give none of a type with parts."""
    if parse_type(kind).is_nested:
        return F.lit(None).cast(kind)
    return _column(name).cast(kind)


def _column(name: str) -> Column:
    escaped = name.replace("`", "``")
    return F.col(f"`{escaped}`")
