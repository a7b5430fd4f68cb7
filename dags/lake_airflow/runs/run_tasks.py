"""The tasks of a run: their names, their states, and the run that the first one pinned.

    create_cluster -> stages, one after the other -> summary -> terminate_cluster -> done

The run is checked and pinned by the first task; the others take it from there.
"""

from __future__ import annotations

from typing import Any

from lake_airflow.planning.plan import DagPlan
from lake_airflow.runs.run import Run
from lake_airflow.runs.task_notes import FirstTaskNotes
from lake_airflow.settings import airflow_name
from lake_spec.layout.run_key import any_run_key

SUMMARY_TASK = "summary"
END_TASK = "terminate_cluster"


def pinned_run(context: Any) -> Run:
    """Return the run as the first task checked it. Raises ValueError where it did not."""
    run = pinned_run_if_any(context)
    if run is None:
        raise ValueError("the first task has pinned no run: clear it, then this task")
    return run


def pinned_run_if_any(context: Any) -> Run | None:
    """Return the pinned run; None if the first task did not get so far."""
    pinned = FirstTaskNotes.of_run(context).run
    return Run.from_xcom(pinned) if pinned else None


def run_name(plan: DagPlan, context: Any) -> str:
    """Return the name of a run, also if its id was refused or it is not pinned yet.

    A pinned one has the name that it was pinned with, perhaps by another release.
    """
    run_id = context["run_id"]
    pinned = FirstTaskNotes.of_run(context).run if "ti" in context else None
    if pinned and pinned.get("run_id") == run_id:
        return f"{plan.dag_id}/{pinned['key']}"
    return f"{plan.dag_id}/{any_run_key(run_id, airflow_name())}"


def task_states(context: Any, plan: DagPlan, *tasks: str) -> dict[str, str]:
    """Return the states of these tasks of the run, without those that have none yet."""
    run_id = context["run_id"]
    found = context["ti"].get_task_states(
        dag_id=plan.dag_id, task_ids=list(tasks), run_ids=[run_id]
    )
    states: dict[str, str] = found.get(run_id, {})
    return states
