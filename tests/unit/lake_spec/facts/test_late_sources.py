"""A source is late by one rule, whoever asks."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from lake_spec.facts.late_sources import late_from, why_late

LANDED = datetime(2026, 11, 20, 23, 10, tzinfo=timezone.utc)
LIMIT = LANDED + timedelta(hours=26)
BERLIN = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    "hours, newest, now, why",
    [
        (None, None, LIMIT, None),
        (None, LANDED, LIMIT + timedelta(days=9), None),
        (26, LANDED, LIMIT, None),
        (
            26,
            LANDED,
            LIMIT + timedelta(seconds=1),
            "newest file of 2026-11-20 23:10 UTC",
        ),
        (26, LANDED.astimezone(BERLIN), LIMIT + timedelta(hours=1), "20 23:10 UTC"),
        (0.5, None, LANDED, "no file yet, expected every 0.5 h"),
    ],
)
def test_why_a_source_is_late(hours, newest, now, why):
    found = why_late(hours, newest, now)
    assert found is None if why is None else why in found


def test_from_when_on_it_is_late():
    assert late_from(26, LANDED) == LIMIT
    assert late_from(26, None) is late_from(None, LANDED) is None
