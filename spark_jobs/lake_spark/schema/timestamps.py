"""Texts that are dates and times, as SQL: contract 2.2.

What has no zone is of a clock in the declared one; what has one is an instant. The whole
text must fit: a day without its month, or anything behind the time, is not a time.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Dict, Optional
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from lake_spec.text.clocks import doubled_hours
from lake_spec.text.encodings import names_zone
from lake_spec.text.sql_text import sql_literal

_DAY = r"(?!0000)[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_CLOCK = r"[0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}([.][0-9]{1,9})?)?"
_ZONE = r"(Z|[+-][0-9]{1,2}(:?[0-9]{1,2}(:?[0-9]{2})?)?|[A-Za-z][A-Za-z0-9_/:+-]*)"

_DATE_ALONE = rf"\A *{_DAY} *\z"
_WITHOUT_ZONE = rf"\A *{_DAY}([ T]{_CLOCK})? *\z"
_TIMESTAMP = rf"\A *{_DAY}([ T]{_CLOCK} *{_ZONE}?)? *\z"
"""The grammar of texts without a declared format: the whole text is one of these.

A day, then a clock's time down to the nanosecond, then a zone. What lies below the
microsecond is cut, as it is of epochs.
"""

_ENDS_IN_UTC = r"(Z|UTC|GMT)\s*$"
_ENDS_IN_ZONE = (
    r"(Z|[+-]\d{2}:?\d{2}|:\d{2}([.]\d+)?\s*[+-]\d{2}"
    r"|(?!AM|PM|am|pm)[A-Za-z][A-Za-z_/]+)\s*$"
)


def in_utc(time: str, zone: str) -> str:
    """Return what a clock in the zone showed, as an instant."""
    if zone.upper() == "UTC":
        return time
    return f"to_utc_timestamp({time}, {sql_literal(zone)})"


def timestamp(text: str, target: str, pattern: Optional[str], zone: str) -> str:
    """Return an expression of the type `target`, date or timestamp; null if no such text.

    `pattern` is the declared format, by Java's letters.
    """
    if pattern:
        return _by_pattern(text, target, pattern, zone)
    parsed = f"try_cast({text} AS {target})"
    whole = f"{text} RLIKE {sql_literal(_TIMESTAMP)}"
    if target == "date":
        day = f"{text} RLIKE {sql_literal(_DATE_ALONE)}"
        # Spark's cast to a date looks at nothing behind the day.
        instant = f"try_cast({text} AS timestamp)"
        return (
            f"CASE WHEN {day} THEN {parsed}"
            f" WHEN {whole} AND {instant} IS NOT NULL THEN {parsed} END"
        )
    if zone.upper() == "UTC":
        return f"CASE WHEN {whole} THEN {parsed} END"
    is_local = f"{text} RLIKE {sql_literal(_WITHOUT_ZONE)}"
    return (
        f"CASE WHEN {is_local} THEN {in_utc(parsed, zone)} WHEN {whole} THEN {parsed}"
        " END"
    )


def _by_pattern(text: str, target: str, pattern: str, zone: str) -> str:
    parsed = f"try_to_timestamp({text}, {sql_literal(pattern)})"
    if target == "date":
        return f"CAST({parsed} AS date)"
    has_zone = names_zone(pattern)
    if zone.upper() == "UTC" or (has_zone and "[" not in pattern):
        return parsed
    ends = sql_literal(_ENDS_IN_ZONE if has_zone else _ENDS_IN_UTC)
    return (
        f"CASE WHEN {text} RLIKE {ends} THEN {parsed} ELSE {in_utc(parsed, zone)} END"
    )


def rank_of_clock(time: str, zone: str) -> str:
    """Return SQL: a time of the zone's clocks, or its begin for an hour that they repeat.

    In that hour, of two passes, an earlier time may have come later: contract 2.2. Looked
    up by the day in one literal: a case for each year takes Spark longer than the rows.
    """
    days: Dict[str, Dict[str, int]] = {}
    for begin, end in doubled_hours(zone):
        doubled = {"b": _micros(begin), "e": _micros(end) - 1}
        days.update({f"{each:%Y-%m-%d}": doubled for each in (begin, end)})
    if not days:
        return time
    known = f"from_json({sql_literal(json.dumps(days))}, {sql_literal(_DAYS)})"
    hour = f"try_element_at({known}, CAST(CAST({time} AS date) AS string))"
    return (
        f"CASE WHEN unix_micros({time}) BETWEEN {hour}.b AND {hour}.e"
        f" THEN timestamp_micros({hour}.b) ELSE {time} END"
    )


_DAYS = "map<string,struct<b:bigint,e:bigint>>"


def _micros(instant: datetime) -> int:
    return int(instant.timestamp()) * 1_000_000


def as_utc(timestamp: datetime, zone: str) -> datetime:
    """Return the moment in UTC; one without a zone is of the named one."""
    if timestamp.tzinfo is None:
        local = timezone.utc if zone == "UTC" else ZoneInfo(zone)
        timestamp = timestamp.replace(tzinfo=local)
    return timestamp.astimezone(timezone.utc)


def instant_of(text: str, form: str, zone: str) -> datetime:
    """Return the instant that a text says, mostly a piece of a path, by strptime.

    Many tools write signs of a time into names as %2B and %3A. ValueError if it is none.
    """
    try:
        return as_utc(datetime.strptime(text, form), zone)
    except ValueError:
        if "%" not in text:
            raise
    return as_utc(datetime.strptime(unquote(text), form), zone)
