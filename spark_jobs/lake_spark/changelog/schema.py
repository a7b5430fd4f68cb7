"""The columns of the change log, and what its rows can say.

A row of the change log is one delivery of one change event: the table's own columns, and
the envelope below.
"""

from __future__ import annotations

from enum import Enum
from typing import List, Tuple

from lake_spec.text.sql_text import sql_literal
from lake_spark.schema.columns import Columns


class LogColumn(str, Enum):
    """The names of the columns that every change log has."""

    KEY = "lake_key"
    """ALL_KEYS where the row is about every key."""
    OP = "lake_op"
    RANK = "lake_rank"
    """0 for the first full load, 1 for what followed it."""
    EFFECTIVE_AT = "lake_effective_at"
    PATH = "lake_path"
    POSITION = "lake_position"
    RECORD = "lake_record"
    """Number of the record in its file from 1; -1 for a row that we derived."""
    ETAG = "lake_etag"
    LANDED_AT = "lake_landed_at"
    SNAPSHOT_AT = "lake_snapshot_at"
    STARTED = "lake_started"
    """Order at which the row's full refresh or connector's snapshot started, as JSON."""
    UNAVAILABLE = "lake_unavailable"
    """Which values the source did not send: see not_sent.py; null for none."""
    NARROW = "lake_narrow"
    """Paths of doubles that arrived as floats, `a,b.c`; else null."""
    OLD_KEY = "lake_old_key"
    """For a create of a key change, the key before it; its own for the delete that was
    made of the same update."""
    LOG = "lake_log"
    """The name of the log that the order's position is in; null where it has none."""

    __str__ = str.__str__


_TYPES = {
    LogColumn.RANK: "int",
    LogColumn.RECORD: "bigint",
    LogColumn.EFFECTIVE_AT: "timestamp",
    LogColumn.LANDED_AT: "timestamp",
    LogColumn.SNAPSHOT_AT: "timestamp",
}

ENVELOPE: Tuple[Tuple[str, str], ...] = tuple(
    (column.value, _TYPES.get(column, "string")) for column in LogColumn
)
"""Names and types of these columns; the table's own follow them."""


UPSERT, DELETE = "upsert", "delete"


TRUNCATE, FULL_REFRESH, RETRACT = "truncate", "full_refresh", "retract"
"""About every key: all are gone, a full refresh has these keys alone, a file is void."""


ALL_KEYS = "%*"
"""The key of such rows: no key text looks like it, for `%` is always escaped."""


IS_LOAD = "lake_rank = 0 OR lake_started IS NOT NULL"
"""SQL: whether a row is of a full load, the first or a later one."""


def started(name: str) -> str:
    """Return where the row's full refresh started in an order column, as text, or null."""
    return f"get_json_object(lake_started, {sql_literal('$.' + name)})"


def log_columns(columns: Columns) -> List[str]:
    """Return the columns of a log row in their order."""
    return [name for name, _ in ENVELOPE] + [name for name, _ in columns]
