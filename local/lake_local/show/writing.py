"""Rows as text: aligned for people, exact as CSV and JSON for programs."""

from __future__ import annotations

import base64
import json
import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Iterable, Iterator, Sequence

from lake_local.text import aligned, is_number

WIDEST = 60
_QUOTED = set('",\r\n')


def write(
    names: Sequence[str], rows: Iterable[Sequence[Any]], how: str
) -> Iterator[str]:
    """Return the rows as lines, each with its end."""
    yield from _WRITERS[how](names, rows)


def csv_lines(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Format rows as RFC 4180 with \\n; no value is an empty field, empty text is `""`."""
    yield ",".join(_csv_field(name) for name in names) + "\n"
    for row in rows:
        yield ",".join("" if v is None else _csv_field(text(v)) for v in row) + "\n"


def json_lines(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Return one array with one object per line; decimals keep their digits."""
    begin = "["
    for row in rows:
        pairs = (f"{json.dumps(n)}: {to_json(v)}" for n, v in zip(names, row))
        yield f"{begin}\n{{{', '.join(pairs)}}}"
        begin = ","
    yield "[]\n" if begin == "[" else "\n]\n"


def table_lines(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Format rows as aligned columns; long values are cut, line breaks shown as \\n."""
    rows = list(rows)
    columns = list(zip(*rows)) or [()] * len(names)
    right = [_all_numbers(values) for values in columns]
    for line in aligned(names, [[cell(value) for value in row] for row in rows], right):
        yield line + "\n"


def text(value: Any) -> str:
    """Return a value in full, as it stands in a CSV field."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return _timestamp(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, (list, tuple, dict)):
        return to_json(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value)


def to_json(value: Any) -> str:
    """Return a value as JSON text; what JSON lacks (NaN, times, bytes) is a string."""
    if value is None or isinstance(value, (bool, int)):
        return json.dumps(value)
    if isinstance(value, Decimal) and value.is_finite():
        return f"{value:f}"
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if hasattr(value, "asDict"):  # A nested Row: a tuple that knows its names.
        return to_json(value.asDict())
    if isinstance(value, dict):
        pairs = (f"{json.dumps(_name(k))}: {to_json(v)}" for k, v in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(to_json(each) for each in value)}]"
    return json.dumps(text(value), ensure_ascii=False)


def _name(key: Any) -> str:
    return key if isinstance(key, str) else text(key)


def _csv_field(field: str) -> str:
    if field == "" or _QUOTED & set(field) or field != field.strip():
        return '"' + field.replace('"', '""') + '"'
    return field


def _timestamp(value: datetime) -> str:
    """Format a timestamp in UTC; Spark returns it without a zone."""
    return value.replace(tzinfo=None).isoformat() + "Z"


def cell(value: Any) -> str:
    """Format a value for people: no value as `null`, times in UTC, long texts cut."""
    if value is None:
        return "null"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    printable = "".join(_printable(each) for each in text(value))
    return printable if len(printable) <= WIDEST else printable[: WIDEST - 1] + "…"


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character, "\ufffd")


def _all_numbers(values: Sequence[Any]) -> bool:
    some = [value for value in values if value is not None]
    return bool(some) and all(map(is_number, some))


_WRITERS = {"csv": csv_lines, "json": json_lines, "table": table_lines}
