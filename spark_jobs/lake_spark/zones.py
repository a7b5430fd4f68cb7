"""Times that a source writes without a zone."""

from __future__ import annotations

from datetime import datetime, timezone
from zoneinfo import ZoneInfo


def as_utc(moment: datetime, zone: str) -> datetime:
    """The moment in UTC; one without a zone is of the named one."""
    if moment.tzinfo is None:
        local = timezone.utc if zone == "UTC" else ZoneInfo(zone)
        moment = moment.replace(tzinfo=local)
    return moment.astimezone(timezone.utc)
