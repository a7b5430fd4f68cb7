"""Which landing files a run takes: those of a window, asked for or of a backfill."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Optional

from lake_airflow.planning.run_options import WINDOW
from lake_spec.diagnostics.diagnostic import shown
from lake_spec.text.times import GRAMMAR, parse_moment

Interval = tuple[datetime, datetime]

_SECOND_ZONE = re.compile(r"Z:00\+00:00\Z")


def checked_window(
    params: Mapping[str, Any], interval: Optional[Interval], faults: list[str]
) -> Optional[str]:
    """The window as `<from>..<to>` in UTC; None is all that is not taken yet.

    `interval` is that of a backfill's run. What cannot be is added to `faults`.
    """
    texts = [params.get(name) for name in WINDOW]
    if all(text is None for text in texts):
        return _span(*interval, faults) if interval else None
    if interval:
        faults.append(
            "window: a run of a backfill takes the files of its own interval. Leave"
            " window_from and window_to out of the backfill's configuration."
        )
        return None
    if any(text is None for text in texts):
        faults.append("window: give both window_from and window_to, or neither.")
        return None
    times = [_time(name, text, faults) for name, text in zip(WINDOW, texts)]
    return None if None in times else _span(*times, faults)


def _span(start: datetime, end: datetime, faults: list[str]) -> str:
    if end <= start:
        faults.append(
            f"window: window_to {_text(end)} is not after window_from {_text(start)}."
            " A window runs from its first moment up to, not including, its last."
        )
    return f"{_text(start)}..{_text(end)}"


def _time(name: str, text: Any, faults: list[str]) -> Optional[datetime]:
    """Return the time in UTC; a text without a zone is UTC.

    Behind what is picked as a time, the form of Airflow 3.0 writes one more zone.
    """
    is_text = isinstance(text, str)
    moment = parse_moment(_SECOND_ZONE.sub("Z", text)) if is_text else None
    if moment is None:
        faults.append(
            f"{name}: got {shown(text)}. Give a time such as 2026-01-31T00:00:00Z"
            f" ({GRAMMAR})."
        )
    return moment


def _text(moment: datetime) -> str:
    return moment.astimezone(timezone.utc).replace(tzinfo=None).isoformat() + "Z"
