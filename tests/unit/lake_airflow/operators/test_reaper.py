"""Clusters whose run is over, and those that are too old, are ended; no others."""

from __future__ import annotations

import inspect
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance
from botocore.exceptions import ClientError

from lake_airflow.emr.clusters import AT_WORK, IDLE
from lake_airflow.emr.job_flow import run_job_flow_request
from lake_airflow.operators.reaper import TerminateOrphans, LeftOver, reaper
from lake_airflow.runs.ends import Ends
from lake_airflow.runs.run import check_run
from lake_spec.layout.run_key import run_key
from tests.unit.lake_airflow.conftest import client, logged
from tests.unit.lake_airflow.specs import CLUSTER, ENVIRONMENT, RELEASE, dag_plan

PLAN = dag_plan("incremental")
RUN_ID = "scheduled__2026-01-01T00:00:00+00:00"


@pytest.mark.parametrize("name", ["get_dr_count", "get_ti_count"])
def test_airflow_can_be_asked_for_other_runs(name):
    asked = inspect.signature(getattr(RuntimeTaskInstance, name))
    asked.bind(dag_id="sales_incremental", run_ids=["manual-1"], states=["running"])


class TaskInstance:
    """Airflow's answer to whether runs are active."""

    def __init__(self, *active, at_work=0):
        self.active, self.at_work = set(active), at_work

    def get_dr_count(self, *, dag_id, run_ids, states):
        assert states == ["queued", "running"]
        found = self.active if run_ids is None else self.active.intersection(run_ids)
        return len(found) if dag_id == PLAN.dag_id else 0

    def get_ti_count(self, *, dag_id, run_ids, states):
        assert (dag_id, states) == (PLAN.dag_id, AT_WORK)
        at_work = self.at_work() if callable(self.at_work) else self.at_work
        return at_work if self.active.intersection(run_ids) else 0


@pytest.fixture
def make(emr):
    """Make the cluster of a run, as old as asked for."""

    def make(age, *, run_id=RUN_ID, environment=ENVIRONMENT):
        run = check_run(PLAN, run_id=run_id, params={}, release=RELEASE)
        request = run_job_flow_request(
            PLAN, run=run, cluster=CLUSTER, environment=environment
        )
        made = client("emr").run_job_flow(**request)["JobFlowId"]
        cluster = emr.backend.clusters[made]
        cluster.creation_datetime = datetime.now(timezone.utc) - age
        return cluster

    return make


def reap(*active, at_work=0):
    task = TerminateOrphans(task_id="end_leftovers", environment=ENVIRONMENT)
    return task.execute({"ti": TaskInstance(*active, at_work=at_work)})


HOUR = timedelta(hours=1)


def test_the_cluster_of_a_run_that_is_over_is_ended(make):
    left, wanted = make(HOUR), make(HOUR, run_id="manual-2")
    assert reap("manual-2") == [left.id]
    assert (left.state, wanted.state == "TERMINATED") == ("TERMINATED", False)


def test_the_run_is_told_who_ended_its_cluster(make):
    left = make(HOUR).id
    reap()
    name = f"{PLAN.dag_id}/{run_key(RUN_ID)}"
    why = Ends(ENVIRONMENT, name, aws_conn_id=None).why("s-1", left)
    assert why.startswith("Ended by lake_reaper at ")
    assert why.endswith(f": its run {run_key(RUN_ID)} has ended")


def test_a_task_that_airflow_forgets_while_it_restarts_keeps_no_cluster():
    assert "restarting" not in AT_WORK


def test_another_run_of_the_same_dag_does_not_keep_it(make):
    assert reap("manual-2") == [] and make(HOUR)
    assert len(reap("manual-2")) == 1


def test_a_young_cluster_is_left_alone(make):
    make(timedelta(minutes=5))
    assert reap() == []


@pytest.mark.parametrize("hours, is_ended", [(23, False), (25, True)])
def test_a_cluster_older_than_declared_is_ended_also_in_its_run(make, hours, is_ended):
    cluster = make(timedelta(hours=hours))
    assert reap(RUN_ID) == ([cluster.id] if is_ended else [])


def test_clusters_of_others_are_left_alone(emr, make):
    make(HOUR, environment=replace(ENVIRONMENT, name="prod"))
    instances = {"InstanceCount": 1, "MasterInstanceType": "m7g.xlarge"}
    client("emr").run_job_flow(
        Name="lake sales_incremental x", Instances=instances, JobFlowRole="r"
    )
    assert reap() == []


def test_a_run_whose_id_fits_no_tag_goes_by_its_dag(make):
    cluster = make(HOUR, run_id="manual|7")
    assert reap("any other") == []
    assert reap() == [cluster.id]


