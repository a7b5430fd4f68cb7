"""The footer of a Parquet file, by the library that Spark reads such files with.

Spark itself takes types from what it noted as JSON in a footer, which can name classes
that it makes objects of. So nothing here, or elsewhere, lets it find a file's columns:
they are those of the footer's own schema, and Spark reads by these. Of the note, only that
a number is an interval is taken.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import Any, Dict, Iterator

from pyspark.sql import SparkSession
from pyspark.sql.readwriter import DataFrameReader
from pyspark.sql.types import StructType

from lake_spec.text.schema_json import with_intervals
from lake_spark import java

NOTED_SCHEMA = "org.apache.spark.sql.parquet.row.metadata"
"""Where Spark notes the schema that it wrote."""

_OTHER_LIST = re.compile(r"\(LIST\)[^{]*\{\s*repeated (?!group list \{)")


@contextmanager
def opened_parquet(spark: SparkSession, uri: str) -> Iterator[java.JavaObject]:
    """Yield the library's reader of the file, which has read its footer alone."""
    reader = _hadoop(spark).ParquetFileReader.open(_source(spark, uri))
    try:
        yield reader
    finally:
        reader.close()


def _hadoop(spark: SparkSession) -> java.JavaObject:
    return java.packages(spark).org.apache.parquet.hadoop


def _source(spark: SparkSession, uri: str) -> java.JavaObject:
    path = java.packages(spark).org.apache.hadoop.fs.Path(uri)
    conf = java.hadoop_configuration(spark)
    return _hadoop(spark).util.HadoopInputFile.fromPath(path, conf)


def file_metadata(spark: SparkSession, uri: str) -> java.JavaObject:
    """Return the file's schema and notes, as its footer has them, without row groups."""
    no_rows = java.packages(
        spark
    ).org.apache.parquet.format.converter.ParquetMetadataConverter
    filtered = no_rows.SKIP_ROW_GROUPS
    read = _hadoop(spark).ParquetFileReader.readFooter
    return read(_source(spark, uri), filtered).getFileMetaData()


def parsed_footer(spark: SparkSession, footer: bytes) -> java.JavaObject:
    """Return what the bytes of a footer say, as its format has it."""
    stream = java.packages(spark).java.io.ByteArrayInputStream(bytearray(footer))
    return java.packages(spark).org.apache.parquet.format.Util.readFileMetaData(stream)


def with_parquet_types(spark: SparkSession, parsed: java.JavaObject) -> java.JavaObject:
    """Return the schema and notes of a parsed footer, with the library's types.

    Its row groups are lost: nothing here needs them.
    """
    parsed.setRow_groups(java.packages(spark).java.util.ArrayList())
    package = java.packages(spark).org.apache.parquet.format.converter
    converter = package.ParquetMetadataConverter()
    return converter.fromParquetMetadata(parsed).getFileMetaData()


def notes(metadata: java.JavaObject) -> Dict[str, str]:
    """Return what its writer noted in a footer, by name: text to look at, and no more."""
    return dict(metadata.getKeyValueMetaData())


class SparkTypes:
    """Spark's types of Parquet's, as it has them for files without notes of its own."""

    def __init__(self, spark: SparkSession) -> None:
        package = java.packages(
            spark
        ).org.apache.spark.sql.execution.datasources.parquet
        conf = java.session(spark).sessionState().conf()
        self._converter = package.ParquetToSparkSchemaConverter(conf)

    def of(self, schema: java.JavaObject, noted: Any = None) -> StructType:
        """Return the columns of a Parquet schema.

        Numbers are the intervals that Spark noted, as JSON that was parsed, if it did:
        Parquet has no such type, and a note can say nothing else.
        """
        found = json.loads(self._converter.convert(schema).json())
        return StructType.fromJson(with_intervals(found, noted))


def columns_of(spark: SparkSession, metadata: java.JavaObject) -> StructType:
    """Return the columns that a footer has."""
    try:
        noted = json.loads(notes(metadata).get(NOTED_SCHEMA, "null"))
    except (ValueError, RecursionError):
        noted = None
    return SparkTypes(spark).of(metadata.getSchema(), noted)


def schema_of(spark: SparkSession, uri: str) -> StructType:
    """Return the columns of a file, by its footer."""
    return columns_of(spark, file_metadata(spark, uri))


def by_footer(spark: SparkSession, uri: str) -> DataFrameReader:
    """Return a reader that reads the columns of this file, and the same ones of others."""
    return spark.read.schema(schema_of(spark, uri))


def has_legacy_lists(spark: SparkSession, uri: str) -> bool:
    """Return whether a Parquet file has lists in a form other than `list` of `element`."""
    with opened_parquet(spark, uri) as reader:
        return schema_has_legacy_lists(str(reader.getFileMetaData().getSchema()))


def schema_has_legacy_lists(schema: str) -> bool:
    """Return whether a schema, as Parquet's library writes it, has such lists."""
    return bool(_OTHER_LIST.search(schema))
