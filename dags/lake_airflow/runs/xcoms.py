"""Values that the tasks of a run pass to each other, by XCom.

    create_cluster -> stages, one after the other -> summary -> terminate_cluster -> done

The run is checked and pinned by the first task; the others take it from there.
"""

from __future__ import annotations

from typing import Any

from lake_airflow.planning.plan import DagPlan
from lake_airflow.runs.run import Run
from lake_airflow.settings import airflow_name
from lake_spec.layout.dag_names import CREATE_TASK
from lake_spec.layout.run_key import any_run_key

SUMMARY_TASK = "summary"
END_TASK = "terminate_cluster"
RUN_XCOM = "run"  # of create_cluster: the pinned run
RELEASE_XCOM = "release"  # of create_cluster: what it runs as, also if it refuses to
CAUSE_XCOM = "cause"  # of create_cluster: why there is no cluster
NO_NEWS_XCOM = "no_news"  # of create_cluster: why this run had nothing to do
COST_XCOM = "minutes"  # of terminate_cluster: cluster minutes by table
STEPS_XCOM = "steps"  # of a stage: how each of its steps ended

# Text, not the task's output: that would make every stage a direct follower of
# the setup task, and Airflow wants those to run only if it succeeded.
CLUSTER_ID = f"{{{{ ti.xcom_pull(task_ids='{CREATE_TASK}') or '' }}}}"


def pinned_run(context: Any) -> Run:
    """Return the run as the first task checked it."""
    return Run.from_xcom(_pulled(context, RUN_XCOM))


def pinned_run_if_any(context: Any) -> Run | None:
    """Return the pinned run; None if the first task did not get so far."""
    return pinned_run(context) if _pulled(context, RUN_XCOM) else None


def reported_cause(context: Any) -> str | None:
    """Return why there is no cluster, if the first task reported it."""
    cause: str | None = _pulled(context, CAUSE_XCOM)
    return cause


def covering_run(context: Any) -> str | None:
    """Return why this run had nothing to do, mostly the run that did it; None if it had."""
    why: str | None = _pulled(context, NO_NEWS_XCOM)
    return why


def _pulled(context: Any, key: str) -> Any:
    return context["ti"].xcom_pull(task_ids=CREATE_TASK, key=key)


def run_name(plan: DagPlan, context: Any) -> str:
    """Return the name of a run, also if its id was refused or it is not pinned yet.

    A pinned one has the name that it was pinned with, perhaps by another release.
    """
    run_id = context["run_id"]
    pinned = _pulled(context, RUN_XCOM) if "ti" in context else None
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
