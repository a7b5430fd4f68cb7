"""Clusters are found or created once, and are gone when the last task says so."""

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from airflow.providers.amazon.aws.hooks.emr import EmrHook
from airflow.providers.amazon.aws.operators.emr import EmrCreateJobFlowOperator
from botocore.exceptions import ClientError

from lake_airflow.compat import AirflowFailException
from lake_airflow.emr.clusters import ClusterFinder
from lake_airflow.emr.hook import ReplyLost, NonRetryingEmrHook
from lake_airflow.operators.create_cluster import LONGEST_WAIT
from lake_airflow.runs.lease import DomainLease
from lake_airflow.operators.terminate_cluster import TerminateCluster
from lake_airflow.runs.run import Run
from lake_spec.model import Concurrency
from lake_spec.model.instances import InstanceGroups, PrimaryGroup
from tests.unit.lake_airflow.conftest import logged
from tests.unit.lake_airflow.fake_emr import throttled
from tests.unit.lake_airflow.first_task import create_cluster
from tests.unit.lake_airflow.specs import CLUSTER, ENVIRONMENT, RELEASE, dag_plan
from tests.unit.lake_airflow.stages import deferred

PLAN = dag_plan("full_load")


def create(plan=PLAN, **more):
    return create_cluster(plan, **more)


def terminate():
    return TerminateCluster(
        task_id="terminate_cluster",
        plan=PLAN,
        environment=ENVIRONMENT,
        poll_seconds=300,
    )


def test_the_run_is_pinned_and_its_cluster_created(emr, runner):
    runner.params = {"tables": ["orders"], "dry_run": True}
    cluster_id = runner.execute(create())
    (cluster,) = emr.clusters
    assert (cluster.id, cluster.name) == (cluster_id, "lake sales_full_load manual-1")
    pinned = Run.from_xcom(runner.xcoms["create_cluster", "run"])
    assert pinned.token > 0
    assert replace(pinned, token=None) == Run(
        dag_id="sales_full_load",
        key="manual-1",
        release=RELEASE,
        tables=("orders",),
        dry_run=True,
        run_id="manual-1",
    )


def test_what_its_files_must_be_is_pinned_with_the_run(emr, runner):
    """So its steps are compared with its own release, also after a deploy."""
    told = f"lake.zip={'0' * 64}"
    runner.execute(create(sha256=told))
    assert Run.from_xcom(runner.xcoms["create_cluster", "run"]).sha256 == told


def test_a_second_try_finds_the_cluster_of_the_first(emr, runner):
    first = runner.execute(create())
    assert runner.execute(create()) == first
    assert len(emr.clusters) == 1


def test_a_cluster_that_has_ended_is_not_found_again(emr, runner):
    first = runner.execute(create())
    emr.clusters[0].state = "TERMINATED_WITH_ERRORS"
    assert runner.execute(create()) != first


def test_the_cluster_of_another_environment_is_not_ours(emr, runner):
    theirs = runner.execute(create(environment=replace(ENVIRONMENT, name="prod")))
    assert runner.execute(create()) != theirs


@pytest.mark.parametrize(
    "params, release, cause",
    [
        ({"tables": ["nope"]}, RELEASE, "'nope' is not a table of sales"),
        ({}, "unreleased", "The DAGs do not refer to a release yet"),
    ],
    ids=["unknown-table", "no-release"],
)
def test_a_refused_run_has_no_cluster_and_says_why(emr, runner, params, release, cause):
    runner.params = params
    with pytest.raises(AirflowFailException, match=cause):
        runner.execute(create(release=release))
    assert emr.clusters == []
    assert cause in runner.xcoms["create_cluster", "cause"]


def test_a_refused_run_leaves_a_summary_for_who_asks_later(aws, emr, runner):
    with pytest.raises(AirflowFailException):
        runner.execute(create(release="unreleased"))
    key = "runs/sales_full_load/manual-1/summary.json"
    found = json.loads(aws.get_object(Bucket="lake", Key=key)["Body"].read())
    (cause,) = found["causes"]
    assert found["state"] == "failed"
    assert cause.startswith("sales: no cluster was created: The run is refused: ")


def test_a_cluster_that_emr_cannot_take_costs_no_lease(aws, emr, runner):
    """Such as one whose setting the botocore of an older image does not know."""
    nodes = InstanceGroups(primary=PrimaryGroup("m" * 257))
    with pytest.raises(
        AirflowFailException,
        match="The run is refused: the cluster standard cannot be created: "
        "RunJobFlow.Instances.InstanceGroups\\[0\\].InstanceType: got 257 "
        "characters. Choose at most 256. Fix its file",
    ):
        runner.execute(create(cluster=replace(CLUSTER, instances=nodes)))
    assert emr.clusters == []
    listed = aws.list_objects_v2(Bucket="lake", Prefix="runs/leases/")
    assert listed["KeyCount"] == 0


