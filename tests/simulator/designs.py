"""How a run's tasks are wired: as our DAGs are, and as the provider's example is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Callable, Dict, FrozenSet, Optional, Tuple

from airflow.providers.amazon.aws.operators.emr import (
    EmrAddStepsOperator,
    EmrCreateJobFlowOperator,
    EmrTerminateJobFlowOperator,
)
from airflow.providers.amazon.aws.sensors.emr import EmrStepSensor

from lake_airflow.dag_builder import Renderer
from lake_airflow.emr.job_flow import run_job_flow_request
from lake_airflow.emr.steps import spark_step
from lake_airflow.planning.plan import DagPlan
from lake_airflow.runs.run import check_run
from lake_spec.layout.dag_names import CREATE_TASK
from lake_spec.model import DomainSpec, EnvironmentSpec
from tests.unit.lake_airflow.specs import CLUSTER, ENVIRONMENT, RELEASE, domain

States = Dict[str, str]


@dataclass(frozen=True)
class Design:
    """Tasks in their order, which of them Airflow would run, and what clears go to.

    `runs` tells by the states so far whether a task is run; `teardowns` run also
    after the run was marked as failed, and `verdict` is the task whose state is
    the run's, if it is not red for any red task.
    """

    tasks: Dict[str, Any]
    runs: Callable[[str, States], bool]
    stages: Tuple[str, ...]
    teardowns: FrozenSet[str]
    verdict: str
    has_reaper: bool
    prepare: Callable[[Any, str], None] = lambda task, run_id: None
    on_failure: Optional[Callable[[Any], None]] = None
    on_success: Optional[Callable[[Any], None]] = None


def ours(
    plan: DagPlan,
    spec: DomainSpec = domain(),
    environment: EnvironmentSpec = ENVIRONMENT,
) -> Design:
    """The DAG that users get."""
    renderer = Renderer(
        spec,
        cluster=CLUSTER,
        environment=environment,
        release=RELEASE,
        poll_seconds=15,
    )
    dag = renderer.dag(plan)
    tasks = {
        task.task_id: task
        for task in dag.topological_sort()
        if task.task_id != "announce_changes"
    }
    stages = tuple(stage.name for stage in plan.stages)
    teardowns = frozenset(name for name, task in tasks.items() if task.is_teardown)

    def runs(name: str, states: States) -> bool:
        # What follows a setup is run only if that succeeded, but for its ends.
        first = name == CREATE_TASK
        return first or name in teardowns or states[CREATE_TASK] == "success"

    return Design(
        tasks,
        runs,
        stages,
        teardowns,
        "done",
        has_reaper=True,
        on_failure=dag.on_failure_callback,
        on_success=dag.on_success_callback,
    )


def stock(plan: DagPlan) -> Design:
    """The provider's operators, wired as its example does: all steps, then a sensor."""
    on_aws = {"region_name": ENVIRONMENT.region, "aws_conn_id": "aws_default"}
    common = {**on_aws, "retries": 2}
    of_cluster = {**common, "job_flow_id": ""}
    made = (
        EmrCreateJobFlowOperator(task_id=CREATE_TASK, emr_conn_id=None, **common),
        EmrAddStepsOperator(task_id="add_steps", **of_cluster),
        EmrStepSensor(task_id="watch_step", step_id="", **of_cluster),
        EmrTerminateJobFlowOperator(
            task_id="terminate", trigger_rule="all_done", **of_cluster
        ),
    )
    tasks = {task.task_id: task for task in made}
    order = list(tasks)

    def runs(name: str, states: States) -> bool:
        before = order[: order.index(name)]
        return name == "terminate" or all(states[b] == "success" for b in before)

    stages, prepare = ("add_steps",), partial(_prepare, plan)
    return Design(tasks, runs, stages, frozenset(), "terminate", False, prepare)


def _prepare(plan: DagPlan, task: Any, run_id: str) -> None:
    """What the example's author would have written into the tasks."""
    run = check_run(plan, run_id=run_id, params={}, release=RELEASE)
    where = {"run": run, "environment": ENVIRONMENT}
    if task.task_id == CREATE_TASK:
        request = run_job_flow_request(plan, cluster=CLUSTER, **where)
        task.job_flow_overrides = request
    if task.task_id == "add_steps":
        task.steps = [spark_step(plan, stage, **where) for stage in plan.stages]
