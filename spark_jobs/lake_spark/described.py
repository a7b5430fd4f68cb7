"""The columns of files that name them in themselves: JSON, Parquet, Avro and ORC."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lake_spec.model import Avro, Format, Json
from lake_spark import json_reader
from lake_spark.avro_file import refuse_cut
from lake_spark.errors import BadFile, first_line
from lake_spark.landing import LandingFile
from lake_spark.object_store import ObjectStore
from lake_spark.shape import CORRUPT, Shape
from lake_spark.spark_types import typed_names

DOUBLE_NAME = "has two columns that differ at most in case"


def _schema(
    spark: SparkSession, uri: str, kind: Format, only_values: bool
) -> StructType:
    if not isinstance(kind, Json):
        reader = spark.read.option("__globPaths__", "false")
        return reader.format(kind.type).load(uri).schema
    reader = spark.read.option("primitivesAsString", "true")
    reader = reader.option("columnNameOfCorruptRecord", CORRUPT)
    reader = reader.option("dropFieldIfAllNull", str(only_values).lower())
    # PySpark takes lines from Python alone.
    strings = spark._jvm.org.apache.spark.sql.Encoders.STRING()
    lines = getattr(json_reader.good_lines(spark, uri)._jdf, "as")(strings)
    return DataFrame(reader._jreader.json(lines), spark).schema


def described(
    spark: SparkSession,
    store: ObjectStore,
    file: LandingFile,
    kind: Format,
    *,
    only_values: bool = False,
) -> Shape:
    """What Spark finds in the file; BadFile when it is not of that format.

    `only_values` leaves out what is null in all records of a JSON file.
    """
    fault = f"is no {kind.type} file"
    if isinstance(kind, Avro):
        refuse_cut(store, file)
        fault = "cannot be read as avro"
    try:
        schema = _schema(spark, file.uri, kind, only_values)
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
