"""The program behind `test-product`: given rows in, rows of the product's SQL compared.

    python -m lake_local.show.product_tests QUESTION.json LOG ANSWER.json

The question has the `engine`, the `jars` of Spark, and `products`: each with its `name`, its
`sql` in the engine's words, its `columns` with their types, the `views` that it reads (the
name and the columns of the table of each) and its `tests` (`name`, `given`, `expect`). The
answer has an outcome for each product: why the engine does not run it, or for each test
which rows are missing and which are not expected. All values are texts; null is NULL.
"""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections import Counter
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from lake_local.show.query import keep_output_clean, refused
from lake_local.show.request import Engine, QueryRefused
from lake_local.show.spark_session import spark_session

Columns = Mapping[str, str]
"""Types by the names of columns, as specs write them."""

Values = Tuple[Optional[str], ...]
"""The values of a row as the engine writes them."""


class EngineFailed(Exception):
    """An engine does not run a product's SQL, or fails on a row of it."""


class TestEngine(ABC):
    """What a SQL engine does for tests. All types are those of specs."""

    __test__ = False  # no test of pytest

    @abstractmethod
    def typed(self, columns: Columns, rows: Sequence[Values]) -> List[Values]:
        """Return rows of texts as the engine writes them when it has cast each value.

        A text that is no value of its type becomes None.
        """

    @abstractmethod
    def open_view(self, view: str, columns: Columns, rows: Sequence[Values]) -> None:
        """Make a view of rows of texts, cast to their types; replace one of that name."""

    @abstractmethod
    def made(self, sql: str, columns: Columns) -> List[Values]:
        """Return columns of a query's rows, cast to their types, as `typed` does.

        Raises EngineFailed.
        """

    @abstractmethod
    def close(self) -> None:
        """Release what the engine holds."""


def main(argv: Sequence[str]) -> int:
    """Write the answer, and return the exit code: 0, or REFUSED with the reason."""
    asked = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    data, words = keep_output_clean(Path(argv[1]))
    engine = _engine(asked)
    try:
        found = [outcome(engine, each) for each in asked["products"]]
    except QueryRefused as error:
        return refused(str(error), data, words)
    finally:
        engine.close()
        words.flush()
    Path(argv[2]).write_text(json.dumps(found), encoding="utf-8")
    return 0


def _engine(asked: Mapping[str, Any]) -> TestEngine:
    """Return the engine that is asked for: each lives in an environment of its own."""
    if asked["engine"] == Engine.SPARK.value:
        from lake_local.show.tests_by_spark import SparkEngine

        return SparkEngine(spark_session(Path(asked["jars"])))
    from lake_local.show.tests_by_duckdb import DuckDbEngine

    return DuckDbEngine()


def outcome(engine: TestEngine, product: Mapping[str, Any]) -> Dict[str, Any]:
    """Return what became of the tests of a product.

    Raises QueryRefused for a given or expected text that is no value of its column.
    """
    try:
        tests = [_compared(engine, product, each) for each in product["tests"]]
        return {"name": product["name"], "tests": tests, "failed": None}
    except EngineFailed as error:
        return {"name": product["name"], "tests": [], "failed": str(error)}


def _compared(
    engine: TestEngine, product: Mapping[str, Any], test: Mapping[str, Any]
) -> Dict[str, Any]:
    where = f"{product['name']}, test {test['name']!r}"
    for view, (table, columns) in product["views"].items():
        rows = test["given"][table]
        given = [tuple(row.get(name) for name in columns) for row in rows]
        _refuse_wrong(f"{where}: {table}", columns, given, engine.typed(columns, given))
        engine.open_view(view, columns, given)
    expect = test["expect"]
    names = list(expect[0]) if expect else list(product["columns"])
    columns = {name: product["columns"][name] for name in names}
    texts = [tuple(row[name] for name in names) for row in expect]
    expected = engine.typed(columns, texts)
    _refuse_wrong(f"{where}: expect", columns, texts, expected)
    made = Counter(engine.made(product["sql"], columns))
    return {
        "name": test["name"],
        "columns": names,
        "missing": sorted((Counter(expected) - made).elements(), key=_nulls_first),
        "unexpected": sorted((made - Counter(expected)).elements(), key=_nulls_first),
    }


def _refuse_wrong(
    where: str, columns: Columns, texts: Sequence[Values], typed: Sequence[Values]
) -> None:
    for number, name, text in _lost(columns, texts, typed):
        raise QueryRefused(
            f"{where}, row {number}: {name}: {text!r} is no {columns[name]}. Write a value"
            " of that type."
        )


def _lost(
    columns: Columns, texts: Sequence[Values], typed: Sequence[Values]
) -> Iterator[Tuple[int, str, str]]:
    for number, (before, after) in enumerate(zip(texts, typed), start=1):
        for name, text, value in zip(columns, before, after):
            if text is not None and value is None:
                yield number, name, text


def _nulls_first(row: Values) -> List[Tuple[bool, str]]:
    return [(value is not None, value or "") for value in row]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
