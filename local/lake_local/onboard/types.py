"""A column's type in the lake, and how change events write its values."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import Optional, Tuple

from lake_spec.model.column_type import MOST_DIGITS

DEFAULT_DECIMAL = f"decimal({MOST_DIGITS},18)"


class Written(Enum):
    """How values come."""

    DEBEZIUM = "as Debezium's JSON"
    TYPED = "in the types that the database says"


@dataclass(frozen=True)
class LakeType:
    """A type of the lake; `format` and `guess` are words of the spec.

    `left_out` says why the source does not send the column; `is_in_snapshots` whether
    rows of a snapshot have it all the same.
    """

    text: str
    format: Optional[str] = None
    guess: str = ""
    left_out: str = ""
    is_in_snapshots: bool = False


STRING = LakeType("string")


def unknown(declared: str) -> LakeType:
    """Return the type for an unknown one: its text."""
    return LakeType("string", guess=f"kept as text: the lake has no {declared}")


def parameters(declared: str) -> Tuple[str, Tuple[int, ...]]:
    """Split `numeric(10,2)` into `numeric` and (10, 2); words after the digits stay."""
    found = re.fullmatch(r"([^(]+)\(\s*(-?\d+)\s*(?:,\s*(-?\d+)\s*)?\)(.*)", declared)
    if not found:
        return declared.strip(), ()
    digits = tuple(int(each) for each in found.groups()[1:3] if each is not None)
    return f"{found[1].strip()}{found[4]}".strip(), digits


def decimal(digits: Tuple[int, ...]) -> LakeType:
    """Return an exact number; of unknown digits it is a guess, of too many it is text."""
    if not digits:
        guess = "the source has no limit of digits; string keeps all of them"
        return LakeType(DEFAULT_DECIMAL, guess=guess)
    precision, scale = digits[0], digits[1] if len(digits) > 1 else 0
    # PostgreSQL 15 rounds before the point, or has zeros right after it.
    precision, scale = max(precision - min(scale, 0), scale), max(scale, 0)
    if precision > MOST_DIGITS:
        words = f"{precision} digits: decimals have at most {MOST_DIGITS}"
        return LakeType("string", guess=words)
    return LakeType(f"decimal({precision},{scale})")


def timestamp(digits: Tuple[int, ...], written: Written, default: int) -> LakeType:
    """Return a time without zone: Debezium writes a number, by the digits of its seconds."""
    if written is Written.TYPED:
        return LakeType("timestamp")
    places = digits[0] if digits else default
    return LakeType("timestamp", "epoch_millis" if places <= 3 else "epoch_micros")


def date(written: Written) -> LakeType:
    """Return a day: a number of days in Debezium's events."""
    return LakeType("date", "epoch_days" if written is Written.DEBEZIUM else None)


def binary(written: Written) -> LakeType:
    """Return the type of bytes: base64 in Debezium's events."""
    return LakeType("binary", "base64" if written is Written.DEBEZIUM else None)


def time_of_day(digits: Tuple[int, ...], written: Written, default: int) -> LakeType:
    """Return a time without a day, which the lake has no type for."""
    if written is Written.TYPED:
        return LakeType(
            "string", guess="kept as text: the lake has no type for a time of day"
        )
    places = digits[0] if digits else default
    unit = "milliseconds" if places <= 3 else "microseconds"
    return LakeType("bigint", guess=f"{unit} since midnight, as Debezium writes it")


def array_of(inner: LakeType) -> LakeType:
    """Return an array; `format` is for single values, so its numbers stay numbers."""
    plain = {
        "epoch_days": ("int", "days since 1970-01-01"),
        "epoch_millis": ("bigint", "milliseconds since 1970"),
        "epoch_micros": ("bigint", "microseconds since 1970"),
        "base64": ("string", "base64"),
    }
    if inner.format is None:
        return replace(inner, text=f"array<{inner.text}>")
    text, words = plain[inner.format]
    return LakeType(f"array<{text}>", guess=f"{words}, as Debezium writes them")
