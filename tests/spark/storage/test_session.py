"""The session keeps what it compiled, and queries have no rules that they need not."""

from py4j.protocol import Py4JError
from pyspark.sql import functions as F
from pyspark.sql import SparkSession

from lake_spark.storage.session import (
    FOR_FEW_ROWS,
    session_for_few_rows,
    session_for_statements,
)

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


def test_queries_are_planned_without_hudis_rules_for_statements(spark):
    statements = session_for_statements()
    assert "hudi" in _rules(statements)
    for session in spark, session_for_few_rows(spark):
        assert "hudi" not in _rules(session)
        assert session.sparkContext is statements.sparkContext


def test_where_sessions_are_made_in_another_way_few_rows_have_one_all_the_same(spark):
    few = session_for_few_rows(OfAnotherMake(session_for_statements()))
    assert "hudi" in _rules(few)
    assert {name: few.conf.get(name) for name in FOR_FEW_ROWS} == FOR_FEW_ROWS


class OfAnotherMake:
    """A session whose class has no constructor that we know."""

    def __init__(self, spark: SparkSession) -> None:
        self.conf, self.newSession = spark.conf, spark.newSession
        self._jsparkSession = spark._jsparkSession

    @property
    def _jvm(self) -> None:
        raise Py4JError("Constructor org.apache.spark.sql.SparkSession does not exist")


def _rules(spark: SparkSession) -> str:
    analyzer = spark._jsparkSession.sessionState().analyzer()
    return f"{analyzer.extendedResolutionRules()} {analyzer.postHocResolutionRules()}"
