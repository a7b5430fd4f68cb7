"""The program behind `sql`: a query over the tables of a state, without Java.

    python -m lake_local.show.sql QUESTION.json READER.log

The question has `sql` (None for a list of the tables), `format`, `limit`, and `tables`: by
name the files of each that the query may mean. It names those that have no data too. Only
tables that the query names are opened.
"""

from __future__ import annotations

import json
import sys
from difflib import get_close_matches
from itertools import islice
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Sequence

import duckdb

from lake_spec.hudi.layout import HUDI_PREFIX

from lake_local.show.answering import answered
from lake_local.show.duckdb_types import quoted
from lake_local.show.layers import connect, open_layers
from lake_local.show.query import Output, write_rows
from lake_local.show.readers import BATCH, rows_of
from lake_local.show.request import Format, LayerFiles, NeedsHudi, QueryRefused

NEAREST = 3
LISTED = "Without a query, this command lists the tables."
_LISTS = frozenset({"information_schema", "pg_catalog"})
"""Schemas in which DuckDB lists what it has itself."""


def main(argv: Sequence[str]) -> int:
    """Write the rows, and return the exit code."""
    return answered(
        argv,
        _answer,
        lambda asked: asked["tables"].values(),
        lambda _, error: str(error),
    )


def _answer(asked: Mapping[str, Any], data: Output, words: Output) -> None:
    try:
        found = rows(asked) if asked["sql"] else tables(asked)
    except NeedsHudi as error:  # Spark reads that table, and does not answer the query
        raise QueryRefused(str(error)) from None
    write_rows(found, asked["format"], asked["limit"], data, words)


class Rows:
    """Rows of a statement, with the few methods of a Spark DataFrame that writing calls."""

    def __init__(self, columns: List[str], rows: Iterable[Sequence[Any]]) -> None:
        self.columns = columns
        self._rows = rows

    def limit(self, number: int) -> Rows:
        """Return so many rows at most."""
        return Rows(self.columns, islice(self._rows, number))

    def collect(self) -> List[Sequence[Any]]:
        """Return all rows."""
        return list(self._rows)

    def toLocalIterator(self, _: bool = False) -> Iterator[Sequence[Any]]:
        """Yield the rows."""
        return iter(self._rows)


def rows(asked: Mapping[str, Any]) -> Rows:
    """Return the rows of the query, of the newest commits of the tables that it names.

    Raises:
        QueryRefused: it is no single query, names a table that is not there, or is to
            make JSON of two columns of one name.
        duckdb.Error: DuckDB refuses it, with the place in its text.
    """
    connection = connect()
    _require_query(connection, asked["sql"])
    named = _named(connection, asked["sql"], asked)
    open_layers(
        connection, {name: _files(asked, name) for name in named}, (HUDI_PREFIX,)
    )
    reader = connection.execute(asked["sql"]).to_arrow_reader(BATCH)
    names = reader.schema.names
    twice = next((each for each in names if names.count(each) > 1), None)
    if twice and asked["format"] == Format.JSON.value:
        raise QueryRefused(
            f"two columns have the name {twice!r}, and an object of JSON has each name once:"
            " name them by AS."
        )
    return Rows(names, rows_of(reader))


def tables(asked: Mapping[str, Any]) -> Rows:
    """Return name, number of rows and columns of each table that has data."""
    found: List[Sequence[Any]] = []
    for name in sorted(asked["tables"]):
        connection = connect()
        try:
            open_layers(connection, {name: _files(asked, name)}, (HUDI_PREFIX,))
        except NeedsHudi:
            found.append((name, None, None))
            continue
        view = connection.sql(f"FROM {_view(name)}")
        ((number,),) = view.count("*").fetchall()
        found.append((name, number, ", ".join(view.columns)))
    return Rows(["table", "rows", "columns"], found)


def _require_query(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    kinds = [each.type for each in connection.extract_statements(sql)]
    if kinds != [duckdb.StatementType.SELECT]:
        names = " and ".join(each.name for each in kinds) or "nothing"
        raise QueryRefused(
            f"one query is answered, and nothing is written: this is {names}. Write one"
            " SELECT (or DESCRIBE, SUMMARIZE or VALUES)."
        )


def _named(
    connection: duckdb.DuckDBPyConnection, sql: str, asked: Mapping[str, Any]
) -> List[str]:
    """Return the tables of the lake that a query names, as the lake spells them."""
    tree = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [sql])
    (text,) = tree.fetchone() or ("{}",)
    nodes = list(_nodes(json.loads(text)))
    if any(map(_is_list, nodes)):
        raise QueryRefused(f"DuckDB's own list has no table of the lake. {LISTED}")
    known = {
        name.lower(): name
        for name in (*asked["tables"], *asked["empty"], *asked["known"])
    }
    found: Dict[str, None] = {}
    of_with = (each["cte_map"]["map"] for each in nodes if each.get("cte_map"))
    with_names = {each["key"].lower() for found in of_with for each in found}
    for node in nodes:
        if node.get("type") != "BASE_TABLE":
            continue
        schema, table = node["schema_name"], node["table_name"]
        full = f"{schema}.{table}" if schema else table
        name = known.get(full.lower())
        if name in asked["empty"]:
            raise QueryRefused(asked["empty"][name])
        if name:
            found[name] = None
        elif schema or table.lower() not in with_names:
            raise QueryRefused(f"no table {full!r}. {_nearest(full, known.values())}")
    return list(found)


def _is_list(node: Mapping[str, Any]) -> bool:
    """Return whether a node of the tree lists tables, as SHOW TABLES does."""
    if node.get("type") == "SHOW_REF":
        return node["query"] is None
    return str(node.get("schema_name")).lower() in _LISTS


def _nodes(node: Any) -> Iterator[Dict[str, Any]]:
    """Yield each object within a tree of DuckDB's parser, the outer ones first."""
    if isinstance(node, dict):
        yield node
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            yield from _nodes(each)


def _nearest(got: str, known: Iterable[str]) -> str:
    """Return in words the names that were probably meant, else where they are listed."""
    names = sorted(known)
    table = got.lower().rpartition(".")[2]
    same = [each for each in names if each.lower().partition(".")[2] == table]
    close = get_close_matches(got.lower(), names, NEAREST) or [
        each
        for each in names
        if get_close_matches(table, [each.lower().partition(".")[2]], 1)
    ]
    found = list(dict.fromkeys([*same, *close]))[:NEAREST]
    if found:
        return f"Did you mean {' or '.join(found)}?"
    return LISTED


def _files(asked: Mapping[str, Any], name: str) -> LayerFiles:
    return LayerFiles(**asked["tables"][name])


def _view(name: str) -> str:
    schema, _, table = name.partition(".")
    return f"{quoted(schema)}.{quoted(table)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
