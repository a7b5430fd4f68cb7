"""A cluster that is gone has an entry: what its minutes were, and whose."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from lake_airflow.emr.job_flow import run_job_flow_request
from lake_airflow.operators.reaper import TerminateOrphans
from lake_airflow.operators.terminate_cluster import TerminateCluster
from lake_airflow.reporting.cost_ledger import Ledger, entry_of, entry_line
from tests.unit.lake_airflow.conftest import client
from tests.unit.lake_airflow.first_task import create_cluster
from tests.unit.lake_airflow.specs import CLUSTER, ENVIRONMENT, dag_plan, run

PLAN = dag_plan("incremental")
BEGIN = datetime(2026, 1, 31, tzinfo=timezone.utc)


def at(minutes):
    return BEGIN + timedelta(minutes=minutes)


def described(ready=9, ended=40):
    times = {"CreationDateTime": BEGIN, "EndDateTime": at(ended)}
    if ready is not None:
        times["ReadyDateTime"] = at(ready)
    return {
        "Id": "j-1",
        "NormalizedInstanceHours": 8,
        "Status": {"State": "TERMINATED", "Timeline": times},
    }


def step(name, began, ended):
    times = {"CreationDateTime": BEGIN}
    if began is not None:
        times["StartDateTime"] = at(began)
    if ended is not None:
        times["EndDateTime"] = at(ended)
    return {"Name": f"{name} manual-1", "Status": {"Timeline": times}}


def instance(began=0, ended=40, **fields):
    times = {"CreationDateTime": at(began), "EndDateTime": at(ended)}
    return {"Status": {"Timeline": times}, **fields}


def typed(kind, market, began=0, ended=40):
    return instance(began, ended, InstanceType=kind, Market=market)


def entry(steps, *, cluster=None, seconds=None, instances=()):
    return entry_of(
        cluster or described(),
        run="sales_incremental/manual-1",
        domain="sales",
        steps=steps,
        instances=instances,
        seconds=seconds or {},
    )


def test_minutes_are_of_the_start_of_work_and_of_idling():
    steps = [step("incremental", 10, 30), step("scd2", 31, 39)]
    found = entry(steps, instances=[instance(), instance(0, 20)])
    assert found["minutes"] == {"start": 9, "busy": 28, "idle": 3, "total": 40}
    assert (found["instances"], found["instance_minutes"]) == (2, 60)
    assert found["normalized_instance_hours"] == 8


def test_a_step_of_several_stages_is_shared_by_the_seconds_of_all_of_them():
    args = ["spark-submit", "--stage", "incremental", "--then", "scd2,dimension"]
    both = {**step("incremental", 10, 30), "Config": {"Args": args}}
    seconds = {"incremental": {"orders": 30.0}, "scd2": {"orders": 10.0}}
    found = entry([both], seconds=seconds)
    assert found["tables"] == {"orders": {"incremental": 15.0, "scd2": 5.0}}


def test_a_step_is_of_the_stages_that_it_was_asked_for_and_not_of_its_task():
    args = ["spark-submit", "--stage", "dimension", "--tables", "dim"]
    later = {**step("incremental", 10, 30), "Config": {"Args": args}}
    found = entry([later], seconds={"dimension": {"dim": 3.0}})
    assert found["tables"] == {"dim": {"dimension": 20.0}}


def test_minutes_of_instances_are_told_by_type_and_market():
    instances = [
        typed("m7g.xlarge", "ON_DEMAND"),
        typed("m7g.xlarge", "ON_DEMAND", 0, 20),
        typed("m7g.xlarge", "SPOT", 10, 20.5),
        typed("r7g.large", "SPOT"),
    ]
    found = entry([], instances=instances)
    assert found["instance_minutes_by_type"] == {
        "m7g.xlarge": {"on_demand": 60, "spot": 10.5},
        "r7g.large": {"spot": 40},
    }
    assert found["instance_minutes"] == 110.5


def test_an_instance_is_billed_for_a_minute_at_least():
    """As one on Spot that is taken back at once; another lived 1.25 minutes."""
    instances = [
        typed("m7g.xlarge", "SPOT", 10, 10.2),
        typed("m7g.xlarge", "SPOT", 10, 11.25),
    ]
    found = entry([], instances=instances)
    assert found["instance_minutes_by_type"] == {"m7g.xlarge": {"spot": 2.25}}
    assert found["instance_minutes"] == 1.45


@pytest.mark.parametrize(
    "fields",
    [{}, {"InstanceType": "m7g.xlarge"}, {"InstanceType": "a", "Market": "BARTER"}],
)
def test_an_instance_without_type_or_market_leaves_the_cluster_without(fields):
    instances = [typed("m7g.xlarge", "ON_DEMAND"), instance(**fields)]
    assert entry([], instances=instances)["instance_minutes_by_type"] is None


def test_a_cluster_without_instances_has_no_minutes_of_any_type():
    assert entry([])["instance_minutes_by_type"] == {}


def test_a_step_is_divided_by_the_seconds_of_its_reports():
    seconds = {"incremental": {"orders": 90.0, "items": 30.0}, "scd2": {"items": 5.0}}
    found = entry([step("incremental", 10, 30), step("scd2", 31, 39)], seconds=seconds)
    assert found["tables"] == {
        "orders": {"incremental": 15},
        "items": {"incremental": 5, "scd2": 8},
    }


def test_steps_that_run_at_once_share_their_time():
    steps = [step("streamer orders", 10, 20), step("streamer items", 10, 30)]
    found = entry(steps)
    assert found["minutes"]["busy"] == 20
    orders, items = (found["tables"][each]["streamer"] for each in ("orders", "items"))
    assert (orders, items) == (6.667, 13.333)


def test_a_step_without_reports_belongs_to_no_table():
    assert entry([step("incremental", 10, 30)])["tables"] == {"-": {"incremental": 20}}


def test_a_step_that_the_end_of_its_cluster_met_ends_there():
    steps = [step("incremental", 10, None), step("scd2", None, None)]
    found = entry(steps, seconds={"incremental": {"orders": 1.0}})
    assert found["tables"] == {"orders": {"incremental": 30}}


def test_a_cluster_that_never_was_ready_only_started():
    found = entry([step("incremental", None, None)], cluster=described(None, 12))
    assert found["minutes"] == {"start": 12, "busy": 0, "idle": 0, "total": 12}
    assert found["tables"] == {}


def test_a_step_that_somebody_added_by_hand_belongs_to_no_table():
    by_hand = {**step("incremental", 10, 30), "Name": "debug"}
    assert entry([by_hand])["tables"] == {"-": {"debug": 20.0}}


def test_the_log_names_the_dearest_tables():
    seconds = {"incremental": {"orders": 90.0, "items": 30.0}}
    assert entry_line(entry([step("incremental", 10, 30)], seconds=seconds)) == (
        "Cluster j-1: 40.0 minutes, 9.0 to start, 20.0 busy, 11.0 idle."
        " orders 15.0. items 5.0."
    )


def entries(aws):
    listed = aws.list_objects_v2(Bucket="lake", Prefix="runs/costs/")
    return {each["Key"]: read(aws, each["Key"]) for each in listed.get("Contents", ())}


def read(aws, key):
    return json.loads(aws.get_object(Bucket="lake", Key=key)["Body"].read())


def play(runner, cluster_ends=True):
    where = {"plan": PLAN, "environment": ENVIRONMENT, "poll_seconds": 15}
    made = runner.execute(create_cluster(PLAN))
    if cluster_ends:
        runner.execute(TerminateCluster(task_id="terminate_cluster", **where))
    return made


def test_the_last_task_leaves_the_entry(aws, emr, runner):
    made = play(runner)
    today = f"{datetime.now(timezone.utc):%Y-%m-%d}"
    ((key, found),) = entries(aws).items()
    assert key == f"runs/costs/{today}/sales.{made}.json"
    assert (found["run"], found["domain"]) == ("sales_incremental/manual-1", "sales")
    assert (found["state"], found["instances"]) == ("TERMINATED", 2)
    assert found["instance_minutes_by_type"] == {"m7g.xlarge": {"on_demand": 2}}


def test_the_end_does_not_fail_for_the_ledger(aws, emr, runner, monkeypatch):
    monkeypatch.setattr(Ledger, "note", lambda *_: 1 / 0)
    assert play(runner)


def reap():
    task = TerminateOrphans(task_id="end_leftovers", environment=ENVIRONMENT)
    return task.execute({"ti": None})


def test_the_reaper_leaves_entries_of_what_ended_without_its_run(aws, emr, runner):
    made = play(runner, cluster_ends=False)
    client("emr").terminate_job_flows(JobFlowIds=[made])
    assert entries(aws) == {}
    reap()
    (found,) = entries(aws).values()
    assert found["cluster"] == made
    aws.put_object(Bucket="lake", Key=next(iter(entries(aws))), Body=b"{}")
    reap()
    assert list(entries(aws).values()) == [{}]  # written once


def test_an_entry_that_an_older_release_wrote_is_not_written_again(aws, emr, runner):
    made = play(runner, cluster_ends=False)
    client("emr").terminate_job_flows(JobFlowIds=[made])
    key = f"runs/costs/{datetime.now(timezone.utc):%Y-%m-%d}/{made}.json"
    aws.put_object(Bucket="lake", Key=key, Body=b"{}")
    reap()
    assert list(entries(aws)) == [key]


def ended(environment, key):
    """A cluster that was made and ended, not by its run; its id."""
    request = run_job_flow_request(
        PLAN, run=run(PLAN, key=key), cluster=CLUSTER, environment=environment
    )
    made = client("emr").run_job_flow(**request)["JobFlowId"]
    client("emr").terminate_job_flows(JobFlowIds=[made])
    return made


def test_a_cluster_that_cannot_be_told_keeps_no_other_one_from_the_ledger(
    aws, emr, monkeypatch
):
    made = [ended(ENVIRONMENT, key) for key in ("one", "two")]
    note = Ledger.note

    def fails_for_one(ledger, cluster_id):
        if cluster_id == made[0]:
            raise ValueError("no such thing")
        return note(ledger, cluster_id)

    monkeypatch.setattr(Ledger, "note", fails_for_one)
    assert Ledger(ENVIRONMENT, aws_conn_id="aws_default").note_missing() == made[1:]


def test_clusters_of_others_are_not_in_the_ledger(aws, emr):
    ended(replace(ENVIRONMENT, name="prod"), "one")
    assert Ledger(ENVIRONMENT, aws_conn_id="aws_default").note_missing() == []


def test_reports_of_the_run_divide_its_cluster(aws, emr, runner):
    made = play(runner, cluster_ends=False)
    for name, content in (
        ("incremental/orders.json", {"seconds": 30.0}),
        ("incremental/items.json", {"seconds": "?"}),
        ("prepare_incremental/streamer.json", {"orders": []}),
        ("summary.json", {}),
    ):
        key = f"runs/sales_incremental/manual-1/{name}"
        aws.put_object(Bucket="lake", Key=key, Body=json.dumps(content).encode())
    cluster = emr.backend.clusters[made]
    cluster.creation_datetime -= timedelta(minutes=30)
    cluster.ready_datetime -= timedelta(minutes=20)
    client("emr").add_job_flow_steps(
        JobFlowId=made,
        Steps=[
            {
                "Name": "incremental manual-1",
                "HadoopJarStep": {"Jar": "command-runner.jar"},
            }
        ],
    )
    (added,) = cluster.steps
    added.start_date_time = cluster.ready_datetime
    client("emr").terminate_job_flows(JobFlowIds=[made])
    found = Ledger(ENVIRONMENT, aws_conn_id="aws_default").note(made)
    assert found["minutes"]["start"] == pytest.approx(10, abs=0.1)
    assert found["tables"] == {
        "orders": {"incremental": pytest.approx(20, abs=0.1)},
        "items": {"incremental": 0},
    }
