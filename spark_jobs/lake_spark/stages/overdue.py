"""Whether a table's maintenance is overdue: said by each run that ingests, in its warnings."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Optional

from lake_spec.diagnostics.warnings import WarningId
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.storage.timeline import time_of
from lake_spark.tables.table_run import TableRun

PATIENCE = timedelta(days=8)
"""A weekly maintenance, and a day."""


def warn(run: TableRun, now: Optional[datetime] = None) -> None:
    """Warn where current waits for its cleaning for longer than a week and a day."""
    now = now or datetime.now(timezone.utc)
    keep = run.spec.maintenance.keep_commits
    current = run.hudi("current")
    since = due_since(current, keep)
    if since is None or now - since < PATIENCE:
        return
    waiting = len(current.requested()) - keep
    run.warn(
        WarningId.OVERDUE_MAINTENANCE,
        f"maintenance is due since {since:%Y-%m-%d}: {waiting:,} commit(s) more than"
        f" keep_commits ({keep}) are there with the files that they replaced, and each run"
        f" reads more of them. Run {run.spec.domain}_maintenance, and give it a schedule:"
        f' schedules.maintenance in {run.spec.domain}/_domain.yml, as "0 3 * * 0".',
    )


def due_since(table: HudiTable, keep: int) -> Optional[datetime]:
    """Return since when a cleaning has had something to do; None if it has nothing."""
    commits = table.requested()
    if len(commits) <= keep:
        return None
    cleaned = table.last_clean()
    later = [each for each in commits if each > cleaned]
    waiting = later if cleaned else later[keep:]
    return time_of(table.completed(waiting[0])) if waiting else None
