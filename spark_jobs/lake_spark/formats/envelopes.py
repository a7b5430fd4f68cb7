"""Rows out of what the records of change files wrap them in.

A line that our own Kafka pull wrote holds a message; a message may hold its
schema next to its payload; a payload may be an event of Debezium.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, List, Optional, Tuple

from lake_spec.model import Csv, FileTable, Json, KafkaTopic
from lake_spec.model.column_type import ColumnType
from lake_spec.model.envelopes import (
    BEFORE,
    MESSAGE,
    NO_ROW,
    OLD_KEY,
    TOMBSTONE,
    columns_of,
    source_column,
)
from lake_spec.text.sql_text import sql_identifier
from lake_spark.formats import debezium, mongodb_json
from lake_spark.formats.absent_fields import of_json
from lake_spark.formats.before_images import roots_of_key
from lake_spark.formats.file_schema import Fields, Shape
from lake_spark.formats.reader_columns import CORRUPT, THERE, WHY
from lake_spark.formats.nested_columns import taken_apart
from lake_spark.schema.columns import TEXT

VALUE = "value"
"""The field of such a line with its message, where that is JSON."""

OF_MESSAGE = ("kafka_topic", "kafka_partition", "kafka_offset", "kafka_timestamp")
"""Its fields that say where the message was."""


def unwrapped(shape: Shape, spec: FileTable, *, is_load: bool = False) -> Shape:
    """Return the shape of the rows inside a file's records, or the same without a wrap."""
    if not shape.columns and spec.envelope is not None:
        shape = replace(shape, columns=(("op", TEXT),))  # nothing but `null` in it
    top = Fields("", dict(shape.columns))
    plain = [(n, kind, sql_identifier(n)) for n, kind in shape.columns]
    is_message = _is_message(spec, top)
    kind = spec.source.format
    columns = list(taken_apart(spec, _found(top, spec)))
    if spec.envelope is not None and not is_load:
        is_text = isinstance(kind, (Csv, Json))
        columns.append((NO_ROW, TEXT, _no_row(top, spec, is_message, is_text)))
    if columns == plain:
        return shape
    unwrap = [f"{sql} AS {sql_identifier(name)}" for name, _, sql in columns]
    if isinstance(kind, (Csv, Json)):
        unwrap.append(CORRUPT)
    if isinstance(kind, Json):
        unwrap.append(WHY)
    if shape.tells_absent:
        there = _found(Fields(THERE, dict(shape.columns)), spec)
        parts = [
            f"{sql} AS {sql_identifier(name)}"
            for name, _, sql in taken_apart(spec, there, of_json)
        ]
        unwrap.append(f"struct({', '.join(parts)}) AS {THERE}")
    rows = tuple((name, each) for name, each, _ in columns)
    return replace(
        shape,
        columns=rows,
        wrapped=shape.columns,
        unwrap=tuple(unwrap),
        of_messages=is_message,
    )


def _found(top: Fields, spec: FileTable) -> List[Tuple[str, ColumnType, str]]:
    """Return the columns of the rows that are in records with these fields."""
    is_message = _is_message(spec, top)
    found = [(name, kind, top.sql(name) or name) for name, kind in top.kinds.items()]
    if is_message or spec.envelope is not None:
        found = list(_columns(top, spec, is_message))
    kind = spec.source.format
    if isinstance(kind, Json) and kind.extended:
        return [
            (name, mongodb_json.plain(each), mongodb_json.value(sql, each))
            for name, each, sql in found
        ]
    return found


def is_of_envelope(name: str, shape: Shape, spec: FileTable) -> bool:
    """Return whether a column is of what was around the row."""
    is_pulled = isinstance(spec.changes_from, KafkaTopic)
    is_wrapped = bool(shape.unwrap) and (is_pulled or spec.envelope is not None)
    return is_wrapped and name.startswith("__")


def _is_message(spec: FileTable, top: Fields) -> bool:
    is_pulled = isinstance(spec.changes_from, KafkaTopic)
    return is_pulled and top.kind("kafka_offset") is not None


def _columns(
    top: Fields, spec: FileTable, is_message: bool
) -> Iterator[Tuple[str, ColumnType, str]]:
    if is_message:
        for name in OF_MESSAGE:
            yield f"__{name}", TEXT, f"CAST({top.sql(name) or 'NULL'} AS string)"
        if top.kind("kafka_old_key"):
            yield OLD_KEY, TEXT, top.sql("kafka_old_key") or ""
    row = _payload(top.below(VALUE) if is_message else top, spec)
    if row is None or spec.envelope and debezium.holds_no_row(row):
        yield from _without_rows(row, spec)
    elif spec.envelope is not None:
        yield from debezium.columns(row, spec.envelope.connector)
        yield from _key_before(row, spec)
    else:
        for name, kind in row.kinds.items():
            yield name, kind, row.sql(name) or name


def _key_before(row: Fields, spec: FileTable) -> Iterator[Tuple[str, ColumnType, str]]:
    """Yield the columns of the key as they were before an update."""
    before = row.below("before") if debezium.is_whole(row) else None
    if before is None:
        return
    roots = roots_of_key(spec)
    for name, kind in before.kinds.items():
        if {name.lower(), debezium.true_name(name).lower()}.intersection(roots):
            yield BEFORE.format(column=name), kind, before.sql(name) or name


def _without_rows(
    row: Optional[Fields], spec: FileTable
) -> Iterator[Tuple[str, ColumnType, str]]:
    """Yield columns of a file that has no row: all that is needed, without values."""
    known = _source_names(spec)
    if spec.envelope is not None:
        known += [source_column(name) for name in columns_of(spec.envelope)]
        if row is not None and debezium.is_whole(row):
            for column in debezium.columns(row, spec.envelope.connector):
                known = [name for name in known if name != column[0]]
                yield column
    for name in dict.fromkeys(known):
        yield name, TEXT, "CAST(NULL AS string)"


def _no_row(top: Fields, spec: FileTable, is_message: bool, is_text: bool) -> str:
    """Return SQL: why a record is no row, else null. Contract section 7.

    A tombstone is a record without any value, or one whose payload has none.
    """
    record = top.below(VALUE) if is_message else top
    row = _payload(record, spec)
    if row is not None:
        empty, message = debezium.nothing_in(row), debezium.is_message(row)
    else:
        place = record.sql("payload") if record else top.sql(VALUE)
        empty, message = f"{place} IS NULL" if place else "true", "false"
    if is_text:
        empty += f" AND coalesce(trim({CORRUPT}), '') IN ('', 'null')"
    return f"CASE WHEN {empty} THEN '{TOMBSTONE}' WHEN {message} THEN '{MESSAGE}' END"


def _payload(value: Optional[Fields], spec: FileTable) -> Optional[Fields]:
    """Return the fields next to which there is no schema.

    Of an event a payload without its schema too; a row may have one column of that name.
    """
    names = set(value.kinds) if value is not None else set()
    is_event = spec.envelope is not None and names == {"payload"}
    if value is not None and (is_event or names == {"schema", "payload"}):
        return value.below("payload")
    return value


def _source_names(spec: FileTable) -> List[str]:
    declared = dict(spec.columns)
    keys = [name for name in spec.key if name not in declared]
    return keys + [
        column.source[0] if column.source else name for name, column in spec.columns
    ]
