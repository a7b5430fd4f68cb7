"""The columns of a table of the lake: names, with Spark types."""

from __future__ import annotations

from typing import List, Sequence, Tuple

from lake_spec.model.column_type import ColumnType
from lake_spec.text.sql_text import sql_identifier
from lake_spark.schema.promotion import stored_type

TEXT = ColumnType("string")

Columns = Sequence[Tuple[str, str]]
"""Lake columns: (name, Spark type) each."""


def typed(columns: Columns) -> List[Tuple[str, ColumnType]]:
    """Return the same columns with their types as trees."""
    return [(name, stored_type(kind)) for name, kind in columns]


def any_null(names: Sequence[str]) -> str:
    """Return an expression: whether one of the columns has no value."""
    return " OR ".join(f"{sql_identifier(name)} IS NULL" for name in names)
