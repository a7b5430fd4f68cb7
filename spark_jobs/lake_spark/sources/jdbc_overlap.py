"""Where a pull by a cursor begins: some time before the end of the last one.

A time without a zone is what a clock on the wall showed. In the night in which that goes
back it shows an hour twice, so rows are written with values below the end of a pull. In
the one in which it goes forward, an hour by the clock is no time at all.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from lake_spark.sources.jdbc_bookmark import Value

_ZONES_DIFFER = timedelta(days=2)
"""More than any clock is set, or differs from UTC."""


def begin_of(end: Optional[Value], overlap: int, zone: tzinfo) -> Optional[Value]:
    """Return the least value of a pull's rows; None for all.

    Args:
        end: up to where the last pull went, a time as clocks of the zone show it.
        overlap: seconds, or whole numbers of a cursor that is a number.
    """
    if end is None or isinstance(end, Decimal):
        return None if end is None else end - overlap
    length = timedelta(seconds=overlap)
    if end - datetime.min < length + _ZONES_DIFFER:
        return datetime.min
    first = end.replace(tzinfo=zone, fold=0)  # of two passes of an hour
    passed = (first.astimezone(timezone.utc) - length).astimezone(zone)
    return min(end - length, passed.replace(tzinfo=None)) - _set_back(first)


def _set_back(first: datetime) -> timedelta:
    """Return how far the clock is set back after a time that it shows twice; else zero."""
    second = first.replace(fold=1)
    offsets = [each.utcoffset() or timedelta() for each in (first, second)]
    return max(offsets[0] - offsets[1], timedelta())
