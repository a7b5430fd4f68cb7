"""One DAG with a streamer, its cluster and its stages, for tests of stage tasks."""

from __future__ import annotations

import pytest

from lake_airflow.operators.submit_stage import SubmitStage, SubmitStreamer
from lake_spec.model import Engine
from tests.unit.lake_airflow.first_task import create_cluster
from tests.unit.lake_airflow.specs import (
    ENVIRONMENT,
    dag_plan,
    domain,
    table,
)

STREAMED = [f"s{number:02}" for number in range(12)]
PLAN = dag_plan(
    "full_load",
    domain(table("orders"), *(table(name, Engine.STREAMER) for name in STREAMED)),
)


def made_cluster(emr, runner):
    """The cluster of the run."""
    runner.execute(create_cluster(PLAN))
    return emr.clusters[0]


def stage(name, *, defers=False):
    (found,) = [each for each in PLAN.stages if each.name == name]
    cls = SubmitStreamer if name == "streamer" else SubmitStage
    task = cls(
        task_id=name,
        plan=PLAN,
        stage=found,
        environment=ENVIRONMENT,
        start_minutes=40,
        poll_seconds=1,
    )
    task.can_defer = lambda: defers
    return task


def deferred(runner, act):
    """The trigger that a task defers to."""
    with pytest.raises(BaseException) as caught:
        act()
    assert type(caught.value).__name__ == "TaskDeferred"
    return caught.value.trigger
