"""When the source of a table is late: one answer for summaries of runs and for pages."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Optional


def late_from(hours: Optional[float], newest: Optional[datetime]) -> Optional[datetime]:
    """Return from when on a source is late; None without a limit or a file.

    Args:
        hours: `source.late_after_hours` of the table.
        newest: when its newest file landed.
    """
    if hours is None or newest is None:
        return None
    return newest + timedelta(hours=hours)


def why_late(
    hours: Optional[float], newest: Optional[datetime], now: datetime
) -> Optional[str]:
    """Return in words why a source is late; None where it is not, or has no limit.

    Args:
        hours: `source.late_after_hours` of the table.
        newest: when its newest file landed; None where a run looked and there was none,
            which is late at once.
    """
    if hours is None:
        return None
    limit = f"expected every {hours:g} h (source.late_after_hours)"
    since = late_from(hours, newest)
    if newest is None or since is None:
        return f"no file yet, {limit}"
    if now <= since:
        return None
    return (
        f"newest file of {newest.astimezone(timezone.utc):%Y-%m-%d %H:%M} UTC, {limit}"
    )
