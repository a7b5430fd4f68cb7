"""Which types of a product's columns can be declared for an expression."""

from __future__ import annotations

from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Union

from lake_spec.model.column_type import ColumnType
from lake_spec.text.times import parse_timestamp

_DIGITS = {"int": 10, "bigint": 19}
"""Decimal digits that a whole number can need."""


def family_of(kind: ColumnType) -> str:
    """Return the kind of values: all numbers are of one."""
    return "number" if kind.is_numeric else kind.name


def is_lossless(kind: ColumnType, to: ColumnType) -> bool:
    """Return whether every value of a type has the same value in another one."""
    if kind == to or (kind.name, to.name) in (
        ("int", "bigint"),
        ("int", "double"),
        ("float", "double"),
        ("date", "timestamp"),
    ):
        return True
    if to.name != "decimal" or kind.name not in ("int", "bigint", "decimal"):
        return False
    precision, scale = kind.digits if kind.digits[0] else (_DIGITS[kind.name], 0)
    whole = to.digits[0] - to.digits[1]
    return whole >= precision - scale and to.digits[1] >= scale


def is_value_of(value: Union[int, str], kind: ColumnType) -> bool:
    """Return whether the text of a value can be cast to a type."""
    text = str(value)
    try:
        if kind.name in ("int", "bigint"):
            return int(text).bit_length() < (32 if kind.name == "int" else 64)
        if kind.is_numeric:
            return Decimal(text).is_finite()
        if kind.name == "date":
            return bool(date.fromisoformat(text))
    except (ValueError, InvalidOperation):
        return False
    if kind.name == "timestamp":
        return parse_timestamp(text) is not None
    if kind.name == "boolean":
        return text.lower() in ("true", "false")
    return kind.name == "string"
