"""Parses times as people write them, and formats Hudi's instants."""

from __future__ import annotations

import re
from datetime import datetime

from lake_spec.text.times import GRAMMAR, parse_timestamp

_INSTANT = re.compile(r"\d{14}(\d{3})?")


def instant(text: str) -> str:
    """Return a commit's own instant, or a date or time (UTC if no zone), in 17 digits.

    Raises ValueError for anything else.
    """
    if _INSTANT.fullmatch(text):
        datetime.strptime(text[:14], "%Y%m%d%H%M%S")
        return text.ljust(17, "0")
    timestamp = utc(text)
    return f"{timestamp:%Y%m%d%H%M%S}{timestamp.microsecond // 1000:03d}"


def utc(text: str) -> datetime:
    """Return a date or time in UTC; one without a zone is UTC. Raises ValueError."""
    timestamp = parse_timestamp(text)
    if timestamp is None:
        raise ValueError(f"not a valid timestamp: {text!r} (expected {GRAMMAR})")
    return timestamp


def readable(digits: str) -> str:
    """Return an instant as people read it: `2026-01-31 06:30:00.123`."""
    timestamp = datetime.strptime(digits[:14], "%Y%m%d%H%M%S")
    return f"{timestamp:%Y-%m-%d %H:%M:%S}.{digits[14:17] or '000'}"
