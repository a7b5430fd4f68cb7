"""Two Airflows on one environment, and a run that Airflow has left alone."""

import json
from datetime import datetime, timedelta, timezone

import pytest

from lake_airflow.emr.clusters import IDLE, tags_of
from lake_airflow.operators import create_cluster as first_task
from lake_airflow.runs import lease
from lake_airflow.operators.terminate_cluster import TerminateCluster
from lake_airflow.reporting.notifier import RunNotifier
from lake_airflow.runs.run_tasks import run_name
from lake_airflow.settings import airflow_name
from tests.unit.lake_airflow.conftest import Runner, client, logged
from tests.unit.lake_airflow.first_task import create_cluster
from tests.unit.lake_airflow.specs import ENVIRONMENT, dag_plan

PLAN, OTHER = dag_plan("full_load"), dag_plan("incremental")
RUN_ID = "scheduled__2026-11-21T10:00:00+00:00"


def defers(runner, task):
    with pytest.raises(BaseException) as deferred:
        runner.execute(task)
    assert type(deferred.value).__name__ == "TaskDeferred"


def terminate():
    return TerminateCluster(
        task_id="terminate_cluster",
        plan=PLAN,
        environment=ENVIRONMENT,
        poll_seconds=300,
    )


@pytest.fixture
def airflow(monkeypatch):
    """From now on the code runs in the Airflow of that name; its run."""
    runs = {}

    def airflow(name):
        monkeypatch.setenv("AIRFLOW_ENV_NAME", name)
        runs.setdefault(name, Runner()).run_id = RUN_ID
        return runs[name]

    return airflow


def holder(aws):
    found = aws.get_object(Bucket="lake", Key="runs/leases/sales.json")
    return json.loads(found["Body"].read())["holder"]


def test_the_same_run_of_another_airflow_waits_for_the_lease(aws, emr, airflow):
    blue = airflow("blue")
    blue.execute(create_cluster(PLAN))
    assert holder(aws).endswith("--blue")
    defers(airflow("green"), create_cluster(PLAN))
    (cluster,) = emr.clusters
    assert cluster.name.endswith("--blue")
    described = client("emr").describe_cluster(ClusterId=cluster.id)["Cluster"]
    assert tags_of(described)["lake:airflow"] == "blue"


def test_the_end_of_a_run_leaves_the_same_run_of_another_airflow_alone(
    aws, emr, airflow
):
    blue = airflow("blue")
    blue.execute(create_cluster(PLAN))
    lease.DomainLease(ENVIRONMENT, "sales", aws_conn_id=None).release(holder(aws))
    green = airflow("green")
    green.execute(create_cluster(PLAN))
    airflow("blue")
    blue.execute(terminate())
    assert [each.state == "TERMINATED" for each in emr.clusters] == [True, False]
    assert holder(aws).endswith("--green")


@pytest.mark.parametrize(
    "environ, name",
    [
        ({}, ""),
        ({"AIRFLOW_ENV_NAME": "prod-2"}, "prod-2"),
        ({"AIRFLOW_ENV_NAME": "prod-2", "LAKE_AIRFLOW": "blue"}, "blue"),
        ({"AIRFLOW_ENV_NAME": "prod-2", "LAKE_AIRFLOW": ""}, ""),
    ],
)
def test_mwaa_names_its_airflow_and_a_variable_of_ours_goes_before_it(environ, name):
    assert airflow_name(environ) == name


def test_names_of_airflows_that_are_no_part_of_a_key_are_told_apart():
    names = [airflow_name({"LAKE_AIRFLOW": each}) for each in ("a b", "a/b", "a" * 80)]
    assert len(set(names)) == 3 and max(map(len, names)) <= 40


def test_a_run_under_way_keeps_its_name_when_the_release_changes(runner, monkeypatch):
    runner.xcoms["create_cluster", "run"] = {"key": "of-before", "run_id": RUN_ID}
    runner.run_id = RUN_ID
    monkeypatch.setenv("AIRFLOW_ENV_NAME", "blue")
    assert run_name(PLAN, runner.context("done")) == "sales_full_load/of-before"
    notifier = RunNotifier(PLAN, ENVIRONMENT, runner.context("done"))
    assert notifier.run == "sales_full_load/of-before"


@pytest.fixture
def left_alone(emr, runner):
    """The cluster of a run that has the lease and goes on no more."""
    runner.execute(create_cluster(PLAN))
    (cluster,) = emr.clusters
    cluster.state = "WAITING"
    return cluster


def after(monkeypatch, time):
    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(timezone.utc) + time

    for module in (first_task, lease):
        monkeypatch.setattr(module, "datetime", Clock)


@pytest.mark.parametrize(
    "time, is_ended",
    [(IDLE + timedelta(minutes=1), True), (IDLE - timedelta(minutes=1), False)],
)
def test_who_waits_for_a_run_that_goes_on_no_more_ends_its_cluster(
    aws, left_alone, monkeypatch, caplog, capsys, time, is_ended
):
    waits = Runner()
    waits.run_id = "manual-2"
    after(monkeypatch, time)
    defers(waits, create_cluster(OTHER))
    assert (left_alone.state == "TERMINATED") == is_ended
    assert (
        "its run manual-1 has submitted no step" in logged(caplog, capsys)
    ) == is_ended
    if is_ended:
        waits.execute(create_cluster(OTHER))
        assert holder(aws) == "sales_incremental/manual-2"


def test_who_cannot_ask_about_the_other_cluster_waits_on(left_alone, monkeypatch):
    waits = Runner()
    waits.run_id = "manual-2"
    after(monkeypatch, IDLE * 2)

    def fails(*_):
        raise OSError("no connection")

    monkeypatch.setattr(first_task, "idle", fails)
    defers(waits, create_cluster(OTHER))
    assert left_alone.state != "TERMINATED"
