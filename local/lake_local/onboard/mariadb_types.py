"""Types of MariaDB and MySQL in the lake."""

from __future__ import annotations

from typing import Callable, Dict, Tuple

from lake_spec.text.encodings import UNSIGNED

from lake_local.onboard import types
from lake_local.onboard.catalog import Column
from lake_local.onboard.types import LakeType, STRING, Written

_PLAIN = {
    "tinyint": "int",
    "smallint": "int",
    "mediumint": "int",
    "int": "int",
    "bigint": "bigint",
    "tinyint unsigned": "int",
    "smallint unsigned": "int",
    "mediumint unsigned": "int",
    "int unsigned": "bigint",
    "bigint unsigned": "decimal(20,0)",
    "float": "float",
    "double": "double",
    "year": "int",
    "timestamp": "timestamp",
}
_TEXTS = frozenset(
    "char varchar tinytext text mediumtext longtext json uuid inet4 inet6".split()
)
_BYTES = frozenset("binary varbinary tinyblob blob mediumblob longblob".split())
_POINT = "struct<x:double,y:double>"
_GEOMETRIES = (
    "geometry linestring polygon multipoint multilinestring multipolygon"
    " geometrycollection".split()
)


def lake_type(column: Column, written: Written) -> LakeType:
    """Return the type of the column in the lake."""
    declared = column.type.lower()
    if declared.startswith(("enum(", "set(")):
        return STRING
    name, digits = types.parameters(declared)
    name = name.replace(" zerofill", "")
    if name == "tinyint" and digits == (1,):
        return _truth(written)
    if name == "bigint unsigned" and written is Written.DEBEZIUM:
        return LakeType(_PLAIN[name], UNSIGNED)
    if name in _PLAIN:
        return LakeType(_PLAIN[name])
    if name in _TEXTS:
        return STRING
    if name in _BYTES:
        return types.binary(written)
    number = name.replace(" unsigned", "")
    if number in ("float", "double"):
        return LakeType(number)
    if number == "decimal":
        return types.decimal(digits)
    made = _MADE.get(name)
    return made(digits, written) if made else types.unknown(declared)


def _truth(written: Written) -> LakeType:
    if written is Written.TYPED:
        return LakeType("int")  # a query gives its number
    return LakeType("boolean", guess="tinyint(1) as true or false; else int")


def _bits(digits: Tuple[int, ...], written: Written) -> LakeType:
    if written is Written.TYPED:
        return LakeType("decimal(20,0)")
    if digits in ((), (1,)):
        return LakeType("boolean")
    return types.binary(written)


def _point(digits: Tuple[int, ...], written: Written) -> LakeType:
    if written is Written.TYPED:
        return types.unknown("point")
    return LakeType(_POINT)


def _geometry(digits: Tuple[int, ...], written: Written) -> LakeType:
    if written is Written.TYPED:
        return types.unknown("geometry")
    return LakeType("struct<wkb:string,srid:int>", guess="wkb is base64")


_MADE: Dict[str, Callable[[Tuple[int, ...], Written], LakeType]] = {
    "date": lambda digits, written: types.date(written),
    "datetime": lambda digits, written: types.timestamp(digits, written, 0),
    # By default Debezium writes every time of day in microseconds here.
    "time": lambda digits, written: types.time_of_day((6,), written, 6),
    "bit": _bits,
    "point": _point,
    **dict.fromkeys(_GEOMETRIES, _geometry),
}
