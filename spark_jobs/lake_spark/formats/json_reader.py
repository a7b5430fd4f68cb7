"""JSON lines: one object a line, read as bytes and taken apart on the executors.

What a line is, and what it holds, json_records says.
"""

from __future__ import annotations

from typing import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lake_spec.model.column_type import ColumnType
from lake_spec.text.sql_text import sql_identifier
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.json_records import (
    Array,
    CleanLines,
    LineReader,
    Map,
    Struct,
    Text,
)
from lake_spark.formats.reader_columns import (
    BLOCK,
    CORRUPT,
    FILE,
    ID,
    PLACES,
    THERE,
    WHY,
)
from lake_spark.landing import literal_paths

_HOLDS_SOMETHING = r"btrim(value, ' \t\r') <> ''"
"""SQL: whether a line of the text source is a record."""


def load(spark: SparkSession, shape: Shape, uris: Sequence[str]) -> DataFrame:
    """Load the raw columns of files of one shape, CORRUPT, WHY and where each record is.

    If the shape tells what is absent, THERE is one of the columns.
    """
    columns = shape.read_as
    row = {name: _reader_of(kind) for name, kind in columns}
    read = LineReader(
        Struct(row), of_messages=shape.of_messages, tells_absent=shape.tells_absent
    )
    fields = [f"c{place} {kind.text}" for place, (_, kind) in enumerate(columns)]
    fields += ["corrupt string", "why string"]
    names = [
        f"record.c{at} AS {sql_identifier(n)}" for at, (n, _) in enumerate(columns)
    ]
    names += [f"record.corrupt AS {CORRUPT}", f"record.why AS {WHY}"]
    if shape.tells_absent:
        pairs = [f"{sql_identifier(name)}: {kind.text}" for name, kind in columns]
        fields.append(f"present struct<{', '.join(pairs)}>")
        names.append(f"record.present AS {THERE}")
    # Spark may ask a function twice that it takes for one of its value alone.
    record = F.udf(read, ", ".join(fields)).asNondeterministic()
    lines = _lines(spark, uris).selectExpr("CAST(value AS binary) AS line", *PLACES)
    rows = lines.select(record("line").alias("record"), FILE, BLOCK, ID)
    return rows.selectExpr(*names, FILE, BLOCK, ID)


def _lines(spark: SparkSession, uris: Sequence[str]) -> DataFrame:
    lines = literal_paths.load(spark.read, "text", uris)
    return lines.where(_HOLDS_SOMETHING)


def _reader_of(kind: ColumnType) -> object:
    if kind.name == "struct":
        return Struct(dict(zip(kind.fields, map(_reader_of, kind.inner))))
    if kind.is_nested:
        return {"array": Array, "map": Map}[kind.name](_reader_of(kind.inner[-1]))
    return Text()


def clean_lines(spark: SparkSession, uri: str, maps: Sequence[str]) -> DataFrame:
    """Return the lines of a file with no name twice: they say what its columns are."""
    is_clean = F.udf(CleanLines(maps), "boolean")
    lines: DataFrame = _lines(spark, [uri])
    return lines.where(is_clean(F.expr("CAST(value AS binary)")))
