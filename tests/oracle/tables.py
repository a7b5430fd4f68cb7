"""The tables that random histories are made for: each has other settings."""

from __future__ import annotations

from datetime import datetime
from typing import Optional

from lake_spec.model import TableSpec
from tests.oracle.oracle import Settings

PLAIN = """
source:
  kind: feed
  path: tests/things
  load: "load/**"
  changes: "changes/**"
  format: {type: csv}
  operation: {column: op, before: "was_{column}", ignore: [P]}
  placeholder: __debezium_unavailable_value
  full_refresh:
    pattern: 'reload/(?P<ts>[^_]+)_(?P<seq>[^/]+)/'
    format: "%Y-%m-%d"
    lost_share: 1
  path_columns: {folder: "([^/]+)/[^/]+$"}
columns:
  history: int
  a: string
  b: string
  ts: timestamp
  seq: "decimal(8,2)"
  score: double
  amount: {type: "decimal(6,2)", dropped: true}
  note: string
  folder: string
key: [history, a, b]
order_by: [ts, seq]
load_effective_at: "1900-01-01"
history: {ignore: [note]}
quarantine: {max_share: 1.0}
storage: {buckets: 1}
"""

BUSINESS = """
source:
  kind: feed
  path: tests/things
  load: "load/**"
  changes: "changes/**"
  format: {type: json}
  operation: {column: op, before: "was_{column}", ignore: [P]}
  placeholder: __debezium_unavailable_value
  full_refresh:
    pattern: 'reload/(?P<ts>[^_]+)_(?P<seq>[^/]+)/'
    format: "%Y-%m-%d"
    lost_share: 1
columns:
  history: int
  a: string
  b: string
  seq: "decimal(8,2)"
  ts: timestamp
  since: timestamp
  score: {type: double, dropped: true}
  note: string
  tags: "array<double>"
  place: "struct<names:array<string>,x:double>"
  extra: "map<string,double>"
key: [history, a, b]
order_by: [seq, ts]
effective_at: since
current: {deletes: soft}
history: {deletes: tombstone, track: [score, tags, place, extra], open_end: "9999-12-31"}
quarantine: {max_share: 1.0}
storage: {buckets: 1}
"""

TIED = """
source:
  kind: feed
  path: tests/things
  load: "load/**"
  changes: "changes/**"
  format: {type: json}
  operation:
    column: op
    before: "was_{column}"
    ignore: [P]
    deleted_when: {column: told.gone_at}
  placeholder: __debezium_unavailable_value
  full_refresh:
    pattern: 'reload/(?P<ts>[^_]+)_'
    format: "%Y-%m-%d"
    lost_share: 1
  timezone: Antarctica/Troll
columns:
  history: int
  a: string
  b: double
  ts: timestamp
  since: timestamp
  note: string
  deep: "array<struct<at:map<string,double>,flag:boolean>>"
key: [history, a, b]
order_by: [ts]
effective_at: since
current: {deletes: soft}
history: {track: [since, note, deep]}
quarantine: {max_share: 1.0}
storage: {buckets: 1}
"""

PARTIAL = """
source:
  kind: feed
  path: tests/things
  load: "load/**"
  changes: "changes/**"
  format: {type: json}
  operation: {column: op, before: "was_{column}", ignore: [P]}
  absent_fields: unchanged
  placeholder: __debezium_unavailable_value
  full_refresh:
    pattern: 'reload/(?P<ts>[^_]+)_(?P<seq>[^/]+)/'
    format: "%Y-%m-%d"
    lost_share: 1
columns:
  history: int
  a: string
  b: string
  ts: timestamp
  seq: "decimal(8,2)"
  since: timestamp
  score: double
  amount: {type: "decimal(6,2)", dropped: true}
  note: string
  tags: "array<double>"
  place: "struct<names:array<string>,at:struct<x:double,Label:string>>"
  extra: "map<string,double>"
key: [history, a, b]
order_by: [ts, seq]
effective_at: since
history: {ignore: [tags]}
quarantine: {max_share: 1.0}
storage: {buckets: 1}
"""

SPECS = {"plain": PLAIN, "business": BUSINESS, "tied": TIED, "partial": PARTIAL}


DOUBLED = (datetime(2025, 10, 25, 23), datetime(2025, 10, 26, 1))
"""In UTC, what clocks in Antarctica/Troll showed again afterwards; in winter they show UTC."""


def settings_of(spec: TableSpec, *undeclared: str) -> Settings:
    """What the oracle must know of a table, and of columns that files add."""
    kinds = {name: column.type for name, column in spec.columns}
    times = [name for name in spec.order_by if kinds[name] == "timestamp"]
    return Settings(
        columns=(*(name for name in kinds if name not in spec.key), *undeclared),
        order_by=spec.order_by,
        first_time=times[0] if times else None,
        effective_at=spec.effective_at,
        load_effective_at=_timestamp(spec.load_effective_at),
        future_dates=spec.future_dates,
        track=spec.history.track,
        ignore=spec.history.ignore,
        deletes=spec.history.deletes.value,
        current=spec.current.deletes.value,
        open_end=_timestamp(spec.history.open_end),
        doubled=DOUBLED if spec.source.timezone != "UTC" else None,
    )


def _timestamp(text: Optional[str]) -> Optional[datetime]:
    return datetime.fromisoformat(text) if text else None
