"""JSON: one object a line, or files that are one array, taken apart on the executors.

What a line or an element is, and what it holds, json_records says.
"""

from __future__ import annotations

from typing import Dict, Sequence, Tuple

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from lake_spec.model import Json
from lake_spec.model.column_type import ColumnType
from lake_spec.text.sql_text import sql_identifier
from lake_spark.errors import BadFileReason, UnreadableFile
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.json_arrays import Elements
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
from lake_spark.storage.halves import by_halves

_HOLDS_SOMETHING = r"btrim(value, ' \t\r') <> ''"
"""SQL: whether a line of the text source is a record."""


def load(
    spark: SparkSession, kind: Json, shape: Shape, uris: Sequence[str]
) -> DataFrame:
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
    if kind.is_array:
        lines = elements(spark, uris)
    else:
        lines = _lines(spark, uris).selectExpr("CAST(value AS binary) AS line", *PLACES)
    rows = lines.select(record("line").alias("record"), FILE, BLOCK, ID)
    return rows.selectExpr(*names, FILE, BLOCK, ID)


def _lines(spark: SparkSession, uris: Sequence[str]) -> DataFrame:
    lines = literal_paths.load(spark.read, "text", uris)
    return lines.where(_HOLDS_SOMETHING)


def elements(spark: SparkSession, uris: Sequence[str]) -> DataFrame:
    """Return the elements of files that are arrays: line, FILE, BLOCK and ID.

    Those that are refused have none.
    """
    rows = _taken_apart(spark, uris).where("array.elements IS NOT NULL")
    listed = rows.select(FILE, BLOCK, F.posexplode("array.elements").alias(ID, "line"))
    return listed.selectExpr("line", FILE, BLOCK, f"CAST({ID} AS bigint) AS {ID}")


def check_arrays(
    spark: SparkSession, files: Dict[str, str]
) -> Tuple[Dict[str, BadFileReason], Dict[str, int]]:
    """Return why files are refused, and how many elements each of the others has.

    By what input_file_name() says of them; `files` are these names and their URIs.
    """
    reasons: Dict[str, BadFileReason] = {}
    counts: Dict[str, int] = {}

    def count(names: Sequence[str]) -> Sequence[Row]:
        rows = _taken_apart(spark, [files[name] for name in names])
        return rows.selectExpr(FILE, "size(array.elements) AS n", "array.why").collect()

    def leave(name: str, error: Exception) -> None:
        """It is set aside when its rows are read."""

    for found in by_halves(list(files), count, leave):
        for row in found:
            if row.why:
                reasons[row[FILE]] = UnreadableFile, f"{row.why}. {_REMEDY}"
            else:
                counts[row[FILE]] = row.n
    return reasons, counts


_REMEDY = "Land the whole file again, or correct source.format.layout."


def _taken_apart(spark: SparkSession, uris: Sequence[str]) -> DataFrame:
    """Return a row for each file: FILE, BLOCK and its array, taken apart."""
    reader = spark.read.schema("value string").options(wholetext="true")
    whole = literal_paths.load(reader, "text", uris)
    whole = whole.selectExpr("CAST(value AS binary) AS content", *PLACES)
    apart = F.udf(Elements(), "elements array<binary>, why string").asNondeterministic()
    return whole.select(FILE, BLOCK, apart("content").alias("array"))


def _reader_of(kind: ColumnType) -> object:
    if kind.name == "struct":
        return Struct(dict(zip(kind.fields, map(_reader_of, kind.inner))))
    if kind.is_nested:
        return {"array": Array, "map": Map}[kind.name](_reader_of(kind.inner[-1]))
    return Text()


def clean_lines(
    spark: SparkSession, kind: Json, uri: str, maps: Sequence[str]
) -> DataFrame:
    """Return the records of a file with no name twice: they say what its columns are."""
    is_clean = F.udf(CleanLines(maps), "boolean")
    if kind.is_array:
        lines = elements(spark, [uri]).selectExpr("CAST(line AS string) AS value")
    else:
        lines = _lines(spark, [uri])
    return lines.where(is_clean(F.expr("CAST(value AS binary)")))
