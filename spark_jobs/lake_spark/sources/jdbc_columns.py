"""Columns that come to a table which is pulled by a cursor.

A pull sees rows whose cursor has moved. A column that comes with a default, or is filled
without moving the cursor, gives values to rows that no pull reads.
"""

from __future__ import annotations

from typing import Dict, Iterable, List, Sequence

from lake_spark.sources.database import SourceColumn
from lake_spark.sources.jdbc_tables import OpenTable


def new(table: OpenTable, known: Iterable[str]) -> List[SourceColumn]:
    """Return columns that are none of the known ones, and that the spec does not drop."""
    left_out = {each.lower() for each in known}
    for name, column in table.run.spec.columns:
        if column.dropped:
            left_out.update(each.lower() for each in column.source or (name,))
    return [each for each in table.columns if each.name.lower() not in left_out]


def is_any_gone(table: OpenTable, known: Iterable[str]) -> bool:
    """Return whether the table lacks a known column, which was perhaps renamed."""
    names = {each.name.lower() for each in table.columns}
    return any(each.lower() not in names for each in known)


def with_values(
    table: OpenTable, columns: Sequence[SourceColumn], where: str
) -> Dict[str, int]:
    """Return how many rows have a value there, by each column of which some have."""
    counts = ", ".join(f"count({table.dialect.quoted(c.name)})" for c in columns)
    found = table.session.row(f"SELECT {counts} FROM {table.sql_name} WHERE {where}")
    counted = {column.name: int(n or 0) for column, n in zip(columns, found)}
    return {name: count for name, count in counted.items() if count}


def in_words(counts: Dict[str, int]) -> str:
    """Format columns with their counts."""
    listed = ", ".join(f"{name} ({count:,} rows)" for name, count in counts.items())
    return f"column(s) with values in rows that no pull reads: {listed}"
