"""Types of DuckDB, in its SQL, for those of Avro, of Spark, and of specs."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, Iterable, Mapping, Tuple

from lake_spec.model.column_type import ColumnType

from lake_local.show.request import NeedsHudi

_AVRO = {
    "string": "VARCHAR",
    "enum": "VARCHAR",
    "boolean": "BOOLEAN",
    "int": "INTEGER",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "bytes": "BLOB",
    "fixed": "BLOB",
}
_LOGICAL = {
    "date": "DATE",
    "timestamp-millis": "TIMESTAMP WITH TIME ZONE",
    "timestamp-micros": "TIMESTAMP WITH TIME ZONE",
    "local-timestamp-millis": "TIMESTAMP",
    "local-timestamp-micros": "TIMESTAMP",
}
_SPARK = {
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INTEGER",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "binary": "BLOB",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
}
_SPEC = {**_SPARK, "int": "INTEGER", "bigint": "BIGINT"}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_TEXT = re.compile(r"(?:char|varchar)\(\d+\)")
_INTERVAL = re.compile(r"interval .*")


def of_avro(schema: Mapping[str, Any]) -> Dict[str, str]:
    """Return the type of each field of a record of Avro. Raises NeedsHudi."""
    named: Dict[str, Any] = {}
    return {each["name"]: _avro(each["type"], named) for each in schema["fields"]}


def of_spark(schema: Mapping[str, Any]) -> Dict[str, str]:
    """Return the type of each field of a struct in Spark's JSON. Raises NeedsHudi."""
    return {each["name"]: _spark(each["type"]) for each in schema["fields"]}


def of_spec(kind: ColumnType) -> str:
    """Return a type of a spec. Raises NeedsHudi."""
    if kind.is_nested:
        inner = [of_spec(each) for each in kind.inner]
        if kind.name == "array":
            return f"{inner[0]}[]"
        if kind.name == "map":
            return f"MAP({inner[0]}, {inner[1]})"
        fields = (f"{quoted(n)} {each}" for n, each in zip(kind.fields, inner))
        return f"STRUCT({', '.join(fields)})"
    if kind.name == "decimal":
        return "DECIMAL({}, {})".format(*kind.digits)
    return _known(_SPEC, kind.stored.name)


def quoted(name: str) -> str:
    """Return a name as DuckDB's SQL quotes it."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _avro(kind: Any, named: Dict[str, Any]) -> str:
    if isinstance(kind, list):
        (kind,) = [each for each in kind if each != "null"]
    if isinstance(kind, str):
        return _avro(named[kind], named) if kind in named else _known(_AVRO, kind)
    for name in (kind.get("name"), f"{kind.get('namespace')}.{kind.get('name')}"):
        if name:
            named[name] = kind
    logical = kind.get("logicalType")
    if logical == "decimal":
        return f"DECIMAL({kind['precision']}, {kind.get('scale', 0)})"
    if logical in _LOGICAL:
        return _LOGICAL[logical]
    if kind["type"] == "record":
        return _struct(kind["fields"], lambda each: _avro(each, named))
    if kind["type"] == "array":
        return f"{_avro(kind['items'], named)}[]"
    if kind["type"] == "map":
        return f"MAP(VARCHAR, {_avro(kind['values'], named)})"
    return _avro(kind["type"], named)


def _spark(kind: Any) -> str:
    if isinstance(kind, str):
        decimal = _DECIMAL.fullmatch(kind)
        if decimal:
            return f"DECIMAL({decimal[1]}, {decimal[2]})"
        if _INTERVAL.fullmatch(kind):
            return "INTERVAL"
        return "VARCHAR" if _TEXT.fullmatch(kind) else _known(_SPARK, kind)
    if kind["type"] == "struct":
        return _struct(kind["fields"], _spark)
    if kind["type"] == "array":
        return f"{_spark(kind['elementType'])}[]"
    if kind["type"] == "map":
        return f"MAP({_spark(kind['keyType'])}, {_spark(kind['valueType'])})"
    raise _unknown(kind["type"])


def _struct(fields: Iterable[Mapping[str, Any]], type_of: Callable[[Any], str]) -> str:
    parts: Iterable[Tuple[str, str]] = (
        (each["name"], type_of(each["type"])) for each in fields
    )
    return f"STRUCT({', '.join(f'{quoted(name)} {kind}' for name, kind in parts)})"


def _known(names: Mapping[str, str], kind: str) -> str:
    if kind not in names:
        raise _unknown(kind)
    return names[kind]


def _unknown(kind: str) -> NeedsHudi:
    return NeedsHudi(f"a column has the type {kind!r}, which DuckDB is not told of.")
