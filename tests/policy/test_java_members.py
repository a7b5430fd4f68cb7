"""Java's side of Spark is reached by one door; a table says who passes it, and what follows."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Set

import pytest

from tests.policy.floors import nodes_of
from tests.policy.java_members import WHY

SPARK = Path(__file__).resolve().parents[2] / "spark_jobs" / "lake_spark"
DOOR = "java.py"
OWN = {"self", "cls"}
"""Whose private members are a module's own."""
PAST_PYSPARK = {
    *("_jvm", "_jsc", "_jsparkSession", "_jdf", "_jc", "_jreader", "_jwrite", "_jrdd"),
    *("_gateway", "_sc", "_jconf", "_jschema", "_sql_ctx", "_to_seq"),
}


def reached(text: str) -> Set[str]:
    """The private members of PySpark that a module uses, and its modules of py4j."""
    found = set()
    for node in nodes_of(text):
        if isinstance(node, ast.Attribute) and node.attr in PAST_PYSPARK:
            if not (isinstance(node.value, ast.Name) and node.value.id in OWN):
                found.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            found |= (
                {f"{node.module}"} if f"{node.module}".startswith("py4j") else set()
            )
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names if each.name.startswith("py4j")}
    return found


def passes_the_door(text: str) -> bool:
    """Whether a module imports it."""
    return any(
        isinstance(node, ast.ImportFrom)
        and (
            node.module == "lake_spark.java"
            or node.module == "lake_spark"
            and "java" in {each.name for each in node.names}
        )
        for node in nodes_of(text)
    )


def modules(holds) -> Set[str]:
    """The modules of which `holds` is true."""
    return {
        path.relative_to(SPARK).as_posix()
        for path in SPARK.rglob("*.py")
        if holds(path.read_text(encoding="utf-8"))
    }


def test_private_members_of_pyspark_stand_at_the_door_alone():
    assert modules(reached) == {DOOR}


def test_each_module_that_passes_the_door_says_what_follows():
    assert modules(passes_the_door) == set(WHY)


@pytest.mark.parametrize(
    "text",
    [
        "spark._jvm.java.lang.System.exit(1)",
        "rows._jdf.queryExecution()",
        "self.spark.sparkContext._gateway",
        "F.col('a')._jc.expr()",
        "from py4j.protocol import Py4JJavaError",
        "import py4j.java_gateway",
    ],
)
def test_a_member_past_pyspark_is_seen(text):
    assert reached(text)


@pytest.mark.parametrize("text", ["self._jvm = 1", "spark.sparkContext.version"])
def test_what_is_a_modules_own_or_public_is_none(text):
    assert not reached(text)


@pytest.mark.parametrize(
    "text, passes",
    [
        ("from lake_spark import errors, java", True),
        ("from lake_spark.java import frame", True),
        ("from lake_spark.storage import javascript", False),
    ],
)
def test_an_import_of_the_door_is_seen(text, passes):
    assert passes_the_door(text) is passes