def test_the_cause_survives_where_the_summary_cannot_be_written(aws, emr, runner):
    aws.delete_bucket(Bucket="lake")
    with pytest.raises(
        AirflowFailException, match="The DAGs do not refer to a release yet"
    ):
        runner.execute(create(release="unreleased"))


def holder(aws):
    key = "runs/leases/sales.json"
    return json.loads(aws.get_object(Bucket="lake", Key=key)["Body"].read())["holder"]


def test_a_run_has_the_lease_of_its_domain_until_its_cluster_is_gone(aws, emr, runner):
    runner.execute(create())
    assert holder(aws) == "sales_full_load/manual-1"
    runner.execute(stays_in_the_worker(terminate()))
    assert holder(aws) is None


def test_a_second_run_of_the_domain_waits_without_a_worker(aws, emr, runner):
    runner.execute(create())
    runner.run_id = "manual-2"
    task = create(plan=dag_plan("maintenance"))
    with pytest.raises(BaseException) as deferred:
        runner.execute(task)
    assert type(deferred.value).__name__ == "TaskDeferred"
    assert deferred.value.trigger.serialize()[0].endswith("DateTimeTrigger")
    assert len(emr.clusters) == 1
    runner.run_id = "manual-1"
    runner.execute(stays_in_the_worker(terminate()))
    runner.run_id = "manual-2"
    assert runner.wake(task, deferred.value.method_name) == emr.clusters[1].id
    assert holder(aws) == "sales_maintenance/manual-2"


def test_a_run_of_another_domain_waits_for_a_cluster_of_the_environment_to_end(
    aws, emr, runner, caplog, capsys
):
    limited = replace(ENVIRONMENT, clusters_at_once=1)
    runner.execute(create(environment=limited))
    runner.run_id, plan = "manual-2", replace(PLAN, domain="stock")
    task = create(plan=plan, environment=limited)
    caplog.set_level("INFO")
    deferred(runner, lambda: runner.execute(task))
    assert (
        "test: 1 of 1 clusters (clusters_at_once) are taken, by "
        "sales_full_load/manual-1. Waiting for a cluster to end."
    ) in logged(caplog, capsys)
    assert len(emr.clusters) == 1
    runner.run_id, ends = "manual-1", terminate()
    ends.environment = limited
    runner.execute(stays_in_the_worker(ends))
    runner.run_id = "manual-2"
    assert runner.wake(task, "execute_again") == emr.clusters[1].id


def test_a_run_that_gives_up_waiting_for_a_cluster_frees_its_place(aws, emr, runner):
    limited = replace(ENVIRONMENT, clusters_at_once=1)
    runner.execute(create(environment=limited))
    runner.run_id, plan = "manual-2", replace(PLAN, domain="stock")
    task = create(plan=plan, environment=limited)
    deferred(runner, lambda: runner.execute(task))
    long_ago = datetime.now(timezone.utc) - LONGEST_WAIT - timedelta(minutes=1)
    runner.xcoms["create_cluster", "waits_since"] = long_ago.isoformat()
    with pytest.raises(AirflowFailException, match="waited 12:00:00 for other runs"):
        runner.wake(task, "execute_again")
    key = "runs/cluster_slots.json"
    slots = json.loads(aws.get_object(Bucket="lake", Key=key)["Body"].read())
    assert (list(slots["granted"]), slots["waiting"]) == (
        ["sales_full_load/manual-1"],
        {},
    )


def test_where_declared_a_second_run_is_refused_naming_the_first(aws, emr, runner):
    runner.execute(create())
    runner.run_id = "manual-2"
    refusing = replace(dag_plan("maintenance"), concurrency=Concurrency.REFUSE)
    words = "sales is busy: the run sales_full_load/manual-1 has held its lease since"
    with pytest.raises(AirflowFailException, match=words):
        runner.execute(create(plan=refusing))
    assert holder(aws) == "sales_full_load/manual-1"
    assert len(emr.clusters) == 1


def test_without_a_cluster_the_lease_is_given_back(aws, emr, runner, monkeypatch):
    def refused(*_):
        raise ClientError({"Error": {"Code": "ValidationException"}}, "RunJobFlow")

    monkeypatch.setattr(EmrCreateJobFlowOperator, "execute", refused)
    with pytest.raises(ClientError):
        runner.execute(create())
    assert holder(aws) is None


@pytest.mark.parametrize(
    "asks, deed",
    [(ClusterFinder, "find"), (DomainLease, "take")],
    ids=["EMR, for its cluster", "S3, for the lease"],
)
def test_where_aws_does_not_answer_the_first_task_comes_again(
    aws, emr, runner, monkeypatch, asks, deed
):
    asked, fails = getattr(asks, deed), [throttled()] * 8

    def fails_first(self, *args, **named):
        if fails:
            raise fails.pop()
        return asked(self, *args, **named)

    monkeypatch.setattr(asks, deed, fails_first)
    task = create()
    for act in [lambda: runner.execute(task)] + [
        lambda: runner.wake(task, "execute_again")
    ] * 7:
        deferred(runner, act)
    assert runner.wake(task, "execute_again") == emr.clusters[0].id
    assert ("create_cluster", "cause") not in runner.xcoms
    assert len(emr.clusters) == 1


