"""Continuous runs on Airflow's side: their DAG, their limit, and who asks them to stop."""

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from lake_airflow.dag_builder import Renderer
from lake_airflow.emr.steps import spark_step
from lake_airflow.operators.create_cluster import LONGEST_WAIT
from lake_airflow.operators.submit_stage import SubmitStage
from lake_airflow.planning.plan import DagPlan, Stage, AlertThresholds, plan
from lake_airflow.reporting.reports import lacks_report
from lake_airflow.reporting.summary import summarise
from lake_airflow.runs.files import RunFiles
from lake_airflow.runs.run import RunRefused, check_run
from lake_spec.model import Continuous, Schedules
from tests.unit.lake_airflow.first_task import create_cluster
from tests.unit.lake_airflow.specs import (
    CLUSTER,
    ENVIRONMENT,
    RELEASE,
    dag_plan,
    dimension,
    domain,
    run,
    table,
)

SPEC = domain(
    table("orders"),
    table("customers"),
    dimension("dim", "orders", "customers"),
    continuous=Continuous(every_seconds=30, hours=12),
    schedules=Schedules(continuous="*/10 * * * *"),
)
ALL = ("orders", "customers", "dim")
PLAN = dag_plan("continuous", SPEC)
HOLDER = "sales_continuous/manual-1"
STOP = "runs/sales_continuous/manual-1/stop"
NOW = datetime(2026, 11, 21, tzinfo=timezone.utc)


def test_a_domain_has_the_dag_only_if_it_says_so():
    assert "continuous" not in {each.kind for each in plan(domain())}
    assert PLAN == DagPlan(
        dag_id="sales_continuous",
        kind="continuous",
        description=(
            "Continuous ingestion of sales: up to the history, then " "maintenance"
        ),
        domain="sales",
        owner="sales-data",
        cluster="standard",
        tags=("lake", "sales", "continuous"),
        tables=ALL,
        stages=(Stage("continuous", ALL, hours=13), Stage("maintenance", ALL)),
        schedule="*/10 * * * *",
        loaded_by="sales_full_load",
        params=("tables", "plan_only", "dry_run"),
        watched=tuple((name, AlertThresholds()) for name in ALL),
    )


@pytest.mark.parametrize("hours, limit", [(0.01, 8), (6, 8), (7.5, 8.5), (20, 21)])
def test_its_stage_may_take_an_hour_more_than_the_run_and_no_less_than_others(
    hours, limit
):
    planned = dag_plan("continuous", domain(continuous=Continuous(hours=hours)))
    task = SubmitStage(
        task_id="continuous",
        plan=planned,
        stage=planned.stages[0],
        environment=ENVIRONMENT,
        start_minutes=40,
        poll_seconds=30,
    )
    assert task.limit == timedelta(hours=limit)
    assert task.waiter_max_attempts == limit * 120
    assert planned.stages[1].hours == 8


def rendered():
    renderer = Renderer(
        SPEC,
        cluster=CLUSTER,
        environment=ENVIRONMENT,
        release=RELEASE,
        poll_seconds=15,
    )
    return renderer.dag(PLAN)


def test_airflow_takes_the_dag_and_gives_it_the_time_of_its_stages():
    dag = rendered()
    dag.validate()
    assert dag.schedule == "*/10 * * * *"
    assert (dag.max_active_runs, dag.catchup) == (1, False)
    assert dag.dagrun_timeout == LONGEST_WAIT + timedelta(hours=13 + 8 + 2)


def test_its_form_has_no_window_and_a_dry_run_that_reads_the_files():
    params = rendered().params
    assert set(params) == {"tables", "plan_only", "dry_run"}
    told = params.get_param("dry_run").description
    assert told.startswith("Read the files on a cluster")


def test_a_window_is_refused_by_name():
    asked = {"run_id": "manual-1", "params": {"window_from": None}, "release": RELEASE}
    with pytest.raises(RunRefused, match="'window_from': unknown param"):
        check_run(PLAN, **asked)


def test_its_step_is_one_for_all_tables():
    step = spark_step(PLAN, PLAN.stages[0], run=run(PLAN), environment=ENVIRONMENT)
    argv = step["HadoopJarStep"]["Args"]
    assert argv[-4:] == ["--stage", "continuous", "--run", HOLDER]


def asked(aws):
    """What the run that has the lease was asked, if it was."""
    if "Contents" not in aws.list_objects_v2(Bucket="lake", Prefix=STOP):
        return None
    return json.loads(aws.get_object(Bucket="lake", Key=STOP)["Body"].read())


