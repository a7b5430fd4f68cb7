"""The footer of a Parquet file, by the library that Spark reads such files with."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import Iterator

from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession

_OTHER_LIST = re.compile(r"\(LIST\)[^{]*\{\s*repeated (?!group list \{)")


@contextmanager
def opened_parquet(spark: SparkSession, uri: str) -> Iterator[JavaObject]:
    """Yield the library's reader of the file, which has read its footer alone."""
    hadoop, parquet = spark._jvm.org.apache.hadoop, spark._jvm.org.apache.parquet
    source = parquet.hadoop.util.HadoopInputFile.fromPath(
        hadoop.fs.Path(uri), spark._jsc.hadoopConfiguration()
    )
    reader = parquet.hadoop.ParquetFileReader.open(source)
    try:
        yield reader
    finally:
        reader.close()


def has_legacy_lists(spark: SparkSession, uri: str) -> bool:
    """Return whether a Parquet file has lists in a form other than `list` of `element`."""
    with opened_parquet(spark, uri) as reader:
        return schema_has_legacy_lists(str(reader.getFileMetaData().getSchema()))


def schema_has_legacy_lists(schema: str) -> bool:
    """Return whether a schema, as Parquet's library writes it, has such lists."""
    return bool(_OTHER_LIST.search(schema))