@pytest.fixture
def left_alone(emr, make):
    """A cluster whose only step ended that long ago, and whose run is still active."""

    def left_alone(ago, state="COMPLETED"):
        cluster = make(timedelta(hours=2))
        step = {"Name": "x", "HadoopJarStep": {"Jar": "command-runner.jar"}}
        client("emr").add_job_flow_steps(JobFlowId=cluster.id, Steps=[step])
        ended = datetime.now(timezone.utc) - ago
        cluster.ready_datetime = cluster.creation_datetime
        cluster.state = "WAITING"
        (step,) = cluster.steps
        step.state = state
        step.creation_date_time = step.start_date_time = step.end_date_time = ended
        return cluster

    return left_alone


def test_a_cluster_whose_active_run_has_no_step_for_it_is_ended(
    left_alone, caplog, capsys
):
    cluster = left_alone(IDLE + timedelta(minutes=1))
    assert reap(RUN_ID) == [cluster.id]
    assert f"its run {run_key(RUN_ID)} has submitted no step" in logged(caplog, capsys)


@pytest.mark.parametrize(
    "ago, state",
    [(IDLE - timedelta(minutes=1), "COMPLETED"), (IDLE * 3, "RUNNING")],
    ids=["step just ended", "step works"],
)
def test_a_cluster_that_an_active_run_uses_is_left_alone(left_alone, ago, state):
    left_alone(ago, state)
    assert reap(RUN_ID) == []


def test_a_cluster_of_a_run_whose_task_sleeps_is_left_alone(left_alone):
    # Its trigger was lost, or AWS gave it no answer: it is there before long.
    left_alone(IDLE * 2)
    assert reap(RUN_ID, at_work=1) == []


def test_a_cluster_of_a_run_between_two_tasks_is_left_alone(left_alone):
    # AWS gave no answer for long, the stage's task ended just now, the next one is due.
    left_alone(IDLE * 2)
    assert reap(RUN_ID, at_work=iter([0, 1]).__next__) == []


def test_a_second_cluster_of_a_run_at_work_is_ended_where_it_never_had_a_step(
    left_alone,
):
    cluster = left_alone(IDLE * 2)
    cluster.steps.clear()
    assert reap(RUN_ID, at_work=1) == [cluster.id]


@pytest.mark.parametrize("hours, is_ended", [(2, False), (25, True)])
def test_clusters_of_another_airflow_are_ended_by_age_alone(
    make, monkeypatch, hours, is_ended
):
    monkeypatch.setenv("AIRFLOW_ENV_NAME", "blue")
    cluster = make(timedelta(hours=hours))
    monkeypatch.setenv("AIRFLOW_ENV_NAME", "green")
    assert reap() == ([cluster.id] if is_ended else [])
    monkeypatch.setenv("AIRFLOW_ENV_NAME", "blue")
    assert reap() == ([] if is_ended else [cluster.id])


def test_clusters_of_other_names_are_not_asked_about(emr, monkeypatch):
    instances = {"InstanceCount": 1, "MasterInstanceType": "m7g.xlarge"}
    for name in ("spark", "lakehouse"):
        client("emr").run_job_flow(Name=name, Instances=instances, JobFlowRole="r")
    asked = []
    monkeypatch.setattr(
        client("emr"), "describe_cluster", lambda ClusterId: asked.append(ClusterId)
    )
    assert reap() == [] and asked == []


def test_what_cannot_be_ended_fails_the_task_by_name_after_all_others(
    emr, make, monkeypatch
):
    stuck, other = make(HOUR), make(HOUR, run_id="manual-2")
    terminate = emr.backend.terminate_job_flows

    def refuse(ids):
        if ids == [stuck.id]:
            raise ClientError({"Error": {"Code": "Throttling"}}, "TerminateJobFlows")
        return terminate(ids)

    monkeypatch.setattr(emr.backend, "terminate_job_flows", refuse)
    with pytest.raises(LeftOver, match=f"{stuck.id} .*its run .* has ended"):
        reap()
    assert other.state == "TERMINATED"


def test_the_dag_runs_as_the_environment_says():
    topic = "arn:aws:sns:eu-central-1:123456789012:alarms"
    prod = replace(ENVIRONMENT, reaper_schedule="*/15 * * * *", alarm_topic=topic)
    dag = reaper(prod)
    assert (dag.dag_id, dag.schedule) == ("lake_reaper", "*/15 * * * *")
    (notifier,) = [dag.on_failure_callback]
    assert notifier.target_arn == topic
    # Airflow fills it in, as it renders the message.
    assert "The run {{ run_id }} of the DAG lake_reaper failed." in notifier.message
    assert [task.retries for task in dag.tasks] == [3]
    assert reaper(ENVIRONMENT).schedule is None
