"""MongoDB's extended JSON: values that are in an object which names their type.

`{"$oid": "65.."}` becomes its text, `{"$date": ..}` the text of an instant, and so on;
the declared types read them as they read any text. Where one file has such an object
and a plain value in one place, Spark gives the object as text: it is opened too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import List

from lake_spec.model.column_type import ColumnType
from lake_spec.text.sql_text import sql_identifier, sql_literal
from lake_spark.schema.columns import TEXT
from lake_spark.schema.encodings import timestamp_of_millis

_TEXTS = (
    *("$oid", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal"),
    *("$uuid", "$symbol"),
)
_DATE, _BINARY, _SUBTYPE = "$date", "$binary", "$type"
_KNOWN = {*_TEXTS, _DATE, _BINARY, _SUBTYPE}


def plain(kind: ColumnType) -> ColumnType:
    """Return the type of what such objects hold: text for each of them."""
    if _is_special(kind):
        return TEXT
    return replace(kind, inner=tuple(map(plain, kind.inner)))


def value(column: str, kind: ColumnType, depth: int = 0) -> str:
    """Return an expression of the plain type."""
    if kind.name == "string":
        return _of_text(column)
    if _is_special(kind):
        return _opened(column, kind)
    each = f"e{depth}"
    if kind.name == "array":
        return f"transform({column}, {each} -> {value(each, kind.inner[0], depth + 1)})"
    if kind.name == "map":
        inner = value(each, kind.inner[1], depth + 1)
        return f"transform_values({column}, (k{depth}, {each}) -> {inner})"
    if kind.name != "struct":
        return column
    fields = [
        f"{value(_field(column, name), inner, depth)} AS {sql_identifier(name)}"
        for name, inner in zip(kind.fields, kind.inner)
    ]
    return f"CASE WHEN {column} IS NOT NULL THEN struct({', '.join(fields)}) END"


def _is_special(kind: ColumnType) -> bool:
    return kind.name == "struct" and any(name[:1] == "$" for name in kind.fields)


def _opened(column: str, kind: ColumnType) -> str:
    if not set(kind.fields) <= _KNOWN:
        return f"to_json({column})"  # such as $timestamp or $ref: as it is written
    found = [
        _part(_field(column, name), name, inner)
        for name, inner in zip(kind.fields, kind.inner)
        if name != _SUBTYPE
    ]
    return f"coalesce({', '.join(found)}, CAST(NULL AS string))"


def _part(place: str, name: str, kind: ColumnType) -> str:
    """Return the text of one field of an object; its value may be an object again."""
    inner = {_DATE: "$numberLong", _BINARY: "base64"}.get(name)
    text = place if kind.name == "string" else f"to_json({place})"
    if inner is None:
        return text
    if inner in kind.fields:
        text = _field(place, inner)
    else:
        text = f"coalesce({_json(text, inner)}, {text})"
    return _date(text) if name == _DATE else text


def _of_text(text: str) -> str:
    """Return a text, which may be an object that Spark left closed."""
    found: List[str] = [_json(text, name) for name in _TEXTS]
    date = f"coalesce({_json(text, _DATE, '$numberLong')}, {_json(text, _DATE)})"
    binary = f"coalesce({_json(text, _BINARY, 'base64')}, {_json(text, _BINARY)})"
    opened = f"coalesce({', '.join([*found, _date(date), binary, text])})"
    begin = sql_literal('{"$')
    return f"CASE WHEN substr({text}, 1, 3) = {begin} THEN {opened} ELSE {text} END"


def _date(text: str) -> str:
    """Return ISO text as it is, milliseconds since 1970 as an instant in UTC."""
    timestamp = f"CAST({timestamp_of_millis(text)} AS string) || 'Z'"
    digits = sql_literal("^-?[0-9]+$")
    return f"CASE WHEN {text} RLIKE {digits} THEN coalesce({timestamp}, {text}) ELSE {text} END"


def _json(text: str, *names: str) -> str:
    path = "$" + "".join(f"['{name}']" for name in names)
    return f"get_json_object({text}, {sql_literal(path)})"


def _field(column: str, name: str) -> str:
    return f"{column}.{sql_identifier(name)}"
