"""A Debezium event as a row of its table, with what happened, when and where.

The event may be whole (before, after, op, source) or flattened by the connector's
ExtractNewRecordState, which must be told to add what stands in FLAT.
"""

from __future__ import annotations

from typing import Callable, Iterator, Optional, Sequence, Tuple

from lake_spec.column_type import ColumnType
from lake_spec.envelopes import EVENT_TIME, OPERATION, source_column
from lake_spec.model import Connector, Debezium
from lake_spark.shape import TEXT, Fields

Columns = Iterator[Tuple[str, ColumnType, str]]
"""Name, type and SQL of each column."""

Find = Callable[[str], Optional[str]]
"""From the name of a field of `source` to its SQL, None where the event has none."""

FLAT = "__source_"
"""Before the names of fields of `source` in a flattened event."""

_MISSING = "-1"
"""For a position that the log does not say: below every other."""

_ADDED = {
    "source_commit_lsn": "source.sequence",
    "source_lsn": "source.sequence",
    "binlog_file": "source.file",
    "binlog_pos": "source.pos",
    "binlog_row": "source.row",
    "source_ts": "source.ts_ms",
}
"""What the transform adds to a flattened event for a column of ours."""


def remedy(envelope: Optional[Debezium], missing: Sequence[str]) -> str:
    """What to do about columns of the envelope that a file lacks; '' if none of it."""
    fields = sorted({_ADDED[name] for name in missing if name in _ADDED})
    if envelope is None or not fields:
        return ""
    return (
        f". Add {', '.join(fields)} to `add.fields` of the connector's"
        " ExtractNewRecordState, or leave that transform out."
    )


def columns(event: Fields, connector: Connector) -> Columns:
    """The row's columns, then those of the event, whose names begin with `__`."""
    before, after = event.below("before"), event.below("after")
    if event.kind("op") and (before or after):
        yield from _row(event, before, after)
        source = event.below("source")
        find: Find = source.sql if source else lambda name: None
        operation = event.sql("op")
    else:
        yield from _flat_row(event)
        find = _flat(event)
        operation = _flat_operation(event)
    yield from _event(find, operation, connector)


def _row(event: Fields, before: Optional[Fields], after: Optional[Fields]) -> Columns:
    """A delete's values stand in `before`, all others in `after`."""
    is_delete = f"{event.sql('op')} = 'd'"
    kinds = {**(before.kinds if before else {}), **(after.kinds if after else {})}
    for name, kind in kinds.items():
        old = before.sql(name) if before and before.kind(name) == kind else None
        new = after.sql(name) if after else None
        if old and new:
            yield name, kind, f"CASE WHEN {is_delete} THEN {old} ELSE {new} END"
        else:
            yield name, kind, old or new or f"CAST(NULL AS {kind.text})"


def _flat_row(event: Fields) -> Columns:
    for name, kind in event.kinds.items():
        if not name.startswith("__"):
            yield name, kind, event.sql(name) or name


def _flat(event: Fields) -> Find:
    return lambda name: event.sql(f"{FLAT}{name}")


def _flat_operation(event: Fields) -> Optional[str]:
    operation, deleted = event.sql(OPERATION), event.sql("__deleted")
    return operation or deleted and f"if({deleted} = 'true', 'd', 'u')"


def _event(find: Find, operation: Optional[str], connector: Connector) -> Columns:
    """Only what the file says: a column that is needed and missing is told by name."""
    if operation is not None:
        yield OPERATION, TEXT, _operation(find, operation)
    time = _time(find)
    if time is not None:
        yield source_column(EVENT_TIME), ColumnType("timestamp"), time
    is_postgresql = connector is Connector.POSTGRESQL
    positions = _in_postgresql(find) if is_postgresql else _in_binlog(find)
    for name, sql in positions:
        yield source_column(name), ColumnType("bigint"), sql


def _operation(find: Find, operation: str) -> str:
    """Rows of an incremental snapshot stand among the changes, not below them."""
    snapshot = find("snapshot")
    if snapshot is None:
        return operation
    return (
        f"if({operation} = 'r' AND CAST({snapshot} AS string) = 'incremental', 'i',"
        f" {operation})"
    )


def _time(find: Find) -> Optional[str]:
    """The source's time of the change, as fine as the event has it."""
    units = (("ts_us", "timestamp_micros"), ("ts_ms", "timestamp_millis"))
    times = [
        f"{made}(try_cast({find(name)} AS bigint))"
        for name, made in units
        if find(name)
    ]
    return f"coalesce({', '.join(times)})" if times else None


def _in_postgresql(find: Find) -> Iterator[Tuple[str, str]]:
    """`sequence` is the JSON text ["last commit", "own lsn"], either may be null."""
    sequence = find("sequence")
    if sequence is None:
        return
    for place, name in enumerate(("source_commit_lsn", "source_lsn")):
        number = f"try_cast(get_json_object({sequence}, '$[{place}]') AS bigint)"
        some = f"coalesce({number}, {_MISSING})"
        yield name, f"CASE WHEN {sequence} IS NOT NULL THEN {some} END"


def _in_binlog(find: Find) -> Iterator[Tuple[str, str]]:
    """Files by their number: bin.000009 before bin.000010."""
    file, pos, row = find("file"), find("pos"), find("row")
    if file is not None:
        number = f"regexp_extract({file}, '([0-9]+)$', 1)"
        yield "binlog_file", f"try_cast({number} AS bigint)"
    if pos is not None:
        yield "binlog_pos", f"try_cast({pos} AS bigint)"
    if row is not None:
        yield "binlog_row", f"coalesce(try_cast({row} AS bigint), {_MISSING})"
