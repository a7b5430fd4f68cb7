"""Run the tests of products: given rows of their tables in, rows of their SQL compared.

The tests of `shop/enriched_orders.yml` stand in `shop/enriched_orders.tests.yml`
(docs/products.md). Without names all products that have tests are tested. Nothing is
loaded, and no lake is needed. DuckDB runs the SQL in its own words; where it cannot, that is
said, and Spark runs it. Exit code 0 if all tests pass, else 1.

Examples:
  ./run_locally.sh test-product
  ./run_locally.sh test-product clinic.sinusitis_conditions --tables data/synthea/tables
  ./run_locally.sh test-product --engine spark
"""

from __future__ import annotations

import json
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lake_desk.products.inputs import Tables
from lake_desk.products.product_tests import ProductTests, tests_file, tests_of
from lake_desk.products.sql_tree import BadSql, in_duckdb
from lake_spec.layout.glue_names import glue_name
from lake_spec.model import DomainSpec, ProductPlan, ProductTable

from lake_local import text
from lake_local.cli import programs
from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.cli.commands.try_product import product_of
from lake_local.cli.completion import complete_table, completed_by
from lake_local.errors import BadRequest
from lake_local.show.request import Engine
from lake_local.workspace import background, project
from lake_local.workspace.project import Project
from lake_local.workspace.specs import Specs
from lake_local.workspace.state_dir import StateDirectory

PROGRAM = "lake_local.show.product_tests"
MOST_ROWS = 10
"""Rows of one test that are shown as missing, and as not expected."""

Outcome = Mapping[str, Any]
"""What the program answers for a product."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the products and the engine."""
    products = parser.add_argument("products", metavar="DOMAIN.PRODUCT", nargs="*")
    completed_by(products, complete_table)
    engines = [each.value for each in Engine]
    parser.add_argument(
        "--engine",
        choices=engines,
        default=Engine.DUCKDB.value,
        help="spark is what runs on EMR, and takes longer to start",
    )


def run(args: Namespace) -> int:
    """Print what became of each product's tests, then how many there were."""
    home, specs = home_of(args), specs_of_args(args)
    domains = specs.planned_domains()
    found = chosen(specs, domains, args.products)
    engine = Engine(args.engine)
    outcomes = [*_outcomes(home, specs.project, engine, questions(domains, found))]
    for outcome in outcomes:
        for line in told(outcome):
            print(line)
    failed = sum(map(_failed, outcomes))
    count = sum(len(each.tests) for each in found.values())
    print(f"{count} test(s) of {len(found)} product(s): {failed} failed")
    return 1 if failed else 0


def chosen(
    specs: Specs, domains: Sequence[DomainSpec], names: Sequence[str]
) -> dict[str, ProductTests]:
    """Return the tests of these products, of all without a name.

    Raises BadRequest with the mistakes of their files, or where there is no test.
    """
    found = tests_of(domains, specs.tables)
    for name in names:
        product_of(specs, name)
        if name not in found:
            domain, _, table = name.partition(".")
            file = tests_file(specs.tables / domain / f"{table}.yml")
            raise BadRequest(f"{name} has no tests. Write some into {file}.")
    wanted = {name: each for name, each in found.items() if not names or name in names}
    mistakes = [str(each) for tests in wanted.values() for each in tests.diagnostics]
    if mistakes:
        raise BadRequest("\n".join(mistakes))
    if not any(each.tests for each in wanted.values()):
        raise BadRequest(
            f"no product of {specs.tables} has tests. Write some into <product>.tests.yml"
            " next to its spec: docs/products.md has an example."
        )
    return wanted


def questions(
    domains: Sequence[DomainSpec], found: Mapping[str, ProductTests]
) -> list[dict[str, Any]]:
    """Return what the program is asked of each product; the SQL is Spark's."""
    tables = Tables(domains)
    every = (each for domain in domains for each in domain.tables)
    specs = {each.full_name: each for each in every if isinstance(each, ProductTable)}
    return [_question(specs[name], tests, tables) for name, tests in found.items()]


