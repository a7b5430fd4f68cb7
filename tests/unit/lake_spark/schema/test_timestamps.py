"""Instants that texts say: with an offset, in the zone of the source, coded as in names."""

from __future__ import annotations

import pytest

from lake_spark.schema.timestamps import instant_of

FORM = "%Y-%m-%dT%H%z"


@pytest.mark.parametrize(
    "text, instant",
    [
        ("2026-10-25T02+0200", "2026-10-25T00:00:00+00:00"),
        ("2026-10-25T02+0100", "2026-10-25T01:00:00+00:00"),
        ("2026-10-25T02+01:00", "2026-10-25T01:00:00+00:00"),
        ("2026-10-25T02-0330", "2026-10-25T05:30:00+00:00"),
        ("2026-10-25T02Z", "2026-10-25T02:00:00+00:00"),
        ("2026-10-25T02%2B0200", "2026-10-25T00:00:00+00:00"),
        ("2026-10-25T02%2b02%3a00", "2026-10-25T00:00:00+00:00"),
    ],
)
def test_an_offset_decides_the_instant_whatever_the_zone(text, instant):
    assert instant_of(text, FORM, "Europe/Berlin").isoformat() == instant


def test_a_time_without_an_offset_is_of_the_zone():
    found = instant_of("2026-07-01T02", "%Y-%m-%dT%H", "Europe/Berlin")
    assert found.isoformat() == "2026-07-01T00:00:00+00:00"


@pytest.mark.parametrize("text", ["2026-10-25T02", "2026-10-25T02+2", "%2B", ""])
def test_another_text_is_none(text):
    with pytest.raises(ValueError):
        instant_of(text, FORM, "UTC")
