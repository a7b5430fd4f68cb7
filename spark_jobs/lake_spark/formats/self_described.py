"""The columns of files that name them in themselves: JSON, Avro and ORC.

Spark may find these: it reads Avro and ORC with types of its own alone, whatever class
their metadata names. Those of Parquet are found by parquet.py.
"""

from __future__ import annotations

from typing import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.readwriter import DataFrameReader
from pyspark.sql.types import StructType

from lake_spec.model import Avro, Format, Json
from lake_spark import java
from lake_spark.errors import first_line, UnreadableFile
from lake_spark.formats import json_reader
from lake_spark.formats.avro import header_of, with_uuids
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.reader_columns import CORRUPT
from lake_spark.landing import literal_paths
from lake_spark.landing.files import LandingFile
from lake_spark.schema import json_text
from lake_spark.schema.spark_types import typed_names
from lake_spark.storage.object_store import ObjectStore
from lake_spark.storage.session import NOT_OF_A_FILE


def described(
    spark: SparkSession,
    store: ObjectStore,
    file: LandingFile,
    kind: Format,
    *,
    only_values: bool = False,
    maps: Sequence[str] = (),
) -> Shape:
    """Return what Spark finds in the file; raise UnreadableFile if it has another format.

    `only_values` leaves out what is null in all records of a JSON file; `maps` are the
    names whose objects have values for names in it.
    """
    fault = f"is not a valid {kind.type} file"
    head = None
    if isinstance(kind, Avro):
        head = header_of(store, file)
        fault = "cannot be read as avro"
    try:
        schema = _schema(spark, file.uri, kind, only_values, maps)
    except NOT_OF_A_FILE:
        raise
    except Exception as error:  # Spark raises many kinds for one reason
        raise UnreadableFile(
            file.path,
            f"{fault}: {first_line(error)}. Land the whole file again, or correct "
            "source.format.",
        ) from None
    # An Avro field of the type null has no values: as if the file lacked it.
    columns = tuple(
        (name, column)
        for name, column in typed_names(schema)
        if name != CORRUPT and column.name != "void"
    )
    return Shape(columns if head is None else with_uuids(head, columns))


def _schema(
    spark: SparkSession,
    uri: str,
    kind: Format,
    only_values: bool,
    maps: Sequence[str],
) -> StructType:
    reader = spark.read
    if isinstance(kind, Json):
        reader = reader.options(
            primitivesAsString="true",
            columnNameOfCorruptRecord=CORRUPT,
            dropFieldIfAllNull=str(only_values).lower(),
            **json_text.READER,
        )
    if not (isinstance(kind, Json) and kind.is_array):
        try:
            return literal_paths.load(reader, kind.type, [uri]).schema
        except Exception as error:
            if not (isinstance(kind, Json) and "COLUMN_ALREADY_EXISTS" in str(error)):
                raise
    # Of lines of which one has a name twice, or two have two spellings of one, and of all
    # elements of an array: those that have no name twice.
    return _of_texts(spark, reader, json_reader.clean_lines(spark, kind, uri, maps))


def _of_texts(
    spark: SparkSession, reader: DataFrameReader, lines: DataFrame
) -> StructType:
    """Return what Spark finds in records that are the texts of one column."""
    strings = java.packages(spark).org.apache.spark.sql.Encoders.STRING()
    # PySpark takes lines from Python alone.
    made = java.reader(reader).json(getattr(java.frame(lines), "as")(strings))
    return DataFrame(made, spark).schema
