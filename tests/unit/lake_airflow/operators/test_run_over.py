"""A run that is over beside a living cluster, as marks with Downstream leave it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError

from lake_airflow.emr.clusters import ClusterFinder
from lake_airflow.operators.run_over import RunOver
from lake_airflow.runs.ends import Ends
from lake_airflow.runs.files import RunFiles
from lake_airflow.runs.lease import DomainLease
from lake_spec.model import Notifications
from tests.unit.lake_airflow.first_task import create_cluster
from tests.unit.lake_airflow.notifications import sent, subjects
from tests.unit.lake_airflow.specs import ENVIRONMENT, dag_plan, domain

RUN = "sales_full_load/manual-1"


@pytest.fixture
def over(emr, topic):
    """The callback, as Airflow calls it a minute after the run is over."""
    plan = dag_plan("full_load", domain(notifications=Notifications(topic)))

    def over(reason="success", *, later=timedelta(minutes=1)):
        ended = datetime.now(timezone.utc) + later
        told = SimpleNamespace(clear_number=0, end_date=ended)
        RunOver(plan, ENVIRONMENT)(
            {"run_id": "manual-1", "reason": reason, "dag_run": told}
        )

    over.plan = plan
    return over


@pytest.fixture
def left(emr, runner, over):
    """The cluster that the run left, with a step to do."""
    made = runner.execute(create_cluster(over.plan))
    step = {"Name": "full_load manual-1", "HadoopJarStep": {"Jar": "j"}}
    create_cluster(over.plan).hook.conn.add_job_flow_steps(JobFlowId=made, Steps=[step])
    return emr.backend.clusters[made]


def holder():
    return DomainLease(ENVIRONMENT, "sales", aws_conn_id=None).since(RUN)


@pytest.mark.parametrize("reason", ["success", "task_failure"])
def test_its_cluster_is_ended_and_its_topic_told_once(left, over, topic, reason):
    over(reason)
    over(reason)
    assert left.state == "TERMINATED" and holder() is None
    ((subject, text, _),) = sent(topic)
    assert subject == "sales_full_load: failed"
    assert f"Cluster {left.id} still lived when the run was over" in text
    assert "pending or running: full_load manual-1. terminate_cluster did not" in text
    assert ("marked as success by hand" in text) is (reason == "success")
    why = Ends(ENVIRONMENT, RUN, aws_conn_id=None).why(left.id)
    assert why.startswith("Ended by the callback of the run's end at ")


def test_the_lease_stays_as_long_as_the_cluster_ends(left, over, monkeypatch):
    monkeypatch.setattr(
        left, "terminate", lambda: setattr(left, "state", "TERMINATING")
    )
    over()
    assert holder() is not None


def test_a_run_that_was_cleared_since_keeps_its_cluster(left, over, topic):
    over(later=-timedelta(minutes=1))
    assert left.state != "TERMINATED" and holder() is not None


@pytest.mark.parametrize("file", ["summary.json", "plan.json"])
def test_a_run_that_ended_by_its_own_tasks_is_left_as_it_is(over, topic, file):
    RunFiles(ENVIRONMENT, RUN, aws_conn_id=None).write(file, {"state": "succeeded"})
    over()
    assert subjects(topic) == []


def test_a_failure_that_was_marked_before_it_was_told_is_told_once(over, topic):
    files = RunFiles(ENVIRONMENT, RUN, aws_conn_id=None)
    files.write("summary.json", {"state": "failed", "causes": ["sales.orders: x"]})
    over()
    over()
    ((_, text, _),) = sent(topic)
    assert "FAILED sales.orders: x" in text and "marked as success by hand" in text


def test_a_green_run_without_any_report_is_told(over, topic):
    over()
    ((_, text, _),) = sent(topic)
    assert "FAILED The run is green in Airflow, but did not report that it succ" in text


def test_the_topic_is_told_also_where_emr_cannot_be_asked(over, topic, monkeypatch):
    def refuse(*_):
        raise ClientError({"Error": {"Code": "ThrottlingException"}}, "ListClusters")

    monkeypatch.setattr(ClusterFinder, "living", refuse)
    with pytest.raises(ClientError):
        over("timed_out")
    assert subjects(topic) == ["sales_full_load: failed"]
