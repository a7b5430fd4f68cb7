"""The session keeps what it compiled, also where many tables take turns."""

from pyspark.sql import functions as F
from pyspark.sql import SparkSession

QUERIES = 120
"""More than the 100 that Spark keeps if it is not told otherwise."""


def test_queries_that_come_again_are_not_compiled_again(spark):
    compiling = spark.newSession()
    compiling.conf.set("spark.sql.codegen.wholeStage", "true")
    compiling.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")
    compiled = [_compiled_by(compiling) for _ in range(2)]
    assert compiled[0] >= QUERIES
    assert compiled[1] == 0


def _compiled_by(spark: SparkSession) -> int:
    """How many classes Spark compiles for queries each of which has code of its own."""
    before = _compilations(spark)
    for number in range(QUERIES):
        query = spark.range(1).select(F.col("id") * number + number)
        query._jdf.queryExecution().toRdd()
    return _compilations(spark) - before


def _compilations(spark: SparkSession) -> int:
    metrics = getattr(spark._jvm.org.apache.spark.metrics.source, "CodegenMetrics$")
    return getattr(metrics, "MODULE$").METRIC_COMPILATION_TIME().getCount()
