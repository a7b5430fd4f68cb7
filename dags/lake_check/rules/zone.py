"""Names of time zones."""

from __future__ import annotations

import re
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from lake_spec.diagnostics.suggestions import did_you_mean

_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}")


@lru_cache(maxsize=256)
def is_zone(name: str) -> bool:
    """Return whether the time-zone database has the name; UTC needs no database."""
    if name == "UTC":
        return True
    if not _ZONE.fullmatch(name):
        return False
    try:
        return bool(ZoneInfo(name).key)
    except (OSError, ValueError, KeyError):
        return False


def zone_hint(name: str) -> str:
    """Suggest names from the machine's own time-zone database."""
    hint = did_you_mean(name, sorted(available_timezones()))
    return f"{hint}Name a zone of the tz database, as in UTC or Europe/Berlin."
