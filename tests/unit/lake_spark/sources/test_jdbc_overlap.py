"""Where pulls begin: no row is missed in the nights in which clocks are set."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import List, Tuple
from zoneinfo import ZoneInfo

import pytest

from lake_spark.sources.jdbc_overlap import begin_of
from tests.clock_changes import NIGHTS

MINUTE = timedelta(minutes=1)


def missed(
    zone: ZoneInfo, night: datetime, every: int, overlap: int, first: int
) -> List[str]:
    """Rows that no pull reads: one a minute, committed as late as the overlap allows."""

    def shown(at: datetime) -> datetime:
        return at.astimezone(zone).replace(tzinfo=None)

    begin = night - 3 * 60 * MINUTE
    waiting: List[Tuple[datetime, datetime]] = []
    for minute in range(6 * 60):
        written = begin + minute * MINUTE
        late = timedelta(seconds=overlap - 30) * (minute % 2)
        waiting.append((written + late, shown(written)))
    bookmark = shown(begin - 60 * MINUTE)
    for minute in range(1, 9 * 60 // every):
        now = begin + (first + minute * every) * MINUTE
        start = begin_of(min(bookmark, shown(now)), overlap, zone)
        committed = [each for each in waiting if each[0] <= now]
        read = [each for each in committed if each[1] >= start]
        waiting = [each for each in waiting if each not in read]
        ends = [value for _, value in read if value <= shown(now)]
        bookmark = max([min(bookmark, shown(now)), *ends])
    return [str(value) for _, value in waiting]


@pytest.mark.parametrize("zone, night", NIGHTS)
@pytest.mark.parametrize("every, overlap", [(60, 300), (15, 60), (7, 5400), (90, 60)])
def test_no_row_is_missed_when_clocks_are_set(zone, night, every, overlap):
    at = datetime.fromisoformat(night).replace(tzinfo=timezone.utc)
    offsets = [
        (at + side * MINUTE).astimezone(ZoneInfo(zone)).utcoffset() for side in (-1, 1)
    ]
    assert offsets[0] != offsets[1], "the clock is set then"
    for first in (0, every - 1):
        assert missed(ZoneInfo(zone), at, every, overlap, first) == []


def test_an_hour_that_a_clock_shows_twice_is_read_whole():
    end = datetime(2026, 10, 25, 2, 59)
    vienna = ZoneInfo("Europe/Vienna")
    assert begin_of(end, 300, vienna) == datetime(2026, 10, 25, 1, 54)
    assert begin_of(end, 300, timezone.utc) == datetime(2026, 10, 25, 2, 54)
    assert begin_of(datetime(2026, 10, 25, 3), 300, vienna).hour == 2


def test_an_hour_that_a_clock_leaves_out_is_no_time():
    end = datetime(2026, 3, 29, 3, 2)
    assert begin_of(end, 300, ZoneInfo("Europe/Vienna")) == datetime(2026, 3, 29, 1, 57)


def test_numbers_and_the_first_time_of_all_have_no_clock():
    zone = ZoneInfo("America/New_York")
    assert begin_of(None, 300, zone) is None
    assert begin_of(Decimal(7), 300, zone) == Decimal(-293)
    assert begin_of(datetime(1, 1, 2), 86400 * 9, zone) == datetime.min