def test_where_aws_does_not_answer_for_hours_the_lease_is_given_back(
    aws, emr, runner, monkeypatch
):
    def fails(*_):
        raise throttled()

    monkeypatch.setattr(EmrCreateJobFlowOperator, "execute", fails)
    task = create()
    deferred(runner, lambda: runner.execute(task))
    runner.xcoms["create_cluster", "reads_fail_since"] = "2020-01-01T00:00:00+00:00"
    with pytest.raises(ClientError, match="Rate exceeded"):
        runner.wake(task, "execute_again")
    assert holder(aws) is None
    assert "Rate exceeded" in runner.xcoms["create_cluster", "cause"]
    # Airflow 3.0 lets the next try begin in the same method, with the XComs of before.
    runner.tries = (2, 2)
    deferred(runner, lambda: runner.wake(create(), "execute_again"))
    assert runner.xcoms["create_cluster", "reads_fail_since"] > "2026"
    assert runner.xcoms["create_cluster", "cause"] is None


def lost(made):
    """EMR does, or does not, what it is asked for, and nobody hears of it."""

    def run_job_flow(hook, request):
        if made:
            EmrHook.create_job_flow(hook, request)
        raise ReplyLost("run_job_flow: no reply of EMR")

    return run_job_flow


def test_a_cluster_of_a_lost_reply_is_found(emr, runner, monkeypatch):
    monkeypatch.setattr(NonRetryingEmrHook, "create_job_flow", lost(made=True))
    found = runner.execute(create())
    assert [each.id for each in emr.clusters] == [found]


def test_a_request_that_never_arrived_fails_the_try(aws, emr, runner, monkeypatch):
    monkeypatch.setattr(NonRetryingEmrHook, "create_job_flow", lost(made=False))
    with pytest.raises(ReplyLost):
        runner.execute(create())
    assert (emr.clusters, holder(aws)) == ([], None)


def test_a_lease_that_cannot_be_given_back_does_not_fail_the_end(
    aws, emr, runner, monkeypatch
):
    runner.execute(create())
    monkeypatch.setattr(DomainLease, "release", lambda *_: 1 / 0)
    runner.execute(stays_in_the_worker(terminate()))


def test_a_cluster_is_ended_if_the_task_fails_after_creating_it(
    emr, runner, monkeypatch
):
    def lost(**_):
        raise ClientError({"Error": {"Code": "AccessDenied"}}, "DescribeCluster")

    task = create()
    monkeypatch.setattr(
        "airflow.providers.amazon.aws.operators.emr.EmrClusterLink.persist", lost
    )
    with pytest.raises(ClientError):
        runner.execute(task)
    assert [cluster.state for cluster in emr.clusters] == ["TERMINATED"]
    assert "AccessDenied" in runner.xcoms["create_cluster", "cause"]


@pytest.mark.parametrize("state", ["TERMINATED", "TERMINATED_WITH_ERRORS"])
def test_a_cluster_is_gone_however_it_ended(emr, runner, state):
    runner.execute(create())
    emr.backend.terminate_job_flows = lambda ids: None
    emr.clusters[0].state = state
    runner.execute(stays_in_the_worker(terminate()))


def test_terminating_waits_until_the_cluster_is_gone(emr, runner, monkeypatch):
    runner.execute(create())
    (cluster,) = emr.clusters
    monkeypatch.setattr(
        cluster, "terminate", lambda: setattr(cluster, "state", "TERMINATING")
    )
    runner.execute(stays_in_the_worker(terminate()))
    assert cluster.state == "TERMINATED"


def test_a_cluster_that_ends_slowly_is_awaited_by_a_trigger(emr, runner, monkeypatch):
    runner.execute(create())
    monkeypatch.setattr(emr.clusters[0], "terminate", lambda: None)
    monkeypatch.setattr(emr, "move_on", lambda: None)
    task = terminate()
    task.can_defer = lambda: True
    with pytest.raises(BaseException) as deferred:
        runner.execute(task)
    assert type(deferred.value).__name__ == "TaskDeferred"
    assert deferred.value.trigger.serialize()[0].endswith("EmrTerminateJobFlowTrigger")


def stays_in_the_worker(task):
    task.can_defer = lambda: False
    return task


def test_a_process_that_airflow_ends_leaves_its_cluster_to_the_next_try(emr, runner):
    task = create_cluster(PLAN)
    made = runner.execute(task)
    task.on_kill()
    assert runner.execute(create_cluster(PLAN)) == made
    assert len(emr.clusters) == 1
