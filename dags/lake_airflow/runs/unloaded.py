"""Whether a schedule started a run of a domain of which nothing was ever loaded.

Airflow starts a run as soon as a DAG with a schedule is unpaused, also before the full load.
"""

from __future__ import annotations

from typing import Any

from lake_airflow.planning.plan import DagPlan
from lake_airflow.runs.lease import DomainLease
from lake_spec.layout.dag_names import FULL_LOAD, INCREMENTAL
from lake_spec.layout.stage_tables import MAINTENANCE
from lake_spec.model.continuous import CONTINUOUS

_BY_SCHEDULE = "scheduled"  # Airflow's run type


def is_unloaded(plan: DagPlan, lease: DomainLease, context: Any) -> bool:
    """Return whether the run comes before any full load; False where that is not known.

    Every run that gets a cluster takes the lease first, and its object stays. Where that
    was lost, Airflow knows the runs that succeeded. What somebody started or cleared is
    wanted.
    """
    run, loading = context["dag_run"], _loading(plan)
    is_wanted = run.run_type != _BY_SCHEDULE or getattr(run, "clear_number", 0)
    if not loading or is_wanted or lease.was_taken():
        return False
    succeeded = (
        context["ti"].get_dr_count(dag_id=dag_id, states=["success"])
        for dag_id in loading
    )
    return not any(succeeded)


def _loading(plan: DagPlan) -> tuple[str, ...]:
    """Return the DAGs of which one has to be done first; none where none has to."""
    if plan.kind == MAINTENANCE:
        kinds = (FULL_LOAD, INCREMENTAL, CONTINUOUS)
        return tuple(f"{plan.domain}_{kind}" for kind in kinds)
    return (plan.loaded_by, plan.dag_id) if plan.loaded_by else ()


def what_to_do(plan: DagPlan) -> str:
    """Return why such a run is refused, and what to start instead."""
    return (
        f"a schedule started it, and nothing of {plan.domain} has been loaded yet. Start "
        f"{plan.loaded_by}; once it has ended, the next run takes what has landed "
        "meanwhile. If the sources send no full load, start "
        f"{plan.domain}_{INCREMENTAL} once."
    )
