"""Values of sources that lack the type, as SQL: see lake_spec.text.encodings.

Each expression is null for what cannot be read; none fails.
"""

from __future__ import annotations

from typing import Dict, Tuple

from lake_spec.model.column_type import ColumnType
from lake_spec.text.encodings import BASE64, EPOCHS, UNSCALED, UNSIGNED

_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
"""Of the years 1 and 9999: beyond them Spark's text is not a timestamp, or it overflows."""

_TIMESTAMPS: Dict[str, Tuple[int, int, str]] = {
    "epoch_days": (-719_162, 2_932_896, "date_from_unix_date(CAST({n} AS int))"),
    "epoch_seconds": (_FIRST_SECOND, _LAST_SECOND, "timestamp_seconds({n})"),
    "epoch_millis": (
        _FIRST_SECOND * 1000,
        _LAST_SECOND * 1000 + 999,
        "timestamp_millis({n})",
    ),
    "epoch_micros": (
        _FIRST_SECOND * 1_000_000,
        _LAST_SECOND * 1_000_000 + 999_999,
        "timestamp_micros({n})",
    ),
    "epoch_nanos": (
        -(1 << 63) + 1000,
        (1 << 63) - 1,
        # Down to the microsecond, also before 1970.
        "timestamp_micros(({n} - pmod({n}, 1000)) div 1000)",
    ),
}


def is_whole(kind: ColumnType) -> bool:
    """Return whether values of the type are whole numbers."""
    if kind.name == "decimal":
        return kind.digits[1] == 0
    return kind.stored.name in ("int", "bigint")


def decoded(value: str, word: str, table: ColumnType) -> str:
    """Decode a text, or for an epoch a whole number, as a value of the table's type."""
    if word in EPOCHS:
        return _timestamp(f"try_cast({value} AS bigint)", word, table.name)
    if word == BASE64:
        return f"try_to_binary({value}, 'base64')"
    if word == UNSCALED:
        return _decimal(f"hex(try_to_binary({value}, 'base64'))", table)
    if word == UNSIGNED:
        return _unsigned(f"try_cast({value} AS decimal(20,0))", table)
    raise ValueError(f"{word!r} is not a known encoding")


def timestamp_of_millis(value: str) -> str:
    """Return the instant of a text of milliseconds since 1970."""
    return decoded(value, "epoch_millis", ColumnType("timestamp"))


def _timestamp(number: str, word: str, target: str) -> str:
    first, last, made = _TIMESTAMPS[word]
    timestamp = made.format(n=number)
    return (
        f"CASE WHEN {number} BETWEEN {first} AND {last}"
        f" THEN CAST({timestamp} AS {target}) END"
    )


def _unsigned(number: str, table: ColumnType) -> str:
    least, range_of_64_bits = -(1 << 63), 1 << 64
    turned = f"if({number} < 0, {number} + {range_of_64_bits}BD, {number})"
    return (
        f"CASE WHEN {number} >= {least}BD THEN try_cast({turned} AS {table.text}) END"
    )


def _decimal(digits: str, table: ColumnType) -> str:
    """Decode hexadecimal digits in two's complement, up to 16 bytes."""
    # Each step names what the next one repeats: h the digits, m those of the number
    # without its sign (of -1 - number), n the number, t the text of its digits.
    is_negative, scale = "substr(h, 1, 1) >= '8'", table.digits[1]
    turned = "translate(h, '0123456789ABCDEF', 'FEDCBA9876543210')"
    magnitude = (
        "CASE WHEN length(h) BETWEEN 2 AND 32"
        f" THEN lpad(if({is_negative}, {turned}, h), 32, '0') END"
    )
    whole = _word(0)
    for place in (1, 2, 3):
        whole = f"CAST({whole} * {1 << 32}BD + {_word(place)} AS decimal(38,0))"
    number = f"CAST(if({is_negative}, -1BD - {whole}, {whole}) AS decimal(38,0))"
    text = f"lpad(CAST(abs(n) AS string), greatest(length(abs(n)), {scale + 1}), '0')"
    point = f"substr(t, 1, length(t) - {scale})"
    if scale:
        point += f" || '.' || substr(t, length(t) - {scale - 1})"
    made = f"try_cast(if(n < 0, '-', '') || {_with('t', text, point)} AS {table.text})"
    named = _with("m", magnitude, _with("n", number, made))
    return _with("h", digits, named)


def _word(place: int) -> str:
    """Decode eight hexadecimal digits as a number."""
    number = f"conv(substr(m, {place * 8 + 1}, 8), 16, 10)"
    return f"CAST({number} AS decimal(38,0))"


def _with(name: str, value: str, body: str) -> str:
    """Return the body, in which the name is the value."""
    return f"transform(array({value}), {name} -> {body})[0]"
