"""Landing files into one DataFrame of log rows, each with its reason if bad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lake_spec.model import Csv, FileTable, Json
from lake_spec.text.sql_text import sql_identifier
from lake_spark import java
from lake_spark.changelog.schema import LogColumn
from lake_spark.formats import csv_fields, csv_reader, json_reader
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.reader_columns import BLOCK, CORRUPT, FILE, ID, PLACES
from lake_spark.landing import literal_paths
from lake_spark.landing.files import LandingFile
from lake_spark.reading import event_expressions, repeated_keys, row_expressions
from lake_spark.schema.columns import Columns
from lake_spark.schema.promotion import read_as
from lake_spark.storage.inline_rows import small_table
from lake_spark.storage.unions import union_of


@dataclass(frozen=True)
class Input:
    """One landing file that is ingested, with its shape and rank."""

    file: LandingFile
    shape: Shape
    rank: int
    started: Optional[str] = None
    path_values: Tuple[str, ...] = ()
    """The values of the spec's `path_columns`, in their order."""


FACTS = (
    ("lake_file", "string"),
    (LogColumn.PATH, "string"),
    (LogColumn.POSITION, "string"),
    (LogColumn.ETAG, "string"),
    (LogColumn.LANDED_AT, "timestamp"),
    (LogColumn.SNAPSHOT_AT, "timestamp"),
    ("lake_file_rank", "int"),
    ("lake_file_started", "string"),
    ("lake_path_values", "array<string>"),
)
"""What each row of a file carries about it."""


def read_inputs(
    spark: SparkSession,
    spec: FileTable,
    inputs: Sequence[Input],
    columns: Columns,
    repeated: Optional[DataFrame] = None,
) -> DataFrame:
    """Read the rows of all inputs: log columns, lake_reason, lake_raw, lake_block, lake_id.

    lake_id orders the records within one (lake_path, lake_block). `repeated` has the keys
    that `repeated_keys.find` found among the same rows.
    """
    groups: Dict[Tuple[Shape, bool], List[Input]] = {}
    is_csv = isinstance(spec.source.format, Csv)
    for each in inputs:
        bounded = not is_csv or csv_reader.may_be_large(each.file)
        groups.setdefault((each.shape, bounded), []).append(each)
    parts = [
        _read_group(spark, spec, shape, group, columns, bounded, repeated)
        for (shape, bounded), group in groups.items()
    ]
    return union_of(parts)


def _read_group(
    spark: SparkSession,
    spec: FileTable,
    shape: Shape,
    group: Sequence[Input],
    columns: Columns,
    bounded: bool,
    repeated: Optional[DataFrame],
) -> DataFrame:
    corrupt = has_corrupt(spec)
    raw = load(spark, spec, shape, [each.file.uri for each in group], bounded=bounded)
    row = row_expressions.source_row(spec, shape, columns, with_corrupt=corrupt)
    rows = raw.selectExpr(
        *row_expressions.selected(row),
        *(f"{FILE} AS lake_file", f"{BLOCK} AS lake_block", f"{ID} AS lake_id"),
    )
    facts = small_table(spark, FACTS, [_facts(spark, each) for each in group])
    located = rows.join(F.broadcast(facts), "lake_file", "left")
    placed = event_expressions.placed_row(spec, shape, columns)
    located = located.selectExpr("*", *row_expressions.selected(placed))
    for place, name in enumerate(spec.path_columns):
        located = located.withColumn(name, F.col("lake_path_values")[place])
    return judge(located, spec, columns, repeated, corrupt=corrupt)


def judge(
    rows: DataFrame,
    spec: FileTable,
    columns: Columns,
    repeated: Optional[DataFrame],
    *,
    corrupt: bool,
) -> DataFrame:
    """Add key, operation, effective time, reason and the raw text of bad rows."""
    reason = event_expressions.reason(spec, with_corrupt=corrupt)
    keyed = rows.selectExpr(
        "*", *event_expressions.envelope_columns(spec, columns)
    ).selectExpr("*", f"{reason} AS lake_reason")
    return (
        repeated_keys.marked(keyed, spec, repeated)
        .withColumn("lake_raw", F.expr(RAW_OF_BAD))
        .drop(
            "lake_record_struct",
            "lake_fault",
            "lake_word",
            "lake_corrupt",
            "lake_corrupt_why",
            "lake_named_key",
            "lake_is_gone",
            "lake_file",
            "lake_file_rank",
            "lake_file_started",
            "lake_log_name",
            "lake_own_start",
            "lake_path_values",
        )
    )


RAW_OF_BAD = "CASE WHEN lake_reason IS NOT NULL THEN to_json(lake_record_struct) END"


def has_corrupt(spec: FileTable) -> bool:
    """Return whether the format can hold records that do not parse."""
    return spec.source.format.type in ("csv", "json")


def _reader_options(spec: FileTable, *, bounded: bool = True) -> Dict[str, str]:
    """Return Spark's reader options for the table's format."""
    kind = spec.source.format
    # A landing path is a name, never a pattern.
    options = {"__globPaths__": "false"}
    if isinstance(kind, Csv):
        options.update(csv_reader.options(kind, bounded=bounded))
    return options


def _read_schema(spec: FileTable, shape: Shape) -> str:
    """Return the schema to read a file with, as DDL."""
    columns = [(name, read_as(kind).text) for name, kind in shape.read_as]
    if has_corrupt(spec):
        columns.append((CORRUPT, "string"))
    return ", ".join(f"{sql_identifier(name)} {kind}" for name, kind in columns)


def load(
    spark: SparkSession,
    spec: FileTable,
    shape: Shape,
    uris: List[str],
    *,
    bounded: bool = True,
) -> DataFrame:
    """Load the raw columns of files of one shape, and where each record is: FILE, BLOCK, ID."""
    kind = spec.source.format
    if isinstance(kind, Json):
        records = json_reader.load(spark, kind, shape, uris)
    elif isinstance(kind, Csv) and kind.has_own_fields:
        records = csv_fields.load(spark, kind, shape, uris).selectExpr("*", *PLACES)
    else:
        options = _reader_options(spec, bounded=bounded)
        reader = spark.read.schema(_read_schema(spec, shape)).options(**options)
        records = literal_paths.load(reader, kind.type, uris)
        if isinstance(kind, Csv):
            records = records.selectExpr(*csv_reader.record_columns(shape))
        records = records.selectExpr("*", *PLACES)
    if shape.unwrap:
        records = records.selectExpr(*shape.unwrap, FILE, BLOCK, ID)
    return records


def _facts(spark: SparkSession, each: Input) -> Tuple[Any, ...]:
    file = each.file
    return (
        file_name(spark, file),
        file.path,
        file.position,
        file.etag,
        file.landed_at,
        file.snapshot_at,
        each.rank,
        each.started,
        each.path_values,
    )


def file_name(spark: SparkSession, file: LandingFile) -> str:
    """Return what input_file_name() says of a landing file."""
    path = java.packages(spark).org.apache.hadoop.fs.Path(file.uri)
    name: str = path.toUri().toString()
    return name
