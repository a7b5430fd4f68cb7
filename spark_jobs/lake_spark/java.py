"""The one door to Java's side of Spark: for what PySpark has no name for.

What passes it is `Any`: no type says which methods an object of Java has. Which modules
pass it, what for, and what follows on another build of Spark or Hudi stands in
tests/policy/java_members.py.
"""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaObject, JavaPackage
from py4j.java_gateway import is_instance_of as _is_instance_of
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession

__all__ = [
    "JavaObject",
    "JavaPackage",
    "Py4JError",
    "Py4JJavaError",
    "Py4JNetworkError",
    "context",
    "expression",
    "frame",
    "hadoop_configuration",
    "is_instance",
    "packages",
    "reader",
    "session",
]


def packages(spark: SparkSession) -> Any:
    """Return where packages and classes of Java are found by their names."""
    return spark._jvm


def context(spark: SparkSession) -> Any:
    """Return the JavaSparkContext."""
    return spark.sparkContext._jsc


def session(spark: SparkSession) -> Any:
    """Return the SparkSession of Java."""
    return spark._jsparkSession


def hadoop_configuration(spark: SparkSession) -> Any:
    """Return Hadoop's settings of the application, which may be changed."""
    return context(spark).hadoopConfiguration()


def frame(rows: DataFrame) -> Any:
    """Return the Dataset of rows."""
    return rows._jdf


def reader(unread: DataFrameReader) -> Any:
    """Return the DataFrameReader with its options."""
    return unread._jreader


def expression(column: Column) -> Any:
    """Return the expression of a column as Spark's analyzer has it."""
    return column._jc.expr()


def is_instance(spark: SparkSession, found: Any, name: str) -> bool:
    """Say whether an object of Java is of a class or an interface, by its full name."""
    return bool(_is_instance_of(spark.sparkContext._gateway, found, name))
