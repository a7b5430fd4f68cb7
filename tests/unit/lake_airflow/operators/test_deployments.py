"""Two deployments whose environments have one name: neither takes or ends what the other made."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from lake_airflow.compat import AirflowSkipException
from lake_airflow.emr.clusters import ClusterFinder, tags_of
from lake_airflow.operators.reaper import TerminateOrphans
from lake_airflow.operators.terminate_cluster import TerminateCluster
from lake_airflow.reporting.cost_ledger import Ledger
from lake_spec.platform.deployment import DEPLOYMENT_TAG
from tests.unit.lake_airflow.conftest import Runner, client
from tests.unit.lake_airflow.first_task import create_cluster
from tests.unit.lake_airflow.specs import ENVIRONMENT, dag_plan

PLAN = dag_plan("full_load")
LOGS = f"{ENVIRONMENT.logs}/sales_full_load/manual-1/"
NEIGHBOUR = replace(ENVIRONMENT, runs="s3://neighbour/runs")
DAYS = timedelta(days=5)


class NoRun:
    """An Airflow in which no run is active."""

    def get_dr_count(self, **_):
        return 0

    def get_ti_count(self, **_):
        return 0


@pytest.fixture
def made(emr, runner):
    """A cluster of the run manual-1 of this deployment, changed to another one's."""

    def made(*, tag, age=timedelta(hours=1), logs=LOGS):
        runner.execute(create_cluster(PLAN))
        cluster = emr.clusters[-1]
        backend = emr.backend.clusters[cluster.id]
        backend.log_uri = logs
        if tag is None:
            backend.remove_tags([DEPLOYMENT_TAG])
        else:
            backend.add_tags({DEPLOYMENT_TAG: tag})
        backend.creation_datetime = datetime.now(timezone.utc) - age
        return cluster

    return made


def reap(environment=ENVIRONMENT):
    task = TerminateOrphans(task_id="end_leftovers", environment=environment)
    return task.execute({"ti": NoRun()})


@pytest.mark.parametrize("age", [timedelta(hours=1), DAYS])
def test_the_reaper_ends_no_cluster_of_another_deployment(made, age):
    cluster = made(tag="0123456789abcdef", age=age)
    assert reap() == [] and cluster.state != "TERMINATED"


@pytest.mark.parametrize("logs", [LOGS, None])
@pytest.mark.parametrize("age", [timedelta(hours=1), DAYS])
def test_the_reaper_ends_one_that_a_release_before_made(made, age, logs):
    cluster = made(tag=None, age=age, logs=logs)
    assert reap() == [cluster.id]


def test_the_reaper_ends_none_of_a_release_before_whose_logs_lie_elsewhere(made):
    cluster = made(tag=None, age=DAYS, logs="s3://lake/logs-of-others/")
    assert reap() == [] and cluster.state != "TERMINATED"


def test_a_cluster_has_the_tag_of_its_deployment(emr, runner):
    runner.execute(create_cluster(PLAN))
    (cluster,) = emr.clusters
    described = client("emr").describe_cluster(ClusterId=cluster.id)["Cluster"]
    assert tags_of(described)[DEPLOYMENT_TAG] == "838da9417255941c"
    assert reap(NEIGHBOUR) == []


def test_a_run_adopts_no_cluster_of_the_same_run_of_another_deployment(
    aws, emr, made, runner
):
    theirs = made(tag="0123456789abcdef")
    ours = runner.execute(create_cluster(PLAN))
    assert ours != theirs.id and len(emr.clusters) == 2


def test_a_run_finds_the_cluster_that_the_release_before_made_for_it(emr, made, runner):
    before = made(tag=None)
    assert runner.execute(create_cluster(PLAN)) == before.id
    assert len(emr.clusters) == 1


def test_the_end_of_a_run_leaves_the_same_run_of_another_deployment_alone(made):
    theirs = made(tag="0123456789abcdef")
    again = Runner()
    again.run_id = "manual-1"
    task = TerminateCluster(
        task_id="terminate_cluster",
        plan=PLAN,
        environment=ENVIRONMENT,
        poll_seconds=300,
    )
    with pytest.raises(AirflowSkipException, match="The run has no cluster"):
        again.execute(task)
    assert theirs.state != "TERMINATED"


def test_a_lease_is_not_held_by_the_cluster_of_another_deployment(made):
    theirs = made(tag="0123456789abcdef")
    name = client("emr").describe_cluster(ClusterId=theirs.id)["Cluster"]["Name"]
    assert ClusterFinder(client("emr"), ENVIRONMENT).find(name) == []


def test_the_ledger_notes_no_cluster_of_another_deployment(aws, made):
    theirs = made(tag="0123456789abcdef")
    assert Ledger(ENVIRONMENT, aws_conn_id=None).note(theirs.id) is None
