"""Rows out of what the records of change files wrap them in.

A line that our own Kafka pull wrote holds a message; a message may hold its
schema beside its payload; a payload may be an event of Debezium.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, List, Optional, Tuple

from lake_spec.column_type import ColumnType
from lake_spec.envelopes import OLD_KEY
from lake_spec.model import Csv, Json, KafkaTopic, TableSpec
from lake_spec.sql_text import sql_identifier
from lake_spark import debezium, extended_json
from lake_spark.apart import taken_apart
from lake_spark.shape import CORRUPT, TEXT, Fields, Shape

VALUE, BROKEN = "value", "kafka_broken"
"""The fields of such a line with its message: as JSON, or as a text that is none."""

OF_MESSAGE = ("kafka_topic", "kafka_partition", "kafka_offset", "kafka_timestamp")
"""Its fields that say where the message stood."""


def unwrapped(shape: Shape, spec: TableSpec) -> Shape:
    """The shape of the rows inside a file's records; the same if nothing is around."""
    top = Fields("", dict(shape.columns))
    plain = [(n, kind, sql_identifier(n)) for n, kind in shape.columns]
    is_message = _is_message(spec, top)
    is_wrapped = is_message or spec.envelope is not None
    found = list(_columns(top, spec, is_message)) if is_wrapped else plain
    kind = spec.source.format
    if isinstance(kind, Json) and kind.extended:
        found = [
            (name, extended_json.plain(each), extended_json.value(sql, each))
            for name, each, sql in found
        ]
    columns = list(taken_apart(spec, found))
    if columns == plain:
        return shape
    unwrap = [f"{sql} AS {sql_identifier(name)}" for name, _, sql in columns]
    if isinstance(kind, (Csv, Json)):
        broken = top.sql(BROKEN) if is_message else None
        fault = f"coalesce({CORRUPT}, {broken})" if broken else CORRUPT
        unwrap.append(f"{fault} AS {CORRUPT}")
    rows = tuple((name, each) for name, each, _ in columns)
    return replace(shape, columns=rows, wrapped=shape.columns, unwrap=tuple(unwrap))


def is_of_envelope(name: str, shape: Shape, spec: TableSpec) -> bool:
    """Whether a column is of what was around the row."""
    is_pulled = isinstance(spec.changes_from, KafkaTopic)
    is_wrapped = bool(shape.unwrap) and (is_pulled or spec.envelope is not None)
    return is_wrapped and name.startswith("__")


def _is_message(spec: TableSpec, top: Fields) -> bool:
    is_pulled = isinstance(spec.changes_from, KafkaTopic)
    return is_pulled and top.kind("kafka_offset") is not None


def _columns(
    top: Fields, spec: TableSpec, is_message: bool
) -> Iterator[Tuple[str, ColumnType, str]]:
    if is_message:
        for name in OF_MESSAGE:
            yield f"__{name}", TEXT, f"CAST({top.sql(name) or 'NULL'} AS string)"
        if top.kind("kafka_old_key"):
            yield OLD_KEY, TEXT, top.sql("kafka_old_key") or ""
    row = _payload(top.below(VALUE) if is_message else top)
    if row is None:
        # No message of the file can be read: its columns are there, without values.
        for name in _source_names(spec):
            yield name, TEXT, "CAST(NULL AS string)"
    elif spec.envelope is not None:
        yield from debezium.columns(row, spec.envelope.connector)
    else:
        for name, kind in row.kinds.items():
            yield name, kind, row.sql(name) or name


def _payload(value: Optional[Fields]) -> Optional[Fields]:
    """The fields beside which no schema stands."""
    if value is not None and set(value.kinds) == {"schema", "payload"}:
        return value.below("payload")
    return value


def _source_names(spec: TableSpec) -> List[str]:
    declared = dict(spec.columns)
    keys = [name for name in spec.key if name not in declared]
    return keys + [
        column.source[0] if column.source else name for name, column in spec.columns
    ]
