"""A Debezium event as a row of its table, with what happened, when and where.

The event may be whole (before, after, op, source) or flattened by the connector's
ExtractNewRecordState, which must be set to add what is in FLAT.
"""

from __future__ import annotations

from typing import Callable, Iterator, Optional, Sequence, Tuple

from lake_spec.model import Connector, Debezium
from lake_spec.model.column_type import ColumnType
from lake_spec.model.envelopes import EVENT_TIME, LOG_NAME, OPERATION, source_column
from lake_spark.formats.file_schema import Fields
from lake_spark.schema.columns import TEXT

Columns = Iterator[Tuple[str, ColumnType, str]]
"""Name, type and SQL of each column."""

Find = Callable[[str], Optional[str]]
"""From the name of a field of `source` to its SQL, None where the event has none."""

_BROKEN = (0xFF80, 0xFFFF)
"""Bytes from 0x80 on as Debezium for PostgreSQL writes them in names: a signed byte each,
widened to 16 bits (`größe` arrives as `gr\\uffc3\\uffb6\\uffc3\\uff9fe`)."""

FLAT = "__source_"
"""Before the names of fields of `source` in a flattened event."""

_MISSING = "-1"
"""For a part of a position that the log does not say: below every other."""

_TIMES = ("ts_ms", "ts_us", "ts_ns")
_OF_SCHEMAS = ("source", "databasename", "schemaname", "ddl", "tablechanges")
_MESSAGES = (
    ((), "ts_ms"),  # heartbeats
    (("status", "id", "event_count", "data_collections"), "status"),  # transactions
    (_OF_SCHEMAS, "databasename"),
    (_OF_SCHEMAS, "ddl"),
    (("id", "type", "aggregate_type", "additional_data", "timestamp"), "type"),
)
"""Messages about no row: the fields that they have next to times, and one that says it."""
_OF_EVENTS = ("op", "message", "transaction", "source", *_TIMES)

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
    """Say what to do about missing columns of the envelope; '' if others are missing."""
    fields = sorted({_ADDED[name] for name in missing if name in _ADDED})
    if envelope is None or not fields:
        return ""
    return (
        f"Add {', '.join(fields)} to `add.fields` of the connector's"
        " ExtractNewRecordState, or leave that transform out."
    )


def columns(event: Fields, connector: Connector) -> Columns:
    """Yield the row's columns, then those of the event, whose names begin with `__`."""
    if is_whole(event):
        yield from _row(event, event.below("before"), event.below("after"))
        source = event.below("source")
        find: Find = source.sql if source else lambda name: None
        operation = event.sql("op")
    else:
        yield from _flat_row(event)
        find = _flat(event)
        operation = _flat_operation(event)
    yield from _event(find, operation, connector)


def is_whole(event: Fields) -> bool:
    """Return whether these are the fields of whole events, not of flattened ones."""
    images = any(event.kind(name) for name in ("before", "after", "message"))
    return event.kind("op") is not None and images


def holds_no_row(event: Fields) -> bool:
    """Return whether no record of the file can be of a row, by the fields that it has."""
    names = {name.lower() for name in event.kinds}
    if is_whole(event):
        return not (event.below("before") or event.below("after"))
    known = {each for fields, _ in _MESSAGES for each in fields}
    return names <= known.union(_OF_EVENTS)


def is_message(event: Fields) -> str:
    """Return SQL: whether a record is a known kind of message that is about no row.

    Logical messages, heartbeats, and those about transactions, schemas and snapshots.
    """
    cases = [f"{event.sql('op')} <=> 'm'"] if is_whole(event) else []
    for fields, name in _MESSAGES:
        if event.kind(name):
            others = nothing_in(event, without=(*fields, *_TIMES))
            cases.append(f"({event.sql(name)} IS NOT NULL AND {others})")
    return " OR ".join(cases) or "false"


def nothing_in(event: Fields, without: Sequence[str] = ()) -> str:
    """Return SQL: whether no field has a value, some fields aside."""
    others = [name for name in event.kinds if name.lower() not in without]
    return " AND ".join(f"{event.sql(name)} IS NULL" for name in others) or "true"


def _row(event: Fields, before: Optional[Fields], after: Optional[Fields]) -> Columns:
    """Yield the row: a delete's values are in `before`, all others in `after`."""
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
    """Yield only what the file says: a needed column that is missing is named."""
    if operation is not None:
        yield OPERATION, TEXT, _operation(find, operation)
    time = _time(find)
    if time is not None:
        yield source_column(EVENT_TIME), ColumnType("timestamp"), time
    is_postgresql = connector is Connector.POSTGRESQL
    positions = _in_postgresql(find) if is_postgresql else _in_binlog(find)
    for name, sql in positions:
        yield source_column(name), ColumnType("bigint"), sql
    file = find("file")
    if not is_postgresql and file is not None:
        yield LOG_NAME, TEXT, f"regexp_extract({file}, '^(.*?)[.]?[0-9]*$', 1)"


def _operation(find: Find, operation: str) -> str:
    """Return the operation.

    Rows of an incremental snapshot, among the changes, are no full load.
    """
    snapshot = find("snapshot")
    if snapshot is None:
        return operation
    return (
        f"if({operation} = 'r' AND CAST({snapshot} AS string) = 'incremental', 'i',"
        f" {operation})"
    )


def _time(find: Find) -> Optional[str]:
    """Return the source's time of the change, as fine as the event has it."""
    units = (("ts_us", "timestamp_micros"), ("ts_ms", "timestamp_millis"))
    times = [
        f"{made}(try_cast({find(name)} AS bigint))"
        for name, made in units
        if find(name)
    ]
    return f"coalesce({', '.join(times)})" if times else None


def _in_postgresql(find: Find) -> Iterator[Tuple[str, str]]:
    """Yield expressions of `sequence`, JSON text ["last commit", "own lsn"].

    Either may be null.

    A connector that was made again knows no commit before its first transaction: the
    own position counts for it. Contract 2.1.
    """
    sequence = find("sequence")
    if sequence is None:
        return
    commit, own = (
        f"try_cast(get_json_object({sequence}, '$[{place}]') AS bigint)"
        for place in (0, 1)
    )
    yield "source_commit_lsn", f"coalesce({commit}, {own})"
    yield "source_lsn", f"coalesce({own}, if({commit} IS NULL, NULL, {_MISSING}))"


def _in_binlog(find: Find) -> Iterator[Tuple[str, str]]:
    """Yield places in the binlog, files by number: bin.000009 before bin.000010."""
    file, pos, row = find("file"), find("pos"), find("row")
    if file is not None:
        number = f"regexp_extract({file}, '([0-9]+)$', 1)"
        yield "binlog_file", f"try_cast({number} AS bigint)"
    if pos is not None:
        yield "binlog_pos", f"try_cast({pos} AS bigint)"
    if row is not None:
        yield "binlog_row", f"coalesce(try_cast({row} AS bigint), {_MISSING})"


def true_name(name: str) -> str:
    """Return the name that Debezium for PostgreSQL broke, or the name itself.

    Since connector 3.0 it reads each byte of a name from the log as a character.
    """
    low, high = _BROKEN
    if name.isascii() or not any(low <= ord(each) <= high for each in name):
        return name
    codes = [ord(each) - 0xFF00 if ord(each) >= low else ord(each) for each in name]
    try:
        return bytes(codes).decode("utf-8")
    except ValueError:
        return name
