"""Which modules reach past PySpark stands in a table, with what follows on another build."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Set

import pytest

from tests.policy.java_members import WHY

SPARK = Path(__file__).resolve().parents[2] / "spark_jobs" / "lake_spark"
OWN = {"self", "cls"}
"""Whose private members are a module's own."""
PAST_PYSPARK = {
    *("_jvm", "_jsc", "_jsparkSession", "_jdf", "_jc", "_jreader", "_jwrite", "_jrdd"),
    *("_gateway", "_sc", "_jconf", "_jschema", "_sql_ctx", "_to_seq"),
}


def reached(text: str) -> Set[str]:
    """The private members of PySpark that a module uses."""
    return {
        node.attr
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr in PAST_PYSPARK
        if not (isinstance(node.value, ast.Name) and node.value.id in OWN)
    }


def modules() -> Set[str]:
    """The modules that use some."""
    return {
        path.relative_to(SPARK).as_posix()
        for path in SPARK.rglob("*.py")
        if reached(path.read_text(encoding="utf-8"))
    }


def test_each_module_that_reaches_past_pyspark_says_what_follows():
    assert modules() == set(WHY)


@pytest.mark.parametrize(
    "text",
    [
        "spark._jvm.java.lang.System.exit(1)",
        "rows._jdf.queryExecution()",
        "self.spark.sparkContext._gateway",
        "F.col('a')._jc.expr()",
    ],
)
def test_a_member_past_pyspark_is_seen(text):
    assert reached(text)


@pytest.mark.parametrize("text", ["self._jvm = 1", "spark.sparkContext.version"])
def test_what_is_a_modules_own_or_public_is_none(text):
    assert not reached(text)
