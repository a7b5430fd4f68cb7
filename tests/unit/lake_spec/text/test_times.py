"""Times in specs are dates, or dates with a time of day."""

from datetime import datetime, timezone

import pytest

from lake_spec.text.times import parse_timestamp


@pytest.mark.parametrize(
    "text, timestamp",
    [
        ("1900-01-01", datetime(1900, 1, 1)),
        ("9999-12-31", datetime(9999, 12, 31)),
        ("2016-04-01 12:30:00", datetime(2016, 4, 1, 12, 30)),
        ("2016-04-01T12:30:00.5Z", datetime(2016, 4, 1, 12, 30, 0, 500000)),
        ("2016-04-01T12:30:00+02:00", datetime(2016, 4, 1, 10, 30)),
        ("2016-04-01 12:30", datetime(2016, 4, 1, 12, 30)),
    ],
)
def test_times_are_read_in_utc(text, timestamp):
    assert parse_timestamp(text) == timestamp.replace(tzinfo=timezone.utc)


@pytest.mark.parametrize(
    "text",
    ["", "1900", "1900-13-01", "2015-02-29", "2016-04-01T25:00:00", "tomorrow"]
    + ["2026-W05", "2026-W05-1", "20260201", "2026-02", "2026-02-03 or later"]
    + ["2026-02-03T10", "2026-02-03 99:99", "2026-02-03T10:00.5", "2026-02-03 1:02"]
    + ["0000-01-01", "2016-04-01\n", "0001-01-01T00:00:00+02:00", "{{ ds }}"],
)
def test_other_texts_are_no_times(text):
    assert parse_timestamp(text) is None
