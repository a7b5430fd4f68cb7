"""What the first task does before there is a cluster: wait for its turn, tell the plan,
refuse what EMR would refuse."""

import json
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import pytest

from lake_airflow.compat import AirflowFailException, AirflowSkipException
from lake_airflow.operators.create_cluster import LONGEST_WAIT
from lake_airflow.runs.run import Run
from tests.unit.lake_airflow.first_task import create_cluster
from tests.unit.lake_airflow.specs import dag_plan

PLAN = dag_plan("full_load")


def create(plan=PLAN):
    return create_cluster(plan)


def leases(aws):
    """How many leases there are."""
    return aws.list_objects_v2(Bucket="lake", Prefix="runs/leases/")["KeyCount"]


def backfill(runner, start="2026-03-01T00:00Z", end="2026-03-02T00:00Z"):
    """Makes the run one of a backfill, about an interval."""
    runner.dag_run = SimpleNamespace(
        run_type="backfill",
        start_date=None,
        data_interval_start=datetime.fromisoformat(start),
        data_interval_end=datetime.fromisoformat(end),
    )


def test_the_interval_of_a_backfills_run_is_its_window(emr, runner):
    backfill(runner, end="2026-03-02T02:00+02:00")
    runner.execute(create())
    pinned = Run.from_xcom(runner.xcoms["create_cluster", "run"])
    assert pinned.window == "2026-03-01T00:00:00Z..2026-03-02T00:00:00Z"


def test_a_run_of_a_backfill_waits_for_an_earlier_run_before_it_takes_the_lease(
    aws, emr, runner
):
    backfill(runner)
    runner.earlier = SimpleNamespace(run_id="backfill__2026-02-28")
    task = create()
    with pytest.raises(BaseException) as waiting:
        runner.execute(task)
    assert type(waiting.value).__name__ == "TaskDeferred"
    assert not emr.clusters and not leases(aws)
    runner.earlier = None
    assert runner.wake(task, "execute_again") == emr.clusters[0].id


@pytest.mark.parametrize("margin, ends", [(-60, False), (60, True)])
def test_a_run_ends_its_waiting_long_before_airflow_ends_the_run(
    aws, emr, runner, margin, ends
):
    backfill(runner)
    waited = LONGEST_WAIT + timedelta(seconds=margin)
    runner.earlier = SimpleNamespace(run_id="backfill__2026-02-28")
    task, since = create(), datetime.now(timezone.utc) - waited
    # However long ago the run began: one that is cleared keeps that.
    runner.dag_run.start_date = since - LONGEST_WAIT
    with pytest.raises(BaseException) as waiting:
        runner.execute(task)
    assert type(waiting.value).__name__ == "TaskDeferred"
    runner.xcoms["create_cluster", "waits_since"] = since.isoformat()
    with pytest.raises(BaseException) as waiting:
        runner.wake(task, "execute_again")
    assert (type(waiting.value).__name__ == "TaskDeferred") is not ends
    assert ("waited 12:00:00" in str(waiting.value)) is ends
    assert not emr.clusters and not leases(aws)


def test_a_run_of_a_backfill_that_has_its_cluster_waits_for_no_earlier_one(emr, runner):
    backfill(runner)
    made = runner.execute(create())
    runner.earlier = SimpleNamespace(run_id="backfill__2026-02-28")  # it was cleared
    assert runner.execute(create()) == made


def test_other_runs_wait_for_no_earlier_one(emr, runner):
    runner.earlier = SimpleNamespace(run_id="scheduled__2026-02-28")
    assert runner.execute(create()) == emr.clusters[0].id


def test_a_run_that_only_plans_asks_emr_for_nothing(aws, emr, runner):
    runner.params = {"plan_only": True, "tables": ["orders"]}
    with pytest.raises(AirflowSkipException, match="Plan only"):
        runner.execute(create())
    assert not emr.clusters and not leases(aws)
    body = aws.get_object(Bucket="lake", Key="runs/sales_full_load/manual-1/plan.json")
    told = json.loads(body["Body"].read())
    assert told["run_job_flow"]["Name"] == "lake sales_full_load manual-1"
    assert told["tables"] == {"full_load": ["orders"], "scd2": ["orders"]}
    argv = told["steps"]["scd2"][0]["HadoopJarStep"]["Args"]
    assert argv[-2:] == ["--tables", "orders"]


def test_arguments_that_emr_would_not_take_are_refused_before_there_is_a_cluster(
    emr, runner
):
    runner.params = {"files": [f"{n}{'x' * 1000}" for n in range(11)]}
    refused = "The run is refused: step 'reprocess manual-1': its arguments have 11"
    with pytest.raises(AirflowFailException, match=refused):
        runner.execute(create(plan=dag_plan("reprocess")))
    assert not emr.clusters
