"""The summary on S3 and in the log; the announcement of changes."""

import gzip
import json
import logging
from unittest.mock import Mock

import pytest

from lake_airflow.compat import AirflowFailException, AirflowSkipException
from lake_airflow.operators.finish_run import (
    AnnounceChanges,
    SummariseRun,
    RunResult,
)
from lake_airflow.reporting.notifier import RunNotifier
from tests.unit.lake_airflow.conftest import logged
from tests.unit.lake_airflow.specs import ENVIRONMENT, dag_plan, run

PLAN = dag_plan("maintenance")
FOLDER = "runs/sales_maintenance/manual-1"
STEP = {"name": "maintenance manual-1", "id": "s-1", "state": "COMPLETED"}


@pytest.fixture
def finished(aws, runner):
    """A run whose cluster and stage came to their end."""
    runner.xcoms["create_cluster", "return_value"] = "j-1"
    runner.xcoms["create_cluster", "run"] = run(PLAN).to_xcom()
    runner.xcoms["maintenance", "steps"] = [STEP]
    runner.states["create_cluster"] = "success"
    return runner


def put(aws, name, body):
    text = body if isinstance(body, str) else json.dumps(body)
    aws.put_object(Bucket="lake", Key=f"{FOLDER}/{name}", Body=text)


def put_reports(aws, **orders):
    put(aws, "maintenance/customers.json", {"state": "done"})
    put(aws, "maintenance/orders.json", {"state": "done", **orders})


def summarise(runner):
    return runner.execute(
        SummariseRun(task_id="summary", plan=PLAN, environment=ENVIRONMENT)
    )


def verdict():
    return RunResult(task_id="done", plan=PLAN, environment=ENVIRONMENT)


def written(aws):
    body = aws.get_object(Bucket="lake", Key=f"{FOLDER}/summary.json")["Body"]
    return json.loads(body.read())


def test_a_green_run_leaves_its_summary_on_s3(aws, finished):
    put_reports(aws, rows_in=5)
    assert summarise(finished) == f"s3://lake/{FOLDER}/summary.json"
    assert written(aws)["state"] == "succeeded"
    assert written(aws)["tables"]["orders"]["maintenance"]["rows_in"] == 5


def test_a_failed_table_fails_the_task_and_is_on_s3_too(aws, finished):
    put_reports(aws, state="failed", error={"type": "Bad", "message": "no key"})
    with pytest.raises(AirflowFailException, match="sales.orders maintenance: Bad: no"):
        summarise(finished)
    assert written(aws)["causes"] == ["sales.orders maintenance: Bad: no key"]


@pytest.mark.parametrize("body", ["{half", "[]", '{"format": 2, "state": "done"}'])
def test_a_report_that_cannot_be_read_is_a_failure_of_its_table(aws, finished, body):
    put_reports(aws)
    put(aws, "maintenance/orders.json", body)
    with pytest.raises(AirflowFailException, match="sales.orders .* UnreadableReport"):
        summarise(finished)


def told(finished, monkeypatch):
    """The lines of the log of a red run, with their levels."""
    log = Mock()
    monkeypatch.setattr(SummariseRun, "log", log)
    with pytest.raises(AirflowFailException):
        summarise(finished)
    return [call.args for call in log.log.call_args_list]


def test_the_causes_are_the_last_lines_of_the_log(aws, finished, monkeypatch):
    lines = [line for _, line in told(finished, monkeypatch)]
    assert lines[-2] == "The run failed."
    assert lines[-1].startswith("FAILED sales.orders, sales.customers maintenance: no")


def test_causes_and_warnings_are_found_by_their_level(aws, finished, monkeypatch):
    put(aws, "maintenance/orders.json", {"state": "done", "warnings": ["two ties"]})
    lines = told(finished, monkeypatch)
    assert lines[0][0] == logging.INFO
    assert [(level, line.split(":")[0]) for level, line in lines[-3:]] == [
        (logging.WARNING, "WARNING sales.orders maintenance"),
        (logging.INFO, "The run failed."),
        (logging.ERROR, "FAILED sales.customers maintenance"),
    ]


