"""The program behind `show`: rows as DuckDB finds them, without Java.

    python -m lake_local.show.readers REQUESTS.json READER.log

It reads the files of a table's newest commit, or what is published of it as Iceberg or
Delta, then filters, sorts and limits the rows. It runs in the environment of
`requirements/readers.in`.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime, timedelta
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

import duckdb

from lake_local.show import request as requests
from lake_local.show.answering import answered
from lake_local.show.columns import shown
from lake_local.show.duckdb_types import quoted
from lake_local.show.layers import connect, open_layers
from lake_local.show.query import Output, answer
from lake_local.show.request import (
    LayerFiles,
    QueryRefused,
    ReadingFailed,
    Request,
    Validity,
)

_OF_THE_QUERY = (duckdb.DataError, duckdb.ProgrammingError, ReadingFailed)
"""Errors that a condition has on some rows, as a text that is no number."""

BATCH = 100_000
"""Rows that are read at a time."""


def main(argv: Sequence[str]) -> int:
    """Answer every request in turn, and return the exit code."""
    return answered(argv, _answer, lambda asked: asked["requests"], _reason)


def _answer(asked: Mapping[str, Any], data: Output, words: Output) -> None:
    for each in (requests.from_json(raw) for raw in asked["requests"]):
        found = Found(rows(connect(), each, asked.get("endpoint")))
        answer(found, each, data, words, Found.write_parquet)


def _reason(_: Mapping[str, Any], error: Exception) -> str:
    if isinstance(error, _OF_THE_QUERY):
        return str(error).splitlines()[0]
    raise error


class Found:
    """Rows of DuckDB, with the few methods of a Spark DataFrame that `answer` calls."""

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        self._relation = relation

    @property
    def columns(self) -> List[str]:
        """The names of the columns."""
        names: List[str] = self._relation.columns
        return names

    def count(self) -> int:
        """Return the number of rows."""
        rows: int = self._relation.count("*").fetchall()[0][0]
        return rows

    def limit(self, number: int) -> Found:
        """Return so many rows at most."""
        return Found(self._relation.limit(number))

    def collect(self) -> List[Tuple[Any, ...]]:
        """Return all rows."""
        return list(self.toLocalIterator())

    def toLocalIterator(self, _: bool = False) -> Iterator[Tuple[Any, ...]]:
        """Yield the rows, timestamps in UTC without a zone."""
        yield from rows_of(self._relation.to_arrow_reader(BATCH))

    def write_parquet(self, output: str, limit: int) -> None:
        """Write rows as one Parquet file; a limit of 0 is all."""
        limited = self._relation.limit(limit) if limit else self._relation
        limited.write_parquet(output)


def rows_of(batches: Iterable[Any]) -> Iterator[Tuple[Any, ...]]:
    """Yield the rows of batches of Arrow, timestamps in UTC without a zone.

    Raises:
        ReadingFailed: the query fails on one of the rows.
        QueryRefused: a column has a time that Python does not know.
    """
    for batch in _read(batches):
        names = batch.schema.names
        yield from zip(*(_values(name, each) for name, each in zip(names, batch)))


def _read(batches: Iterable[Any]) -> Iterator[Any]:
    try:
        yield from batches
    except OSError as error:  # Arrow's one error for all those of DuckDB
        raise ReadingFailed(str(error)) from error


def _values(name: str, column: Any) -> List[Any]:
    try:
        found = column.to_pylist(maps_as_pydicts="strict")
    except (OverflowError, ValueError):
        raise QueryRefused(
            f"column {name!r} has a time that is not shown: before year 1, after 9999,"
            f" infinite or in nanoseconds. Write CAST({quoted(name)} AS VARCHAR) in a query"
            " of ./run_locally.sh sql."
        ) from None
    return [_plain(value) for value in found]


def _plain(value: Any) -> Any:
    """Return a value of Arrow as the formats write it: an interval is a text."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, tuple):  # no other type of Arrow comes as one
        months, days, nanoseconds = value
        time = timedelta(microseconds=nanoseconds // 1000)
        return f"{months} months {days} days {time}"
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def rows(
    connection: duckdb.DuckDBPyConnection, request: Request, endpoint: Optional[str]
) -> duckdb.DuckDBPyRelation:
    """Return the rows that are asked for; QueryRefused says why there is no answer."""
    found = _all_rows(connection, request, endpoint)
    if request.valid:
        found = found.filter(_valid_at(request.valid))
    if request.where:
        try:
            found = found.filter(request.where)
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise QueryRefused(
                f"--where {request.where!r}: {reason}. Write one condition in DuckDB's SQL."
            ) from None
    if request.count:
        return found
    order = [_column(name) for name in request.order if name in found.columns]
    ordered = found.sort(*order) if order else found
    return ordered.select(*map(_column, shown(found.columns, request)))


def _all_rows(
    connection: duckdb.DuckDBPyConnection, request: Request, endpoint: Optional[str]
) -> duckdb.DuckDBPyRelation:
    if request.files is None:
        from lake_local.show import published  # slow to start

        return published.rows(connection, request, endpoint)
    layer = LayerFiles(request.files, request.table, request.layer)
    written = (request.output,) if request.output else ()
    open_layers(connection, {request.table: layer}, written=written)
    schema, _, name = request.table.partition(".")
    return connection.sql(f"FROM {quoted(schema)}.{quoted(name)}")


def _valid_at(validity: Validity) -> duckdb.Expression:
    at = duckdb.ConstantExpression(datetime.fromisoformat(validity.at))
    begins, ends = _column(validity.valid_from), _column(validity.valid_to)
    deleted = _column(validity.is_deleted)
    is_live = deleted.isnull() | ~deleted
    return (begins <= at) & (ends.isnull() | (ends > at)) & is_live


def _column(name: str) -> duckdb.Expression:
    return duckdb.SQLExpression(quoted(name))


if __name__ == "__main__":
    # Without Python's own end: threads of Arrow may still hold files of delta-rs, and
    # one that lets go while the interpreter ends aborts the process, after all rows.
    # Source: github.com/apache/arrow/issues/34314.
    os._exit(main(sys.argv[1:]))
