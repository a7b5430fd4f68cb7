"""Deliveries as the text of landing files, and as rows of the change log."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Dict, List, Mapping, Optional, Sequence
from zoneinfo import ZoneInfo

from lake_spec.model import Csv, TableSpec
from tests.oracle.histories import Shape
from tests.oracle.oracle import DELETE, UNAVAILABLE, UPSERT, Delivery, same

WAS = "was_"
"""Before the name of a column of the key: the columns with the key before an update."""

WORDS = {"upsert": "U", "delete": "D", "truncate": "T"}


def file_text(
    spec: TableSpec, records: Sequence[Delivery], shape: Optional[Shape] = None
) -> str:
    """A landing file of these records, as the table's format has it."""
    is_csv = isinstance(spec.source.format, Csv)
    shape = shape or Shape(tuple(name for name, _ in spec.columns), False)
    return (csv_text if is_csv else json_text)(spec, records, shape)


def csv_text(spec: TableSpec, records: Sequence[Delivery], shape: Shape) -> str:
    """A file with a header; full-load files have no operation."""
    names = shape.names
    if any(each.moved_from for each in records):
        names = (*names, *(WAS + name for name in spec.key))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_operation(records[0], "op") + [_spelled(n, shape) for n in names])
    for each in records:
        row = {**_by_clock(spec, columns_of(spec, each)), **key_before(spec, each)}
        values = ["" if row.get(n) is None else _plain(row[n]) for n in names]
        for word in words_of(spec, each):
            writer.writerow(_operation(each, word) + values)
    return text.getvalue()


def words_of(spec: TableSpec, record: Delivery) -> List[str]:
    """The words of the records that a file has of it: first one that is to be ignored, at times.

    Every second delete is an upsert by its word, where a column can tell deletes.
    """
    is_told = record.op == DELETE and record.record % 2 and spec.operation.deleted_when
    word = WORDS[UPSERT if is_told else record.op]
    has_more = record.record % 5 == 0 and not record.is_load
    return [*(spec.operation.ignore if has_more else ()), word]


def _operation(record: Delivery, word: str) -> List[str]:
    return [] if record.is_load else [word]


def _spelled(name: str, shape: Shape) -> str:
    return name.upper() if shape.capitals else name


def json_text(spec: TableSpec, records: Sequence[Delivery], shape: Shape) -> str:
    """A file of one object per line, without the columns that have no value.

    Where a field that is absent says something, null is written.
    """
    lines = []
    for each in records:
        values = _by_clock(spec, columns_of(spec, each))
        row = {n: values[n] for n in shape.names if values.get(n) is not None}
        if spec.keeps_absent:
            row = _without_absent({n: values.get(n) for n in shape.names}, each)
        row.update(key_before(spec, each))
        texts = {n: row[n] for n in ("extra", "deep") if row.get(n) is not None}
        maps = {n: json.dumps(_json(v)) for n, v in texts.items()}
        row = {**_json(row), **maps}
        if isinstance(row.get("place"), dict):
            row["place"] = {_spelled(n, shape): v for n, v in row["place"].items()}
        named = {_spelled(n, shape): value for n, value in row.items()}
        for word in words_of(spec, each):
            said = {} if each.is_load else {"op": word}
            if each.op == DELETE and word == WORDS[UPSERT]:
                said["told"] = {"gone_at": "2026-01-31"}
            lines.append(json.dumps({**said, **named}))
    return "".join(f"{line}\n" for line in lines)


def _by_clock(spec: TableSpec, row: Mapping[str, Any]) -> Dict[str, Any]:
    """The row with its times as clocks of the source show them."""
    zone = ZoneInfo(spec.source.timezone)

    def shown(at: datetime) -> datetime:
        return at.replace(tzinfo=timezone.utc).astimezone(zone).replace(tzinfo=None)

    return {n: shown(v) if isinstance(v, datetime) else v for n, v in row.items()}


def _without_absent(row: Mapping[str, Any], record: Delivery) -> Dict[str, Any]:
    """The fields that the record has; every other value not sent is a placeholder."""
    as_word = record.record % 2 and row.get("note") == UNAVAILABLE
    kept = {
        name: _without_absent(each, record) if isinstance(each, Mapping) else each
        for name, each in row.items()
        if each != UNAVAILABLE
    }
    return {**kept, "note": UNAVAILABLE} if as_word else kept


def key_before(spec: TableSpec, record: Delivery) -> Dict[str, Any]:
    """The columns that say the key before the update, as far as it is said."""
    pairs = zip(spec.key, record.moved_from or ())
    return {WAS + name: value for name, value in pairs if value is not None}


def columns_of(spec: TableSpec, record: Delivery) -> Dict[str, Any]:
    """Every column of the table by name."""
    names = [name for name, _ in spec.columns]
    key = dict(zip(spec.key, record.key or [None] * len(spec.key)))
    return {**dict.fromkeys(names), **key, **record.values}


def json_object(spec: TableSpec, record: Delivery) -> str:
    """The columns as one JSON object, for from_json with the table's schema."""
    return json.dumps(_json(columns_of(spec, record)))


def _plain(value: Any) -> str:
    if isinstance(value, (datetime, float)):
        return str(_json(value))
    return str(value)


def _json(value: Any) -> Any:
    """As JSON has it: NaN and times as text."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="microseconds").rjust(26, "0")
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, float) and value != value:
        return "NaN"
    if isinstance(value, Mapping):
        return {name: _json(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_json(each) for each in value]
    return value


def log_record(spec: TableSpec, record: Delivery) -> tuple:
    """What the reader knows of a record, before key and times are made."""
    word: Optional[str] = None if record.is_load else WORDS[record.op]
    rank = 0 if record.is_load and record.full_refresh_at is None else 1
    missing = [n for n, value in record.values.items() if value == UNAVAILABLE]
    not_sent = ",".join(missing) or None
    if spec.keeps_absent:
        paths = [*spec.key, *spec.order_by, *_paths(record.values)]
        not_sent = ",".join(["*", *paths]).lower()
    values = {n: _sent(v) for n, v in record.values.items()}
    sent = json_object(spec, replace(record, values=values))
    key, before = record.key or (), key_before(spec, record)
    old = {name: before.get(WAS + name, new) for name, new in zip(spec.key, key)}
    is_moved = same(tuple(old.values())) != same(key)
    moved = json.dumps(_json(old)) if is_moved else None
    place = (record.path, record.record)
    return (sent, moved, word, rank, started(spec, record), not_sent, *place)


def _paths(values: Mapping[str, Any], above: str = "") -> List[str]:
    """The paths of what is sent; a struct with nothing in it says nothing."""
    found = []
    for name, value in values.items():
        inside = _paths(value, f"{above}{name}.") if isinstance(value, Mapping) else ()
        is_said = inside or not isinstance(value, Mapping) or not value
        if value != UNAVAILABLE and is_said:
            found += [f"{above}{name}", *inside]
    return found


def _sent(value: Any) -> Any:
    """The value with null for what is not sent of it."""
    if isinstance(value, Mapping):
        return {name: _sent(each) for name, each in value.items()}
    return None if value == UNAVAILABLE else value


def started(spec: TableSpec, record: Delivery) -> Optional[str]:
    """Where the record's full refresh started, as the log has it."""
    if record.full_refresh_at is None:
        return None
    return json.dumps(
        {n: str(v) for n, v in zip(spec.order_by, record.full_refresh_at)}
    )
