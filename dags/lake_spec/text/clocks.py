"""Clocks that are set back, and so show each time of an hour or so twice."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Iterator, Tuple
from zoneinfo import ZoneInfo

Instants = Tuple[datetime, datetime]
"""From and until, in UTC; until is no part of it."""

_SINCE, _UNTIL = (datetime(year, 1, 1, tzinfo=timezone.utc) for year in (1970, 2100))
_LOOK = timedelta(days=7)
"""Less than any clock stays set."""


@lru_cache(maxsize=64)
def doubled_hours(zone: str) -> Tuple[Instants, ...]:
    """List when clocks of the zone show, for the first time, what they show twice."""
    return () if zone.upper() == "UTC" else tuple(_doubled(ZoneInfo(zone)))


def goes_back(zone: str, after: datetime) -> bool:
    """Return whether clocks of the zone are set back after this moment."""
    return any(until > after for _, until in doubled_hours(zone))


def is_doubled(at: datetime, zone: str) -> bool:
    """Return whether clocks of the zone show this moment's time again later."""
    return any(begin <= at < until for begin, until in doubled_hours(zone))


def _doubled(zone: ZoneInfo) -> Iterator[Instants]:
    at = _SINCE
    while at < _UNTIL:
        then = at + _LOOK
        back = _ahead(zone, at) - _ahead(zone, then)
        if back > timedelta():
            until = _change(zone, at, then)
            yield until - back, until
        at = then


def _ahead(zone: ZoneInfo, at: datetime) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta()


def _change(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    """Return the second at which the clocks are set, which lies between the two."""
    old, seconds = _ahead(zone, before), int(_LOOK.total_seconds())
    least, most = 0, seconds
    while most - least > 1:
        middle = (least + most) // 2
        if _ahead(zone, before + timedelta(seconds=middle)) == old:
            least = middle
        else:
            most = middle
    return before + timedelta(seconds=most)
