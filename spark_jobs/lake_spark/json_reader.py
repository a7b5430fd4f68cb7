"""JSON lines: one object a line, read as text and taken apart by strict expressions.

Both engines use them: on the executors, in one pass. See json_text.
"""

from __future__ import annotations

from typing import List, Sequence

from pyspark.sql import DataFrame, SparkSession

from lake_spec.column_type import ColumnType
from lake_spec.sql_text import sql_identifier, sql_literal
from lake_spark import json_text, literal_paths
from lake_spark.shape import CORRUPT, Shape

_BOM = "\ufeff"


def line() -> str:
    """SQL: a line of the text source without the file's byte order mark."""
    mark = sql_literal(_BOM)
    return f"CASE WHEN startswith(value, {mark}) THEN substr(value, 2) ELSE value END"


HOLDS_SOMETHING = "trim(value) <> ''"
"""SQL: whether a line of the text source is a record."""


def layers(shape: Shape) -> List[List[str]]:
    """The columns that lead from a line to the record's: each layer is of the one before.

    The last one has the columns that the shape is read as, and CORRUPT: the line, where it
    is not one whole object.
    """
    columns = shape.read_as
    fields = ",".join(f"{sql_identifier(name)}:{kind.text}" for name, kind in columns)
    tree = ColumnType(
        "struct", tuple(kind for _, kind in columns), tuple(n for n, _ in columns)
    )
    good = (
        f"{json_text.is_whole('lake_json')} AND NOT {json_text.has_name_twice('lake_line', tree)}"
        f" AND {json_text.is_utf8('lake_line')}"
    )
    names = [sql_identifier(name) for name, _ in columns]
    return [
        [f"{line()} AS lake_line"],
        [
            "lake_line",
            f"{json_text.parsed('lake_line', f'struct<{fields}>')} AS lake_json",
        ],
        [
            f"CASE WHEN {good} THEN {json_text.value_of('lake_json')} END AS lake_row",
            f"CASE WHEN NOT ({good}) THEN lake_line END AS {CORRUPT}",
        ],
        [*(f"lake_row.{name} AS {name}" for name in names), CORRUPT],
    ]


def load(spark: SparkSession, shape: Shape, uris: Sequence[str]) -> DataFrame:
    """The raw columns of files of one shape, and CORRUPT."""
    rows = literal_paths.load(spark.read, "text", uris).where(HOLDS_SOMETHING)
    for columns in layers(shape):
        rows = rows.selectExpr(*columns)
    return rows


def from_view(shape: Shape, view: str) -> str:
    """The same as SQL over a view of the text source."""
    query = f"SELECT * FROM {view} WHERE {HOLDS_SOMETHING}"
    for columns in layers(shape):
        query = f"SELECT {', '.join(columns)} FROM ({query})"
    return query


def good_lines(spark: SparkSession, uri: str) -> DataFrame:
    """The lines of a file that tell what its columns are: no name twice, UTF-8."""
    lines = literal_paths.load(spark.read, "text", [uri]).where(HOLDS_SOMETHING)
    lines = lines.selectExpr(f"{line()} AS value")
    twice = json_text.has_repeated("json_object_keys(value)")
    return lines.where(f"NOT {twice} AND {json_text.is_utf8('value')}")
