"""Whether a schedule started a run of a domain of which nothing was ever loaded.

Airflow starts a run as soon as a DAG with a schedule is unpaused, also before the full load.
"""

from __future__ import annotations

from typing import Any

from lake_airflow.planning.plan import DagPlan
from lake_airflow.runs.lease import DomainLease
from lake_spec.contract.run_options import INCREMENTAL

_BY_SCHEDULE = "scheduled"  # Airflow's run type


def is_unloaded(plan: DagPlan, lease: DomainLease, context: Any) -> bool:
    """Return whether the run comes before any full load; False where that is not known.

    Every run that gets a cluster takes the lease first, and its object stays. Where that
    was lost, Airflow knows the runs that succeeded. What somebody started or cleared is
    wanted.
    """
    run = context["dag_run"]
    is_wanted = run.run_type != _BY_SCHEDULE or getattr(run, "clear_number", 0)
    if plan.loaded_by is None or is_wanted or lease.was_taken():
        return False
    succeeded = (
        context["ti"].get_dr_count(dag_id=dag_id, states=["success"])
        for dag_id in (plan.loaded_by, plan.dag_id)
    )
    return not any(succeeded)


def what_to_do(plan: DagPlan) -> str:
    """Return why such a run is refused, and what to start instead."""
    return (
        f"a schedule started it, and nothing of {plan.domain} has been loaded yet. Start "
        f"{plan.loaded_by}; once it has ended, the next run takes what has landed "
        "meanwhile. If the sources send no full load, start "
        f"{plan.domain}_{INCREMENTAL} once."
    )
