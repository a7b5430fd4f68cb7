"""A stage that failed tells why: its tables, its step, its log, its cluster.

What EMR says of steps and clusters that end otherwise is in test_outcome.py.
"""

from __future__ import annotations

import gzip
import json
from datetime import datetime, timedelta, timezone

import pytest
from botocore.exceptions import ClientError

from lake_airflow.compat import AirflowFailException
from lake_airflow.emr.hook import NonRetryingEmrHook
from lake_airflow.operators.deferral import LONGEST_SLEEP
from tests.unit.lake_airflow.stages import STREAMED, deferred, made_cluster, stage


@pytest.fixture
def cluster(emr, runner):
    return made_cluster(emr, runner)


REPORTS = "runs/sales_full_load/manual-1/full_load"
LATER, EARLIER = "2999-01-01T00:00:00+00:00", "2000-01-01T00:00:00+00:00"


def put_reports(aws, *, but=(), **orders):
    for name in ("orders", *STREAMED):
        report = {"state": "done", **(orders if name == "orders" else {})}
        if name not in but:
            body = json.dumps(report)
            aws.put_object(Bucket="lake", Key=f"{REPORTS}/{name}.json", Body=body)


def causes(runner, emr):
    """The last lines of the task's log when its step failed."""
    emr.ends["full_load manual-1"] = "FAILED"
    with pytest.raises(AirflowFailException) as caught:
        runner.execute(stage("full_load"))
    return str(caught.value).splitlines()


def test_the_task_ends_with_table_cause_and_log(aws, emr, cluster, runner):
    error = {"type": "UnreadableFile", "message": "orders/1.csv: is HTML"}
    put_reports(aws, state="failed", error=error, started=LATER)
    first, last = causes(runner, emr)
    assert first == "sales.orders full_load: UnreadableFile: orders/1.csv: is HTML"
    log = runner.xcoms["full_load", "steps"][0]["log"]
    assert last.startswith("sales full_load: step s-") and last.endswith(f"Log: {log}")


def put_log(aws, emr, cluster, text, monkeypatch):
    """The log of the step that is going to be handed in, as EMR will archive it."""
    move_on = emr.move_on

    def archive():
        key = f"logs/sales_full_load/manual-1/{cluster.id}/steps/{emr.steps[0].id}"
        body = gzip.compress(text.encode())
        aws.put_object(Bucket="lake", Key=f"{key}/stderr.gz", Body=body)
        move_on()

    monkeypatch.setattr(emr, "move_on", archive)


CRASH = "java.lang.OutOfMemoryError: Java heap space"


@pytest.mark.parametrize("started", [None, EARLIER], ids=["none", "of a try before"])
def test_a_step_without_reports_tells_what_its_log_ends_with(
    aws, emr, cluster, runner, monkeypatch, started
):
    if started:
        put_reports(aws, but=STREAMED, state="done", started=started)
    put_log(aws, emr, cluster, f"x\n{CRASH}\n", monkeypatch)
    told = causes(runner, emr)
    assert "full_load: no report" in told[0]
    assert f"FAILED: {CRASH} Log: s3://lake/logs/" in told[-1]
    assert runner.xcoms["full_load", "steps"][0]["reason"] == CRASH


def test_where_every_table_tells_the_log_is_not_read(
    aws, emr, cluster, runner, monkeypatch
):
    put_reports(aws, state="failed", error={"type": "X", "message": "y"})
    put_log(aws, emr, cluster, CRASH, monkeypatch)
    assert CRASH not in "".join(causes(runner, emr))


def test_a_cluster_that_is_gone_gets_no_step_and_says_why(emr, cluster, runner):
    cluster.state = "TERMINATED_WITH_ERRORS"
    with pytest.raises(
        AirflowFailException, match=f"NOT_SUBMITTED: cluster {cluster.id}"
    ):
        runner.execute(stage("full_load"))
    assert emr.steps == []
    (end,) = runner.xcoms["full_load", "steps"]
    assert end["reason"].startswith(f"cluster {cluster.id} TERMINATED_WITH_ERRORS: ")


def test_emrs_refusal_of_a_step_is_a_cause(emr, cluster, runner, monkeypatch):
    def refuse(hook, **request):
        words = "A job flow that is shutting down may not be modified."
        error = {"Code": "ValidationException", "Message": words}
        raise ClientError({"Error": error}, "AddJobFlowSteps")

    monkeypatch.setattr(NonRetryingEmrHook, "add_job_flow_steps", refuse)
    with pytest.raises(AirflowFailException, match="shutting down may not be modified"):
        runner.execute(stage("full_load"))
    (end,) = runner.xcoms["full_load", "steps"]
    assert end["state"] == "NOT_SUBMITTED"


def test_steps_that_outlive_their_cluster_are_not_waited_for(emr, cluster, runner):
    task = stage("full_load", defers=True)
    deferred(runner, lambda: runner.execute(task))
    cluster.state = "TERMINATED_WITH_ERRORS"
    with pytest.raises(
        AirflowFailException, match=f"RUNNING: cluster {cluster.id} TER"
    ):
        runner.wake(task, **WOKEN)


def starts_since(cluster, minutes):
    """Let the cluster have been asked for so long ago, and not be there yet."""
    cluster.state = "STARTING"
    cluster.creation_datetime = datetime.now(timezone.utc) - timedelta(minutes=minutes)


def test_a_cluster_that_starts_for_too_long_gets_no_step(emr, cluster, runner):
    starts_since(cluster, 41)
    with pytest.raises(AirflowFailException, match="STARTING for 41 min, limit 40"):
        runner.execute(stage("full_load"))
    assert emr.steps == []


WOKEN = {"event": {"status": "success", "value": []}}


def most_to_wait(runner, task, method="execute_complete", **event):
    """How long a task that is woken defers again, at most."""
    with pytest.raises(BaseException) as caught:
        runner.wake(task, method, **event)
    assert type(caught.value).__name__ == "TaskDeferred"
    return caught.value.timeout


def test_a_stage_waits_for_a_start_no_longer_than_the_limit(emr, cluster, runner):
    task = stage("full_load", defers=True)
    deferred(runner, lambda: runner.execute(task))
    starts_since(cluster, 30)
    most = most_to_wait(runner, task, **WOKEN)
    assert timedelta(minutes=9) < most < timedelta(minutes=10)
    starts_since(cluster, 40.5)
    words = r"RUNNING: cluster .* limit 40 \(clusters/standard.yml: start_minutes\)"
    with pytest.raises(AirflowFailException, match=words):
        runner.wake(task, "__fail__", error="Trigger timeout")


def test_a_cluster_that_started_meanwhile_is_looked_at_now_and_then(
    emr, cluster, runner
):
    task = stage("full_load", defers=True)
    deferred(runner, lambda: runner.execute(task))
    starts_since(cluster, 10)
    most_to_wait(runner, task, **WOKEN)
    cluster.state = "RUNNING"
    longest = most_to_wait(runner, task, "__fail__", error="Trigger timeout")
    assert longest == LONGEST_SLEEP
