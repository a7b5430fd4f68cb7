"""The columns of the change log, and what its rows can say.

A row of the change log is one sighting of one change event: the table's own columns, and
the envelope below.
"""

from __future__ import annotations

from typing import List, Tuple

from lake_spec.text.sql_text import sql_literal
from lake_spark.schema.columns import Columns

ENVELOPE: Tuple[Tuple[str, str], ...] = (
    ("lake_key", "string"),
    ("lake_op", "string"),
    ("lake_rank", "int"),
    ("lake_effective_at", "timestamp"),
    ("lake_path", "string"),
    ("lake_position", "string"),
    ("lake_record", "bigint"),
    ("lake_etag", "string"),
    ("lake_landed_at", "timestamp"),
    ("lake_extract_at", "timestamp"),
    ("lake_started", "string"),
    ("lake_unavailable", "string"),
    ("lake_narrow", "string"),
    ("lake_old_key", "string"),
    ("lake_log", "string"),
)
"""Columns that every change log has, before the table's own.

lake_key: ALL_KEYS where the row is about every key.
lake_rank: 0 for the first full load, 1 for what came after it.
lake_record: number of the record in its file from 1; -1 for a row that we derived.
lake_started: the order at which the row's reload, or its connector's snapshot, started,
as JSON; else null.
lake_unavailable: columns whose value the source did not send, `a,b`; else null.
lake_narrow: paths of doubles that came as floats, `a,b.c`; else null.
lake_old_key: for a create of a key change that lacks values, the key before it.
lake_log: the name of the log that the order's position is in; null where it has none.
"""


UPSERT, DELETE = "upsert", "delete"


TRUNCATE, RELOAD, WITHDRAW = "truncate", "reload", "withdraw"
"""About every key: all are gone, a reload has these keys alone, a file is void."""


ALL_KEYS = "%*"
"""The key of such rows: no key text looks like it, for `%` is always escaped."""


IS_LOAD = "lake_rank = 0 OR lake_started IS NOT NULL"
"""SQL: whether a row is of a full load, the first or a later one."""


def started(name: str) -> str:
    """Where the row's reload started in an order column, as text; else null."""
    return f"get_json_object(lake_started, {sql_literal('$.' + name)})"


def log_columns(columns: Columns) -> List[str]:
    """The columns of a log row in their order."""
    return [name for name, _ in ENVELOPE] + [name for name, _ in columns]
