"""Which types of a product's columns can be declared for an expression."""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction
from math import isfinite
from typing import Union

from lake_spec.model.column_type import ColumnType, WHOLE_DIGITS
from lake_spec.text.times import parse_timestamp

_BITS = {"int": 32, "bigint": 64}
_NUMBER = re.compile(
    r"[+-]?(\d{1,99}\.?\d{0,99}|\.\d{1,99})([eE][+-]?\d{1,3})?", re.ASCII
)


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
    precision, scale = kind.digits if kind.digits[0] else (WHOLE_DIGITS[kind.name], 0)
    whole = to.digits[0] - to.digits[1]
    return whole >= precision - scale and to.digits[1] >= scale


def is_value_of(value: Union[int, str], kind: ColumnType) -> bool:
    """Return whether the text of a value can be cast to a type, with nothing lost."""
    text = str(value)
    if kind.is_numeric:
        return bool(_NUMBER.fullmatch(text)) and _is_number_of(text, kind)
    if kind.name == "date":
        return _is_date(text)
    if kind.name == "timestamp":
        return parse_timestamp(text) is not None
    if kind.name == "boolean":
        return text.lower() in ("true", "false")
    return kind.name == "string"


def _is_number_of(text: str, kind: ColumnType) -> bool:
    if kind.name in _BITS:
        limit: int = 1 << (_BITS[kind.name] - 1)
        return text.lstrip("+-").isdigit() and -limit <= int(text) < limit
    if kind.name == "decimal":
        precision, scale = kind.digits
        scaled = Fraction(text) * 10**scale
        is_whole = scaled.denominator == 1
        return is_whole and bool(abs(scaled) < 10**precision)
    return isfinite(float(text))


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
