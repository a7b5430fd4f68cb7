"""Types of PostgreSQL in the lake."""

from __future__ import annotations

import re
from typing import Callable, Dict, Tuple

from lake_local.onboard import types
from lake_local.onboard.catalog import Column
from lake_local.onboard.types import LakeType, STRING, Written

_PLAIN = {
    "smallint": "int",
    "integer": "int",
    "bigint": "bigint",
    "oid": "bigint",
    "real": "float",
    "double precision": "double",
    "boolean": "boolean",
    "money": "decimal(19,2)",
    "timestamp with time zone": "timestamp",
}
_TEXTS = frozenset(
    "text, character varying, character, bpchar, name, citext, uuid, json, jsonb, xml,"
    ' inet, cidr, macaddr, macaddr8, ltree, "char", time with time zone, hstore,'
    " isbn".split(", ")
)
_RANGES = frozenset("int4range int8range numrange tsrange tstzrange daterange".split())
_NO_LISTS = frozenset("json jsonb money interval".split())
"""Types of whose arrays Debezium sends no values, or empty ones."""
_LOST_IN_CHANGES = frozenset(["name", "name[]", "bit[]", "bit varying[]"])
"""Types that are null in Debezium's changes, whatever the row has."""
LOST_WHEN_UNCHANGED = (
    *("smallint", "numeric", "real", "double precision", "boolean", "timestamp"),
    *("time", "money", "inet", "cidr", "macaddr"),
)
"""Types of whose arrays Debezium sends null where a long one did not change."""
_MICROSECONDS = 6


def lake_type(column: Column, written: Written) -> LakeType:
    """Return the type of the column in the lake."""
    declared = column.type
    if written is Written.DEBEZIUM:
        if column.generated:
            why = "the database computes it, and Debezium leaves it out of changes"
            return LakeType("string", left_out=why, is_in_snapshots=True)
        if _without_digits(declared) in _LOST_IN_CHANGES:
            why = f"Debezium sends no values of {declared} in changes"
            return LakeType("string", left_out=why, is_in_snapshots=True)
        if declared.startswith("time") and declared.endswith("with time zone"):
            if not declared.startswith("timestamp"):
                return LakeType("string", guess="in UTC: Debezium loses its offset")
    if declared.endswith("[]"):
        is_unsent = types.parameters(declared[:-2])[0] in _NO_LISTS
        if is_unsent and written is Written.DEBEZIUM:
            return _unsent(declared, written)
        inner = _single(declared[:-2], column.kind, written)
        if column.kind == "enum" and written is Written.DEBEZIUM:
            why = "null as soon as an element is null, in Debezium's changes"
            return types.array_of(LakeType(inner.text, guess=why))
        if inner.text == "binary" and written is Written.TYPED:
            inner = types.unknown(declared)
        return types.array_of(inner)
    return _single(declared, column.kind, written)


def _without_digits(declared: str) -> str:
    return re.sub(r"\(\d+(,\d+)?\)", "", declared)


def _single(declared: str, kind: str, written: Written) -> LakeType:
    if kind == "enum" or declared in _RANGES:
        return STRING
    name, digits = types.parameters(declared)
    if kind == "extension":
        name = name.split("(")[0].rsplit(".", 1)[-1]
    if name in _PLAIN:
        return LakeType(_PLAIN[name])
    if name in _TEXTS:
        return STRING
    if name.startswith("interval"):
        return _interval(written)
    if name in _MADE:
        return _MADE[name](digits, written)
    return _unsent(declared, written)


def _unsent(declared: str, written: Written) -> LakeType:
    if written is Written.TYPED:
        return types.unknown(declared)
    return LakeType("string", left_out=f"Debezium sends no values of {declared}")


def _geometry(digits: Tuple[int, ...], written: Written) -> LakeType:
    if written is Written.TYPED:
        return types.unknown("geometry")
    return LakeType("struct<wkb:string,srid:int>", guess="wkb is base64")


def _interval(written: Written) -> LakeType:
    if written is Written.TYPED:
        return types.unknown("interval")
    return LakeType("bigint", guess="microseconds, as Debezium writes an interval")


def _bits(digits: Tuple[int, ...], written: Written) -> LakeType:
    if digits in ((), (1,)):
        return LakeType("boolean")
    return _varying_bits(digits, written)


def _varying_bits(digits: Tuple[int, ...], written: Written) -> LakeType:
    if written is Written.TYPED:
        return types.unknown("bit string")
    return types.binary(written)


def _point(digits: Tuple[int, ...], written: Written) -> LakeType:
    if written is Written.TYPED:
        return types.unknown("point")
    return LakeType("struct<x:double,y:double>")


def _vector(digits: Tuple[int, ...], written: Written) -> LakeType:
    return LakeType("array<double>", guess="a vector as its numbers")


_MADE: Dict[str, Callable[[Tuple[int, ...], Written], LakeType]] = {
    "numeric": lambda digits, written: types.decimal(digits),
    "date": lambda digits, written: types.date(written),
    "bytea": lambda digits, written: types.binary(written),
    "timestamp without time zone": lambda digits, written: types.timestamp(
        digits, written, _MICROSECONDS
    ),
    "time without time zone": lambda digits, written: types.time_of_day(
        digits, written, _MICROSECONDS
    ),
    "bit": _bits,
    "bit varying": _varying_bits,
    "point": _point,
    "vector": _vector,
    "geometry": _geometry,
    "geography": _geometry,
}
