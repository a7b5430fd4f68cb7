"""The landing files of a run: those of a window, requested or of a backfill.

A run of Airflow's backfill is about one past interval, after the earlier ones. Airflow
starts several of them at once, as many as its user allows, whatever `max_active_runs` of
the DAG says. Here each waits for the earlier ones, for a snapshot that comes after a
newer one is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Optional

from lake_spec.run_options.window import WINDOW

_BACKFILL = "backfill"  # Airflow's run type

Interval = tuple[datetime, datetime]


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


def window_params(
    params: Mapping[str, Any], interval: Optional[Interval], faults: list[str]
) -> Mapping[str, str]:
    """Return the interval of a backfill's run as params of a window; none of other runs.

    A window that was given besides is a fault.
    """
    if interval is None:
        return {}
    if any(params.get(name) is not None for name in WINDOW):
        faults.append(
            "window: a run of a backfill ingests the files of its own interval. "
            "Remove window_from and window_to from the backfill's configuration."
        )
    bounds = (each.isoformat() for each in interval)
    return dict(zip(WINDOW, bounds))