@pytest.mark.parametrize(
    "xcoms, cause",
    [
        ({("create_cluster", "cause"): "the run is refused"}, "the run is refused"),
        ({}, "see the log of the task create_cluster"),
    ],
    ids=["told", "killed"],
)
def test_a_run_without_a_cluster_is_red_and_says_why(aws, runner, xcoms, cause):
    runner.xcoms.update(xcoms)
    with pytest.raises(AirflowFailException, match=f"no cluster was created: {cause}"):
        summarise(runner)
    assert written(aws)["state"] == "failed"


def test_a_run_that_only_planned_is_green(aws, runner):
    pinned = run(PLAN, plan_only=True).to_xcom()
    runner.xcoms["create_cluster", "run"] = pinned
    summarise(runner)
    told = written(aws)
    assert (told["state"], told["dry_run"], told["tables"]) == ("succeeded", True, {})


def test_a_run_id_without_room_still_has_a_summary(aws, runner):
    runner.run_id = "x" * 300
    with pytest.raises(AirflowFailException, match="no cluster"):
        summarise(runner)


@pytest.mark.parametrize("lacking", ["summary", "terminate_cluster"])
def test_the_verdict_is_red_where_one_of_the_two_did_not_succeed(finished, lacking):
    for task in {"summary", "terminate_cluster"} - {lacking}:
        finished.states[task] = "success"
    with pytest.raises(AirflowFailException, match=f": {lacking} did not succeed"):
        finished.execute(verdict())


def test_what_a_task_returned_before_it_was_cleared_is_no_success(finished):
    finished.xcoms["summary", "return_value"] = "s3://lake/summary.json"
    finished.states.update(summary="skipped", terminate_cluster="success")
    with pytest.raises(AirflowFailException, match=": summary did not succeed"):
        finished.execute(verdict())


@pytest.mark.parametrize("state", ["failed", "upstream_failed"])
def test_a_summary_of_before_a_stage_was_cleared_proves_nothing(finished, state):
    finished.states.update(summary="success", terminate_cluster="success")
    finished.states["maintenance"] = state
    with pytest.raises(AirflowFailException, match=": maintenance did not succeed"):
        finished.execute(verdict())


def test_the_verdict_is_green_where_both_did(finished):
    finished.states.update(summary="success", terminate_cluster="success")
    finished.execute(verdict())


@pytest.mark.parametrize("is_green", [True, False])
def test_the_verdict_tells_and_is_the_same_where_nobody_can_be_told(
    finished, monkeypatch, is_green
):
    asked, log = [], Mock()

    def cannot(notifier, *also):
        asked.append(also)
        raise RuntimeError("no such topic")

    monkeypatch.setattr(RunResult, "log", log)
    monkeypatch.setattr(RunNotifier, "succeeded", cannot)
    monkeypatch.setattr(RunNotifier, "failed", cannot)
    finished.states["terminate_cluster"] = "success"
    if is_green:
        finished.states["summary"] = "success"
        finished.execute(verdict())
        assert asked == [()]
    else:
        with pytest.raises(AirflowFailException, match="summary did not succeed"):
            finished.execute(verdict())
        assert asked == [((),)]
    warned = [each.args for each in log.warning.call_args_list]
    ((words, _, error),) = [args for args in warned if "notified" in args[0]]
    assert words == "%s was not notified: %s" and str(error) == "no such topic"


def test_a_cluster_that_did_not_end_is_told_beside_the_causes(finished, monkeypatch):
    asked = []
    monkeypatch.setattr(RunNotifier, "failed", lambda _, also: asked.append(also))
    with pytest.raises(AirflowFailException) as caught:
        finished.execute(verdict())
    assert asked == [(str(caught.value),)]


@pytest.fixture
def told_to(aws, monkeypatch):
    """What a verdict tells next to the causes of the summary."""
    asked = []
    monkeypatch.setattr(RunNotifier, "failed", lambda _, also=(): asked.append(also))
    return asked


def test_a_run_without_a_cluster_is_judged_by_the_task_that_told_why(runner, told_to):
    runner.states.update(create_cluster="failed", terminate_cluster="skipped")
    runner.xcoms["create_cluster", "cause"] = "The run is refused"
    with pytest.raises(AirflowFailException, match=": create_cluster did not succeed"):
        runner.execute(verdict())
    assert told_to == [()]


@pytest.mark.parametrize(
    "end, lacking",
    [
        ("success", "create_cluster"),
        ("failed", "create_cluster and terminate_cluster"),
    ],
)
def test_a_first_task_that_was_ended_from_outside_is_told(
    runner, told_to, end, lacking
):
    runner.states.update(create_cluster="failed", terminate_cluster=end)
    with pytest.raises(AirflowFailException, match=f": {lacking} did not") as caught:
        runner.execute(verdict())
    assert told_to == [(str(caught.value),)]


