"""Parse times as people write them: in specs, forms, arguments and commands.

One grammar for all of them. Times in landing files follow the same one, and may also leave
zeros out (`2026-2-3 1:02`) and name a zone (`Europe/Vienna`): lake_spark.schema.timestamps.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import Optional

GRAMMAR = "YYYY-MM-DD or YYYY-MM-DDTHH:MM[:SS[.ffffff]][Z or +HH:MM]"
"""Accepted forms of a time, for messages."""

_TIMESTAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})"
    r"(?:[ T](\d{2}:\d{2})(:\d{2})?(\.\d{1,6})?(Z|[+-]\d{2}:\d{2})?)?",
    re.ASCII,
)


def parse_timestamp(text: str) -> Optional[datetime]:
    """Parse a timestamp, in UTC if it has no zone; None if it is not valid."""
    found = _TIMESTAMP.fullmatch(text)
    if not found:
        return None
    date, time, seconds, fraction, zone = found.groups(default="")
    if fraction and not seconds:
        return None
    clock = f"{time or '00:00'}{seconds or ':00'}"
    micros = f".{fraction[1:]:0<6}" if fraction else ""
    zone = "+00:00" if zone in ("", "Z") else zone
    try:
        timestamp = datetime.fromisoformat(f"{date}T{clock}{micros}{zone}")
        return timestamp.astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return None
