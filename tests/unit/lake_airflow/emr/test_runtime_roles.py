"""Steps run as the role that the environment has for their domain."""

from dataclasses import replace

import pytest

from lake_airflow.emr.hook import NonRetryingEmrHook
from lake_airflow.operators.submit_stage import SubmitStage
from tests.unit.lake_airflow.first_task import create_cluster
from tests.unit.lake_airflow.specs import ENVIRONMENT, dag_plan

PLAN = dag_plan("full_load")
ALL, SALES, HR = (
    f"arn:aws:iam::111122223333:role/{name}" for name in ("all", "sales", "hr")
)


@pytest.mark.parametrize(
    "roles, wanted",
    [
        ({}, None),
        ({"runtime_role": ALL}, ALL),
        ({"runtime_role": ALL, "runtime_roles": (("sales", SALES),)}, SALES),
        ({"runtime_role": ALL, "runtime_roles": (("hr", HR),)}, ALL),
    ],
    ids=["none", "of all", "of the domain", "of another domain"],
)
def test_steps_run_as_the_role_of_their_domain(emr, runner, monkeypatch, roles, wanted):
    asked = []
    send = NonRetryingEmrHook.add_job_flow_steps

    def record(hook, *args, **kwargs):
        asked.append(kwargs["execution_role_arn"])
        return send(hook, *args, **kwargs)

    monkeypatch.setattr(NonRetryingEmrHook, "add_job_flow_steps", record)
    shared = {"plan": PLAN, "environment": replace(ENVIRONMENT, **roles)}
    runner.execute(create_cluster(**shared))
    (stage,) = [each for each in PLAN.stages if each.name == "full_load"]
    task = SubmitStage(
        task_id=stage.name, stage=stage, start_minutes=40, poll_seconds=1, **shared
    )
    task.can_defer = lambda: False
    runner.execute(task)
    assert asked == [wanted]
