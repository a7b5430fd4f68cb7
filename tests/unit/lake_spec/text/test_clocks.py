"""Hours that clocks show twice, and none that they show once."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from lake_spec.text.clocks import doubled_hours, goes_back, is_doubled
from tests.clock_changes import CHANGES

MINUTE = timedelta(minutes=1)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


@pytest.mark.parametrize("zone, forward, back", CHANGES)
def test_times_of_first_passes_are_found_and_no_others(zone, forward, back):
    for night in (utc(forward), utc(back)):
        moments = [night + minute * MINUTE for minute in range(-300, 300, 5)]
        shown = [
            each.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for each in moments
        ]
        twice = [time in shown[place + 1 :] for place, time in enumerate(shown)]
        assert [is_doubled(each, zone) for each in moments] == twice
        assert any(twice) == (night == utc(back))


@pytest.mark.parametrize("zone", ["UTC", "utc", "Asia/Tokyo", "Etc/GMT-3"])
def test_clocks_that_are_not_set_in_our_time_show_no_hour_twice(zone):
    assert doubled_hours(zone) == ()


def test_a_zone_that_gave_it_up_goes_back_no_more():
    assert goes_back("America/Sao_Paulo", utc("2018-01-01"))
    assert not goes_back("America/Sao_Paulo", utc("2020-01-01"))
    assert len(doubled_hours("Europe/Vienna")) == 2099 - 1980 + 1


def test_two_hours_may_be_shown_twice():
    begin, until = doubled_hours("Antarctica/Troll")[20]
    assert until - begin == timedelta(hours=2)
