"""Times as specs write them: a date, or a date with a time of day."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import Optional

_MOMENT = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}:\d{2})(\.\d{1,6})?(Z|[+-]\d{2}:\d{2})?)?",
    re.ASCII,
)


def parse_moment(text: str) -> Optional[datetime]:
    """The time that a text says, in UTC where it names no zone; else nothing."""
    found = _MOMENT.fullmatch(text)
    if not found:
        return None
    date, time, fraction, zone = found.groups(default="")
    micros = f".{fraction[1:]:0<6}" if fraction else ""
    zone = "+00:00" if zone in ("", "Z") else zone
    try:
        moment = datetime.fromisoformat(f"{date}T{time or '00:00:00'}{micros}{zone}")
        return moment.astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return None