def _question(
    spec: ProductTable, tests: ProductTests, tables: Tables
) -> dict[str, Any]:
    plan = spec.source.plan
    assert isinstance(plan, ProductPlan)  # of planned domains
    views = {}
    for each in plan.inputs:
        columns = tables.columns(each.table, each.layer)
        types = {name: kind.text for name, kind in columns.items()}
        views[each.view] = (glue_name(each.table, each.layer.value), types)
    return {
        "name": spec.full_name,
        "sql": plan.sql,
        "columns": {name: column.type for name, column in spec.columns},
        "views": views,
        "tests": [vars(each) for each in tests.tests],
    }


def _outcomes(
    home: StateDirectory,
    ours: Project,
    engine: Engine,
    asked: Sequence[dict[str, Any]],
) -> Iterator[Outcome]:
    """Yield what became of each product; what DuckDB does not run is run by Spark."""
    by_spark = list(asked)
    if engine is Engine.DUCKDB:
        in_words, by_spark = in_duckdbs_words(asked)
        for outcome in _asked(home, ours, Engine.DUCKDB, in_words):
            if outcome["failed"] is None:
                yield outcome
                continue
            _say_why(outcome["name"], outcome["failed"])
            by_spark += [e for e in asked if e["name"] == outcome["name"]]
    yield from _asked(home, ours, Engine.SPARK, by_spark)


def in_duckdbs_words(
    asked: Iterable[dict[str, Any]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return questions with DuckDB's SQL, and those that have none, which is said."""
    found, others = [], []
    for each in asked:
        try:
            found.append({**each, "sql": in_duckdb(each["sql"])})
        except BadSql as error:
            _say_why(each["name"], error.message)
            others.append(each)
    return found, others


def _say_why(name: str, reason: str) -> None:
    text.progress(f"{name}: DuckDB does not run its SQL, so Spark does: {reason}")


def _asked(
    home: StateDirectory,
    ours: Project,
    engine: Engine,
    products: Sequence[Mapping[str, Any]],
) -> list[Outcome]:
    """Return the program's answer. Raises BadRequest where a value has a wrong type."""
    if not products:
        return []
    require, python = {
        Engine.DUCKDB: (project.require_readers, ours.readers_python),
        Engine.SPARK: (project.require_spark, ours.spark_python),
    }[engine]
    require(ours)
    question = {
        "engine": engine.value,
        "jars": str(ours.spark_jars),
        "products": products,
    }
    env = {**programs.environment(home, ours), "PYSPARK_PYTHON": str(python)}
    with tempfile.TemporaryDirectory(prefix="lake-test-product-") as name:
        folder = Path(name)
        answer = folder / "answer.json"
        ended = programs.asked(python, PROGRAM, question, folder, env, answer)
        programs.finish(*ended, lambda: background.tail(folder / programs.LOG))
        outcomes: list[Outcome] = json.loads(answer.read_text(encoding="utf-8"))
    return outcomes


def told(outcome: Outcome) -> Iterator[str]:
    """Yield what became of a product's tests, in lines."""
    name = outcome["name"]
    if outcome["failed"] is not None:
        yield f"{name}: its SQL fails: {outcome['failed']}"
        return
    for test in outcome["tests"]:
        if not _differs(test):
            yield f"{name}: {test['name']}: passed"
            continue
        yield f"{name}: {test['name']}: FAILED"
        rows = [
            [how, *("null" if value is None else value for value in row)]
            for how in ("missing", "unexpected")
            for row in test[how][:MOST_ROWS]
        ]
        head = ["", *test["columns"]]
        for line in text.aligned(head, rows, [False] * len(head)):
            yield f"  {line}"
        more = sum(
            max(0, len(test[how]) - MOST_ROWS) for how in ("missing", "unexpected")
        )
        if more:
            yield f"  and {more} more"


def _differs(test: Mapping[str, Any]) -> bool:
    return bool(test["missing"] or test["unexpected"])


def _failed(outcome: Outcome) -> int:
    return sum(map(_differs, outcome["tests"])) + (outcome["failed"] is not None)
