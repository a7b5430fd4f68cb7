"""Texts that are dates and times, as SQL: contract 2.2.

What has no zone is of a clock in the declared one; what has one is an instant. A text
without a date is none: Spark's cast would take today's for it.
"""

from __future__ import annotations

import re
from typing import Optional

from lake_spec.sql_text import sql_literal

_DATED = r"^\s*[0-9]{4}(-|\s*$)"
"""How texts begin that have no declared format: with a year."""

_WITHOUT_ZONE = r"^\s*[0-9]{4}(-[0-9]{1,2}){0,2}([ T][0-9:.]*)?\s*$"
"""Of those: nothing after the digits of the time, such as +02, CET or Europe/Vienna."""

_QUOTED = re.compile("'[^']*'")
_ZONE_LETTERS = re.compile("[VzOXxZ]")
_ENDS_IN_UTC = r"(Z|UTC|GMT)\s*$"
_ENDS_IN_ZONE = (
    r"(Z|[+-]\d{2}:?\d{2}|:\d{2}([.]\d+)?\s*[+-]\d{2}"
    r"|(?!AM|PM|am|pm)[A-Za-z][A-Za-z_/]+)\s*$"
)


def in_utc(time: str, zone: str) -> str:
    """What a clock in the zone showed, as an instant."""
    if zone.upper() == "UTC":
        return time
    return f"to_utc_timestamp({time}, {sql_literal(zone)})"


def moment(text: str, target: str, pattern: Optional[str], zone: str) -> str:
    """An expression of the type `target`, date or timestamp; null if it is no such text.

    `pattern` is the declared format, by Java's letters.
    """
    if pattern:
        return _by_pattern(text, target, pattern, zone)
    dated = f"{text} RLIKE {sql_literal(_DATED)}"
    parsed = f"try_cast({text} AS {target})"
    if target == "date" or zone.upper() == "UTC":
        return f"CASE WHEN {dated} THEN {parsed} END"
    is_local = f"{text} RLIKE {sql_literal(_WITHOUT_ZONE)}"
    return (
        f"CASE WHEN {is_local} THEN {in_utc(parsed, zone)} WHEN {dated} THEN {parsed}"
        " END"
    )


def _by_pattern(text: str, target: str, pattern: str, zone: str) -> str:
    parsed = f"try_to_timestamp({text}, {sql_literal(pattern)})"
    if target == "date":
        return f"CAST({parsed} AS date)"
    letters = _QUOTED.sub("", pattern)
    has_zone = bool(_ZONE_LETTERS.search(letters))
    if zone.upper() == "UTC" or (has_zone and "[" not in letters):
        return parsed
    ends = sql_literal(_ENDS_IN_ZONE if has_zone else _ENDS_IN_UTC)
    return (
        f"CASE WHEN {text} RLIKE {ends} THEN {parsed} ELSE {in_utc(parsed, zone)} END"
    )
