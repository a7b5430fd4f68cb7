"""What people want to hear of a table although nothing failed, from its reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Optional

from lake_airflow.planning.plan import DagPlan, Watched
from lake_airflow.planning.run_options import FULL_LOAD, INCREMENTAL, REDO
from lake_airflow.reporting.reports import Report, Reports
from lake_spec.model import Event
from lake_spec.model.continuous import CONTINUOUS

INGESTING = (FULL_LOAD, INCREMENTAL, REDO, CONTINUOUS)
"""Stages whose reports tell the newest file of a table and all of its bad rows."""


@dataclass(frozen=True)
class Finding:
    """One such thing: which event it is, of which table, in words."""

    event: Event
    table: str
    words: str


def findings(plan: DagPlan, reports: Reports, now: datetime) -> Iterator[Finding]:
    """What the ingesting stages of a run have to tell; nothing of a dry run."""
    watched = dict(plan.watched)
    for (stage, table), report in reports.items():
        if stage not in INGESTING or report.get("state") not in ("done", "nothing_new"):
            continue
        if words := _too_many_bad(report, watched[table].warn_share):
            yield Finding(Event.QUARANTINE, table, words)
        if words := _late(report, watched[table], now):
            yield Finding(Event.LATE_SOURCE, table, words)


def _too_many_bad(report: Report, limit: Optional[float]) -> Optional[str]:
    bad, rows = report.get("quarantined", 0), report.get("rows_in", 0)
    if limit is None or bad <= limit * rows:
        return None
    return (
        f"{bad:,} of {rows:,} rows are in the quarantine ({bad / rows:.2%}),"
        f" quarantine.warn_share is {limit:.2%}"
    )


def _late(report: Report, watched: Watched, now: datetime) -> Optional[str]:
    hours = watched.late_after_hours
    if hours is None or "newest_input" not in report:
        return None
    newest = report["newest_input"]
    if newest is None:
        return f"source is late: no file yet, expected every {hours:g} h"
    landed = datetime.fromisoformat(newest)
    if now - landed <= timedelta(hours=hours):
        return None
    return (
        f"source is late: newest file of {landed:%Y-%m-%d %H:%M} UTC,"
        f" expected every {hours:g} h"
    )