def waits(runner, planned, run_id="manual-2"):
    """Start another run, which must be deferred; its task."""
    runner.run_id, task = run_id, create_cluster(planned)
    with pytest.raises(BaseException) as deferred:
        runner.execute(task)
    assert type(deferred.value).__name__ == "TaskDeferred"
    return task


@pytest.mark.parametrize(
    "kind", ["full_load", "incremental", "reprocess", "maintenance", "rebuild", "erase"]
)
def test_a_run_of_any_other_dag_asks_it_to_stop_and_waits(aws, emr, runner, kind):
    runner.execute(create_cluster(PLAN))
    assert asked(aws) is None
    runner.params = {"files": ["a"]} if kind == "reprocess" else {}
    runner.params = {"request": "gdpr-7"} if kind == "erase" else runner.params
    waits(runner, dag_plan(kind, SPEC))
    found = asked(aws)
    assert found.pop("at")
    assert found == {"by": f"sales_{kind}/manual-2"}
    assert len(emr.clusters) == 1


def test_a_run_that_looks_again_asks_again(aws, emr, runner):
    runner.execute(create_cluster(PLAN))
    task = waits(runner, dag_plan("incremental", SPEC))
    aws.delete_object(Bucket="lake", Key=STOP)  # its step had not begun yet
    with pytest.raises(BaseException):
        runner.wake(task, "execute_again")
    assert asked(aws)["by"] == "sales_incremental/manual-2"


def test_a_continuous_run_asks_no_other_one(aws, emr, runner):
    runner.execute(create_cluster(PLAN))
    waits(runner, PLAN)
    assert asked(aws) is None


def test_runs_that_end_by_themselves_are_asked_for_nothing(aws, emr, runner):
    runner.execute(create_cluster(dag_plan("full_load", SPEC)))
    waits(runner, PLAN)
    found = aws.list_objects_v2(Bucket="lake", Prefix="runs/sales_")
    assert "Contents" not in found


def test_who_cannot_ask_waits_all_the_same(aws, emr, runner, monkeypatch):
    runner.execute(create_cluster(PLAN))
    with monkeypatch.context() as broken:
        broken.setattr(RunFiles, "write", lambda *_: 1 / 0)
        task = waits(runner, dag_plan("incremental", SPEC))
    emr.clusters[0].state = "TERMINATED"
    lease = {"holder": HOLDER, "since": "2026-01-01T00:00:00+00:00"}
    body = json.dumps(lease).encode()
    aws.put_object(Bucket="lake", Key="runs/leases/sales.json", Body=body)
    assert runner.wake(task, "execute_again") == emr.clusters[1].id


def reports(**changes):
    found = {("continuous", name): {"state": "done"} for name in ALL}
    found |= {("maintenance", name): {"state": "done"} for name in ALL}
    found["continuous", "orders"] = {"state": "done", "rows_in": 7, **changes}
    return found


def summary(found, state="COMPLETED"):
    end = {"name": "continuous manual-1", "id": "s-1", "state": state, "reason": "why"}
    steps = {"continuous": [end], "maintenance": [{"state": "COMPLETED", "name": "m"}]}
    return summarise(PLAN, run(PLAN), steps=steps, reports=found, now=NOW)


def test_its_tables_are_told_by_one_line_each():
    found = summary(reports(state="done"))
    assert (found.state, found.causes) == ("succeeded", ())
    lines = [line.split()[:4] for line in found.to_lines()]
    assert ["continuous", "orders", "done", "7"] in lines


def test_a_report_of_a_run_that_broke_off_is_no_end():
    """A step that crashes leaves the reports of its last round: no green by them."""
    so_far = reports(
        state="running",
        set_aside=[{"path": "b.csv", "type": "WrongTypes", "reason": "bad"}],
    )
    found = summary(so_far, state="FAILED")
    assert found.causes == (
        "sales.orders continuous: set aside: WrongTypes: b.csv: bad",
        "sales.orders continuous: no report: the stage did not finish this table.",
        "sales continuous: step s-1 'continuous manual-1' FAILED: why",
    )
    assert summary(so_far).state == "failed"
    assert lacks_report(PLAN.stages[0], run(PLAN), so_far)
    assert not lacks_report(PLAN.stages[0], run(PLAN), reports())


def test_late_sources_and_bad_rows_are_found_by_its_reports():
    watched = replace(PLAN, watched=tuple((n, AlertThresholds(1, 0.1)) for n in ALL))
    found = reports(newest_input="2026-11-20T00:00:00+00:00", quarantined=2)
    steps = {s.name: [{"state": "COMPLETED", "name": "m"}] for s in PLAN.stages}
    told = summarise(watched, run(PLAN), steps=steps, reports=found, now=NOW)
    assert (told.late_sources, told.over_warn_share) == (("orders",), ("orders",))