def test_a_run_that_only_planned_needs_no_verdict(runner, told_to):
    runner.xcoms["create_cluster", "run"] = run(PLAN, plan_only=True).to_xcom()
    runner.states.update(create_cluster="skipped", terminate_cluster="skipped")
    with pytest.raises(AirflowSkipException, match="Plan only"):
        runner.execute(verdict())
    assert told_to == []


def test_a_run_that_was_marked_before_it_began_is_red(runner, told_to):
    runner.states.update(create_cluster="skipped", terminate_cluster="skipped")
    with pytest.raises(AirflowFailException, match=": create_cluster did not succeed"):
        runner.execute(verdict())


def test_a_log_that_emr_puts_there_late_is_looked_into_again(aws, finished, told_to):
    log = {"log": "s3://lake/logs/stderr.gz", "reason": "Unknown Error."}
    step = {**STEP, "state": "FAILED", **log}
    finished.xcoms["maintenance", "steps"] = [step]
    with pytest.raises(AirflowFailException, match="Unknown Error. Log"):
        summarise(finished)
    packed = gzip.compress(b"java.lang.OutOfMemoryError: Java heap space\n")
    aws.put_object(Bucket="lake", Key="logs/stderr.gz", Body=packed)
    finished.states |= {"maintenance": "failed", "summary": "failed"}
    finished.states["terminate_cluster"] = "success"
    with pytest.raises(AirflowFailException, match="summary did not succeed"):
        finished.execute(verdict())
    assert "OutOfMemoryError" in str(written(aws)["causes"])


def states_of(aws):
    body = aws.get_object(Bucket="lake", Key="runs/tables/sales.json")["Body"]
    return json.loads(body.read())


def test_a_green_run_leaves_the_states_of_its_tables(aws, finished):
    put_reports(aws, rows_in=5)
    summarise(finished)
    finished.states.update(summary="success", terminate_cluster="success")
    finished.xcoms["terminate_cluster", "minutes"] = {"sales.orders": 1.5}
    finished.execute(verdict())
    run_of = states_of(aws)["tables"]["orders"]["runs"]["sales_maintenance"]
    assert (run_of["state"], run_of["rows_in"], run_of["minutes"]) == (
        *("succeeded", 5, 1.5),
    )


def test_a_run_without_a_cluster_is_in_the_states(aws, runner):
    runner.states["create_cluster"] = "failed"
    with pytest.raises(AirflowFailException):
        runner.execute(verdict())
    found = states_of(aws)["runs"]["sales_maintenance"]
    assert found["state"] == "failed"
    assert "create_cluster" in found["problems"][0]


def test_states_that_cannot_be_written_leave_the_run_as_it_was(
    aws, finished, caplog, capsys
):
    aws.put_object(Bucket="lake", Key="runs/tables/sales.json", Body=b"no JSON")
    put_reports(aws)
    summarise(finished)
    finished.states.update(summary="success", terminate_cluster="success")
    finished.execute(verdict())
    assert "The states of sales are unchanged" in logged(caplog, capsys)


def announce():
    return AnnounceChanges(
        task_id="announce_changes", plan=PLAN, environment=ENVIRONMENT
    )


def test_changes_are_announced_if_rows_were_written(aws, finished):
    put_reports(aws, state="nothing_new")
    assert finished.execute(announce()) is None


@pytest.mark.parametrize("orders", [{"state": "failed"}, None], ids=str)
def test_nothing_is_announced_if_no_rows_were_written(aws, finished, orders):
    put(aws, "maintenance/customers.json", {"state": "nothing_new"})
    if orders:
        put(aws, "maintenance/orders.json", orders)
    with pytest.raises(AirflowSkipException, match="The run changed no table"):
        finished.execute(announce())


def test_a_run_whose_step_never_started_announces_nothing(finished):
    with pytest.raises(AirflowSkipException, match="The run changed no table"):
        finished.execute(announce())


def test_a_dry_run_announces_nothing(finished):
    finished.xcoms["create_cluster", "run"] = run(PLAN, dry_run=True).to_xcom()
    with pytest.raises(AirflowSkipException, match="A dry run changes nothing"):
        finished.execute(announce())
