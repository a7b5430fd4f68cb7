"""Nights in which the clocks of twelve zones are set, forward and back."""

from __future__ import annotations

CHANGES = [  # UTC, of the moment at which the clock is set
    ("Europe/Vienna", "2026-03-29T01:00", "2026-10-25T01:00"),
    ("Europe/London", "2026-03-29T01:00", "2026-10-25T01:00"),
    ("Europe/Chisinau", "2026-03-29T00:00", "2026-10-25T00:00"),
    ("America/New_York", "2026-03-08T07:00", "2026-11-01T06:00"),
    ("America/St_Johns", "2026-03-08T05:30", "2026-11-01T04:30"),
    ("America/Havana", "2026-03-08T05:00", "2026-11-01T05:00"),
    ("America/Santiago", "2026-09-06T04:00", "2026-04-05T03:00"),
    ("Asia/Beirut", "2026-03-28T22:00", "2026-10-24T21:00"),
    ("Africa/Cairo", "2026-04-23T22:00", "2026-10-29T21:00"),
    ("Australia/Sydney", "2026-10-03T16:00", "2026-04-04T16:00"),
    ("Australia/Lord_Howe", "2026-10-03T15:30", "2026-04-04T15:00"),
    ("Pacific/Auckland", "2026-09-26T14:00", "2026-04-04T14:00"),
]
NIGHTS = [(zone, night) for zone, *nights in CHANGES for night in nights]
