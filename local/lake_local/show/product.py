"""The program behind `try-product`: the rows that a product's SQL makes, without Java.

    python -m lake_local.show.product QUESTION.json LOG

The question has the product's `name`, its `sql` in DuckDB's words, the `views` that it
reads (the files, table and layer of each), its declared `columns` and `key`, `time_joins`
(the table of each with the column that tells rows without a match), `format` and `limit`.
Rows go to standard output; their number, types and rows without a match to standard error.
"""

from __future__ import annotations

import sys
from typing import Any, Iterator, Mapping, Sequence

import duckdb

from lake_spec.hudi.layout import HUDI_PREFIX

from lake_local import text
from lake_local.show.answering import answered
from lake_local.show.duckdb_types import quoted
from lake_local.show.layers import connect, open_layers
from lake_local.show.query import Output, write_rows
from lake_local.show.readers import Found
from lake_local.show.request import LayerFiles, QueryRefused

VIEWS = "inputs"
MADE = "lake_made"


def main(argv: Sequence[str]) -> int:
    """Write the rows and what is told of them, and return the exit code."""
    return answered(argv, _answer, lambda asked: asked["views"].values(), _reason)


def _answer(asked: Mapping[str, Any], data: Output, words: Output) -> None:
    connection = made(asked)
    columns, key = (", ".join(map(quoted, asked[n])) for n in ("columns", "key"))
    rows = Found(connection.sql(f"SELECT {columns} FROM {MADE} ORDER BY {key}"))
    write_rows(rows, asked["format"], asked["limit"], data, words)
    for line in told(connection, asked):
        print(line, file=words)


def _reason(asked: Mapping[str, Any], error: Exception) -> str:
    return f"{asked['name']}: DuckDB does not run its SQL, which Spark may: {error}"


def made(asked: Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
    """Return a connection whose table MADE has the rows, of the newest commits of inputs.

    Raises QueryRefused where a declared column is not made.
    """
    connection = connect()
    views = {
        f"{VIEWS}.{view}": LayerFiles(**each) for view, each in asked["views"].items()
    }
    open_layers(connection, views, (HUDI_PREFIX,), schema_of_names=VIEWS)
    connection.execute(f"CREATE TEMP TABLE {MADE} AS {asked['sql']}")
    there = {name.lower() for name in connection.table(MADE).columns}
    missing = [name for name in asked["columns"] if name.lower() not in there]
    if missing:
        raise QueryRefused(
            f"{asked['name']}: its SQL makes no column {missing[0]!r}. Correct the SQL, or"
            " `columns` of the spec."
        )
    return connection


def told(
    connection: duckdb.DuckDBPyConnection, asked: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what there is to know of the rows, in lines."""
    kinds = {
        name.lower(): str(kind)
        for name, kind, *_ in connection.execute(f"DESCRIBE {MADE}").fetchall()
    }
    yield ""
    yield from text.table(
        ("column", "declared", "made by DuckDB"),
        [(n, kind, kinds[n.lower()]) for n, kind in asked["columns"].items()],
    )
    rows = _number(connection, "count(*)")
    yield f"\n{asked['name']}: {rows:,} row(s)"
    keys = ", ".join(map(quoted, asked["key"]))
    names = ", ".join(asked["key"])
    with_null = " OR ".join(f"{quoted(each)} IS NULL" for each in asked["key"])
    nulls = _number(connection, f"count(*) FILTER (WHERE {with_null})")
    different = f"count(DISTINCT ({keys})) FILTER (WHERE NOT ({with_null}))"
    several = rows - nulls - _number(connection, different)
    if nulls:
        yield f"the key ({names}) is NULL in {nulls:,} row(s)"
    if several:
        yield f"the key ({names}) has {several:,} row(s) too many"
    for table, column in asked["time_joins"]:
        without = _number(connection, f"count(*) FILTER (WHERE {quoted(column)})")
        share = without / rows if rows else 0.0
        yield f"{table}: {without:,} of {rows:,} row(s) without a match ({share:.1%})"


def _number(connection: duckdb.DuckDBPyConnection, expression: str) -> int:
    found = connection.execute(f"SELECT {expression} FROM {MADE}").fetchall()
    number: int = found[0][0]
    return number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
