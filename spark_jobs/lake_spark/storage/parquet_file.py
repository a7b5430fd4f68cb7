"""The footer of a Parquet file, by the library that Spark reads such files with."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession


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
