"""The columns of files that name them in themselves: JSON, Parquet, Avro and ORC."""

from __future__ import annotations

from pyspark.sql import SparkSession

from lake_spec.model import Avro, Format, Json
from lake_spark.avro_file import refuse_cut
from lake_spark.errors import BadFile, first_line
from lake_spark.landing import LandingFile
from lake_spark.object_store import ObjectStore
from lake_spark.shape import CORRUPT, Shape
from lake_spark.spark_types import typed_names

DOUBLE_NAME = "has two columns that differ at most in case"


def described(
    spark: SparkSession, store: ObjectStore, file: LandingFile, kind: Format
) -> Shape:
    """What Spark finds in the file; BadFile when it is not of that format."""
    fault = f"is no {kind.type} file"
    if isinstance(kind, Avro):
        refuse_cut(store, file)
        fault = "cannot be read as avro"
    reader = spark.read.option("__globPaths__", "false")
    if isinstance(kind, Json):
        reader = reader.option("primitivesAsString", "true").option(
            "columnNameOfCorruptRecord", CORRUPT
        )
    try:
        schema = reader.format(kind.type).load(file.uri).schema
    except Exception as error:  # Spark raises many kinds for one reason
        if "COLUMN_ALREADY_EXISTS" in str(error):
            fault = DOUBLE_NAME
        raise BadFile(file.path, f"{fault}: {first_line(error)}") from None
    # An Avro field of the type null has no values: as if the file lacked it.
    return Shape(
        tuple(
            (name, column)
            for name, column in typed_names(schema)
            if name != CORRUPT and column.name != "void"
        )
    )
