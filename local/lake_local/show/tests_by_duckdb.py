"""Tests of products by DuckDB, without Java: a connection that reads no file."""

from __future__ import annotations

from typing import List, Sequence

import duckdb

from lake_spec.model.column_type import parse_type

from lake_local.show.duckdb_types import of_spec, quoted
from lake_local.show.layers import connect
from lake_local.show.product_tests import Columns, EngineFailed, TestEngine, Values

_TEXTS = "lake_texts"


class DuckDbEngine(TestEngine):
    """A database in memory."""

    def __init__(self) -> None:
        self._connection = connect()
        self._connection.execute("SET enable_external_access = false")

    def typed(self, columns: Columns, rows: Sequence[Values]) -> List[Values]:
        """Return the rows as their values are written after a cast."""
        self._load(columns, rows)
        texts = ", ".join(
            f"CAST({_cast(name, kind, 'TRY_CAST')} AS VARCHAR)"
            for name, kind in columns.items()
        )
        return self._rows(f"SELECT {texts} FROM {_TEXTS}")

    def open_view(self, view: str, columns: Columns, rows: Sequence[Values]) -> None:
        """Make a table of that name, for the texts are those of the next one too."""
        self._load(columns, rows)
        values = ", ".join(
            f"{_cast(name, kind)} AS {quoted(name)}" for name, kind in columns.items()
        )
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {quoted(view)} AS SELECT {values} FROM {_TEXTS}"
        )

    def made(self, sql: str, columns: Columns) -> List[Values]:
        """Return the rows of a query; EngineFailed for any error of DuckDB."""
        texts = ", ".join(
            f"CAST({_cast(name, kind)} AS VARCHAR)" for name, kind in columns.items()
        )
        try:
            return self._rows(f"SELECT {texts} FROM ({sql})")
        except duckdb.Error as error:
            raise EngineFailed(str(error).splitlines()[0]) from None

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def _rows(self, sql: str) -> List[Values]:
        found: List[Values] = self._connection.execute(sql).fetchall()
        return found

    def _load(self, columns: Columns, rows: Sequence[Values]) -> None:
        """Make the table of texts of these rows."""
        names = ", ".join(f"{quoted(name)} VARCHAR" for name in columns)
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {_TEXTS} ({names})")
        if rows:
            marks = ", ".join("?" for _ in columns)
            self._connection.executemany(
                f"INSERT INTO {_TEXTS} VALUES ({marks})", [list(row) for row in rows]
            )


def _cast(name: str, kind: str, how: str = "CAST") -> str:
    return f"{how}({quoted(name)} AS {of_spec(parse_type(kind))})"
