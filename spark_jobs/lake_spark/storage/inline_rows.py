"""A few rows of the driver as a DataFrame, without a Spark job to make it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Sequence, Tuple

from pyspark.sql import DataFrame, SparkSession

from lake_spec.text.sql_text import sql_literal

Columns = Sequence[Tuple[str, str]]


def small_table(
    spark: SparkSession, columns: Columns, rows: Sequence[Sequence[Any]]
) -> DataFrame:
    """Return rows of texts, tuples of them, numbers, times and nulls as literals of one query.

    `columns` are (name, Spark type); there must be at least one row.
    """
    return spark.sql(values_sql(columns, rows))


def values_sql(columns: Columns, rows: Sequence[Sequence[Any]]) -> str:
    """Return the query of such a table."""
    values = ", ".join(
        f"({', '.join(_literal(value) for value in row)})" for row in rows
    )
    names = ", ".join(name for name, _ in columns)
    typed = [f"CAST({name} AS {kind}) AS {name}" for name, kind in columns]
    return f"SELECT {', '.join(typed)} FROM VALUES {values} AS rows({names})"


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, tuple):
        return f"array({', '.join(map(_literal, value))})"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime):
        return f"CAST({sql_literal(value.isoformat())} AS timestamp)"
    return sql_literal(str(value))
