"""Times as people write them, as Hudi's instants and as instants of a business."""

from __future__ import annotations

import re
from datetime import datetime

from lake_spec.text.times import GRAMMAR, parse_moment

_INSTANT = re.compile(r"\d{14}(\d{3})?")


def instant(text: str) -> str:
    """A commit's own instant, or a date or time (UTC if no zone), in 17 digits.

    Raises ValueError for anything else.
    """
    if _INSTANT.fullmatch(text):
        datetime.strptime(text[:14], "%Y%m%d%H%M%S")
        return text.ljust(17, "0")
    moment = utc(text)
    return f"{moment:%Y%m%d%H%M%S}{moment.microsecond // 1000:03d}"


def utc(text: str) -> datetime:
    """Return a date or time in UTC; one without a zone is UTC. Raises ValueError."""
    moment = parse_moment(text)
    if moment is None:
        raise ValueError(f"{text!r} is no time (expected {GRAMMAR})")
    return moment


def readable(digits: str) -> str:
    """An instant as people read it: `2026-01-31 06:30:00.123`."""
    moment = datetime.strptime(digits[:14], "%Y%m%d%H%M%S")
    return f"{moment:%Y-%m-%d %H:%M:%S}.{digits[14:17] or '000'}"
