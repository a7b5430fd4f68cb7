"""What a run of Airflow's backfill is: one past interval, after the earlier ones.

Airflow starts several runs of a backfill at once, as many as its user allows,
whatever `max_active_runs` of the DAG says. Here each waits for the earlier ones,
for an extract that comes after a newer one is refused.
"""

from __future__ import annotations

from typing import Any, Optional

from lake_airflow.runs.window import Interval

_BACKFILL = "backfill"  # Airflow's run type


def interval_of(context: Any) -> Optional[Interval]:
    """The interval that a backfill run is about; None for a run of another kind."""
    run = context["dag_run"]
    if run.run_type != _BACKFILL:
        return None
    return run.data_interval_start, run.data_interval_end


def earlier_run(context: Any) -> Optional[str]:
    """The id of a run that a backfill run comes after and that is under way."""
    if interval_of(context) is None:
        return None
    found = context["ti"].get_previous_dagrun(state="running")
    return found.run_id if found else None
