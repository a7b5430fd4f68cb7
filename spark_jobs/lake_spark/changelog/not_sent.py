"""Which values of a log row the source did not send: what `lake_unavailable` says.

`a,b` are columns that were not sent. `*,a,b.c` are paths of what was sent, in lower case:
all others were not, also of columns that the table got later. Contract section 7.
"""

from __future__ import annotations

from typing import Sequence

from lake_spec.text.sql_text import sql_literal
from lake_spark.changelog.schema import LogColumn

ALL_BUT = "*"
"""What a list begins with that names what was sent."""

IS_ALL_BUT = f"startswith({LogColumn.UNAVAILABLE}, {sql_literal(ALL_BUT)})"
"""SQL: whether a row names what was sent."""

_NAMES = f"split({LogColumn.UNAVAILABLE}, ',')"


def is_missing(path: str) -> str:
    """Return SQL: whether the value at a path (`column`, `column.field`) was not sent."""
    column = sql_literal(path.partition(".")[0])
    is_sent = f"array_contains({_NAMES}, {sql_literal(path.lower())})"
    is_named = f"array_contains({_NAMES}, {column})"
    return f"coalesce(if({IS_ALL_BUT}, NOT {is_sent}, {is_named}), false)"


def missing_paths(paths: Sequence[str]) -> str:
    """Return SQL: a list of those of the paths, in lower case, that were not sent."""
    known = ", ".join(sql_literal(path.lower()) for path in paths)
    left = f"array_except(array({known}), {_NAMES})"
    return f"if({IS_ALL_BUT}, {left}, transform({_NAMES}, n -> lower(n)))"
