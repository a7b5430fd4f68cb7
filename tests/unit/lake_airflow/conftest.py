"""Moto's AWS and a task context for the operators of this folder."""

from __future__ import annotations

import logging
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from airflow.providers.amazon.aws.hooks.base_aws import AwsGenericHook
from airflow.providers.amazon.aws.hooks.s3 import S3Hook
from moto import mock_aws

from lake_airflow.emr import clusters
from lake_airflow.operators import submit_stage, terminate_cluster
from tests.unit.lake_airflow.fake_emr import Emr

REGION = "eu-central-1"


class TaskInstance:
    """What operators use of a task instance: its XComs and those of others."""

    def __init__(
        self, task_id: str, store: dict, states: dict, earlier: Any = None
    ) -> None:
        self.task_id = task_id
        self.store = store
        self.states = states
        self.earlier = earlier
        self.succeeded: dict = {}

    def get_task_states(self, dag_id, task_ids, run_ids):
        (run_id,) = run_ids
        return {run_id: {t: s for t, s in self.states.items() if t in task_ids}}

    def get_dr_count(self, *, dag_id, states):
        assert states == ["success"]
        return self.succeeded.get(dag_id, 0)

    def get_ti_count(self, *, dag_id, run_ids, states):
        return 0  # of other runs

    def xcom_push(self, key, value):
        self.store[self.task_id, key] = value

    def xcom_pull(self, task_ids, key="return_value"):
        return self.store.get((task_ids, key))

    def get_previous_dagrun(self, state):
        assert state == "running"
        return self.earlier


class Runner:
    """Executes tasks of one DAG run, one after the other, as a worker would."""

    def __init__(self) -> None:
        self.xcoms: dict = {}
        self.states: dict = {}
        self.run_id = "manual-1"
        self.params: dict = {}
        self.dag_run = SimpleNamespace(run_type="manual", start_date=None)
        self.earlier: Any = None  # a run of the DAG that is under way
        self.succeeded: dict = {}  # how many runs of each DAG did
        self.sees_pauses = False  # whether a pause between looks goes out to the test
        self.tries = (1, 0)  # of each task: the number of the try, and the last one's

    def context(self, task_id: str) -> dict:
        ti = TaskInstance(task_id, self.xcoms, self.states, self.earlier)
        ti.try_number, ti.max_tries = self.tries
        ti.succeeded = self.succeeded
        return {
            "ti": ti,
            "dag_run": self.dag_run,
            "run_id": self.run_id,
            "params": self.params,
        }

    def execute(self, task):
        """A try of a task: Airflow deletes what an earlier one told first."""
        for told in [each for each in self.xcoms if each[0] == task.task_id]:
            del self.xcoms[told]
        if "job_flow_id" in task.template_fields:
            task.job_flow_id = self.xcoms.get(("create_cluster", "return_value"))
        context = self.context(task.task_id)
        result = self._until_done(task, lambda: task.execute(context))
        context["ti"].xcom_push("return_value", result)
        return result

    def wake(self, task, method="execute_complete", **event):
        """What a worker does with a task whose trigger fired."""
        context = self.context(task.task_id)
        act = partial(task.resume_execution, method, event, context)
        return self._until_done(task, act)

    def _until_done(self, task, act):
        """Wake it after each pause, in which EMR moves on; other deferrals go out."""
        context = self.context(task.task_id)
        for _ in range(100):
            try:
                return act()
            except BaseException as deferred:
                if getattr(deferred, "method_name", "") != "follow_again":
                    raise
                if self.sees_pauses:
                    raise
            clusters.time.sleep(0)
            act = partial(task.resume_execution, "follow_again", {}, context)
        raise AssertionError("the task looks again and again")


def logged(caplog, capsys) -> str:
    """What was logged, in whichever of its ways Airflow does that."""
    return caplog.text + capsys.readouterr().out


@lru_cache(maxsize=None)
def client(service: str):
    """One client per service: making one costs more than most tests."""
    return boto3.client(service, region_name=REGION)


@lru_cache(maxsize=None)
def resource(service: str):
    return boto3.resource(service, region_name=REGION)


@pytest.fixture
def aws(monkeypatch):
    """An AWS account in memory with the bucket of the environment."""
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")  # 0.2 s per test
    monkeypatch.setattr(
        AwsGenericHook, "get_client_type", lambda hook, **_: client(hook.client_type)
    )
    monkeypatch.setattr(S3Hook, "resource", resource("s3"))
    with mock_aws():
        s3 = client("s3")
        s3.create_bucket(
            Bucket="lake", CreateBucketConfiguration={"LocationConstraint": REGION}
        )
        yield s3


@pytest.fixture
def emr(aws, monkeypatch):
    """EMR whose steps move on each time that somebody sleeps."""
    cloud = Emr(REGION)
    for module in (terminate_cluster, clusters, submit_stage):
        monkeypatch.setattr(module.time, "sleep", lambda seconds: cloud.move_on())
    return cloud


@pytest.fixture
def runner():
    return Runner()


@pytest.fixture
def quiet(monkeypatch):
    """Hooks that find a connection, and logs that nobody reads: for simulators."""
    connection = "aws://?region_name=eu-central-1"
    monkeypatch.setenv("AIRFLOW_CONN_AWS_DEFAULT", connection)
    # Airflow looks for it in each of its places whenever a hook is asked for something.
    found_once = staticmethod(lru_cache(AwsGenericHook.get_connection))
    monkeypatch.setattr(AwsGenericHook, "get_connection", found_once)
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def topic(aws):
    return client("sns").create_topic(Name="sales-runs")["TopicArn"]
