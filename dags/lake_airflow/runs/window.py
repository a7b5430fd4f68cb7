"""The landing files of a run: those of a window, requested or of a backfill.

A run of Airflow's backfill is about one past interval, after the earlier ones. Airflow
starts several of them at once, as many as its user allows, whatever `max_active_runs` of
the DAG says. Here each waits for the earlier ones, for a snapshot that comes after a
newer one is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Optional

from lake_spec.contract.run_options import WINDOW
from lake_spec.diagnostics.diagnostic import shown
from lake_spec.text.times import GRAMMAR, parse_timestamp

_BACKFILL = "backfill"  # Airflow's run type

Interval = tuple[datetime, datetime]

_SECOND_ZONE = re.compile(r"Z:00\+00:00\Z")


def interval_of(context: Any) -> Optional[Interval]:
    """Return the interval of a backfill run; None for a run of another kind."""
    run = context["dag_run"]
    if run.run_type != _BACKFILL:
        return None
    return run.data_interval_start, run.data_interval_end


def earlier_run(context: Any) -> Optional[str]:
    """Return the id of a running run that a backfill run has to wait for."""
    if interval_of(context) is None:
        return None
    found = context["ti"].get_previous_dagrun(state="running")
    return found.run_id if found else None


def checked_window(
    params: Mapping[str, Any], interval: Optional[Interval], faults: list[str]
) -> Optional[str]:
    """Return the window as `<from>..<to>` in UTC; None for all new files.

    `interval` is that of a backfill's run. What cannot be is added to `faults`.
    """
    texts = [params.get(name) for name in WINDOW]
    if all(text is None for text in texts):
        return _span(*interval, faults) if interval else None
    if interval:
        faults.append(
            "window: a run of a backfill ingests the files of its own interval. "
            "Remove window_from and window_to from the backfill's configuration."
        )
        return None
    if any(text is None for text in texts):
        faults.append("window: give both window_from and window_to, or neither.")
        return None
    start, end = (_time(name, text, faults) for name, text in zip(WINDOW, texts))
    return None if start is None or end is None else _span(start, end, faults)


def _span(start: datetime, end: datetime, faults: list[str]) -> str:
    if end <= start:
        faults.append(
            f"window: window_to {_text(end)} is not after window_from {_text(start)}. "
            "A window includes its first timestamp and excludes its last."
        )
    return f"{_text(start)}..{_text(end)}"


def _time(name: str, text: Any, faults: list[str]) -> Optional[datetime]:
    """Return the time in UTC; a text without a zone is UTC.

    Behind what is picked as a time, the form of Airflow 3.0 writes one more zone.
    """
    is_text = isinstance(text, str)
    timestamp = parse_timestamp(_SECOND_ZONE.sub("Z", text)) if is_text else None
    if timestamp is None:
        faults.append(
            f"{name}: not a valid timestamp: {shown(text)} (expected {GRAMMAR}, such "
            "as 2026-01-31T00:00:00Z)."
        )
    return timestamp


def _text(timestamp: datetime) -> str:
    return timestamp.astimezone(timezone.utc).replace(tzinfo=None).isoformat() + "Z"
