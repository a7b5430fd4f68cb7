"""SQL of specs in Spark's own reading: the second wall, after the door of releases.

A release holds no text of a spec as it was written, but one that was judged first. Here
Spark says what such a text reads, before anything of it runs.
"""

from __future__ import annotations

from typing import Any, Collection, Iterator

from pyspark.sql import DataFrame, SparkSession

from lake_spark import java
from lake_spark.errors import UndeclaredInput, shortened

_COMMAND = "org.apache.spark.sql.catalyst.plans.logical.Command"
_ROWS_OF_THE_TEXT = ("OneRowRelation", "LocalRelation", "CTERelationRef")
"""Leaves of a plan that read nothing: no FROM, VALUES, and a query of WITH."""


def select(
    spark: SparkSession, text: str, views: Collection[str], where: str
) -> DataFrame:
    """Return the rows of a SELECT over these temporary views, and over nothing else.

    Raises UndeclaredInput with `where` the text is from.
    """
    state = java.session(spark).sessionState()
    skip = java.packages(
        spark
    ).org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    parsed = state.sqlParser().parsePlan(text)
    _refuse(spark, state.executePlan(parsed, skip).analyzed(), views, where)
    return spark.sql(text)


def check_condition(spark: SparkSession, text: str, where: str) -> None:
    """Refuse a condition of one row that reads a table; as `select`."""
    parser = java.session(spark).sessionState().sqlParser()
    _refuse(spark, parser.parsePlan(f"SELECT {text}"), (), where)


def _refuse(spark: SparkSession, plan: Any, views: Collection[str], where: str) -> None:
    for node in _undeclared(spark, plan, views):
        raise UndeclaredInput(
            f"{where}: its SQL reads what the spec does not declare: "
            f"{shortened(str(node.simpleString(25)))}. Nothing of it ran. Build and "
            "deploy the release again."
        )


def _undeclared(
    spark: SparkSession, plan: Any, views: Collection[str]
) -> Iterator[Any]:
    """List the parts of a plan that read or do something, and are none of the views."""
    kind = plan.getClass().getSimpleName().rstrip("$")
    if kind == "View" and plan.isTempView() and _name(plan) in views:
        return
    below = [*_each(plan.children()), *_each(plan.subqueries())]
    is_command = java.is_instance(spark, plan, _COMMAND)
    if is_command or kind == "View" or not (below or kind in _ROWS_OF_THE_TEXT):
        yield plan
        return
    for each in below:
        yield from _undeclared(spark, each, views)


def _name(view: Any) -> str:
    """Return the name of a temporary view; global ones have that of their database too."""
    name: str = view.desc().identifier().unquotedString()
    return name


def _each(found: Any) -> Iterator[Any]:
    return (found.apply(at) for at in range(found.size()))
