"""A stage is submitted once, followed to the end of its last step, and told.

Moto's steps end when the task sleeps (see emr.py). A task that may defer is
woken by the test with what a trigger of either provider version sends.
"""

import json
import sys
from datetime import datetime, timedelta, timezone
from unittest.mock import ANY

import pytest
from airflow.providers.amazon.aws.hooks.emr import EmrHook
from airflow.providers.standard.triggers.temporal import TimeDeltaTrigger
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from lake_airflow.compat import AirflowFailException, AirflowSkipException
from lake_airflow.emr.clusters import ClusterFinder, ClusterSteps
from lake_airflow.emr.hook import ReplyLost, NonRetryingEmrHook
from lake_airflow.operators import submit_stage
from lake_airflow.operators.deferral import LONGEST_SLEEP
from lake_airflow.runs.ends import Ends
from lake_airflow.runs.files import RunFiles
from tests.unit.lake_airflow.fake_emr import refused, throttled
from tests.unit.lake_airflow.specs import ENVIRONMENT
from tests.unit.lake_airflow.stages import (
    STREAMED,
    deferred,
    made_cluster,
    stage,
)

MANIFEST = "sales_full_load/manual-1/prepare_full_load/streamer.json"


@pytest.fixture
def cluster(emr, runner):
    return made_cluster(emr, runner)


def stage_of(cluster, name):
    """The stage in a process that wakes it, its templates rendered."""
    task = stage(name)
    task.job_flow_id = cluster.id
    return task


def put_manifest(aws, tables):
    content = {name: ["--class", "Streamer", name] for name in tables}
    aws.put_object(Bucket="lake", Key=f"runs/{MANIFEST}", Body=json.dumps(content))


def test_a_stage_is_one_step_and_its_end_is_handed_on(emr, cluster, runner):
    runner.execute(stage("full_load"))
    (step,) = emr.steps
    assert runner.xcoms["full_load", "steps"] == [
        {
            "name": "full_load manual-1",
            "id": step.id,
            "state": "COMPLETED",
            "reason": None,
            "log": f"s3://lake/logs/sales_full_load/manual-1/{cluster.id}/steps"
            f"/{step.id}/stderr.gz",
            "submitted": ANY,
        }
    ]


@pytest.mark.parametrize("state", ["FAILED", "CANCELLED", "INTERRUPTED"])
def test_a_step_that_did_not_complete_fails_the_task_by_name(
    emr, cluster, runner, state
):
    emr.ends["full_load manual-1"] = state
    with pytest.raises(AirflowFailException, match=f"'full_load manual-1' {state}"):
        runner.execute(stage("full_load"))
    (end,) = runner.xcoms["full_load", "steps"]
    assert end["state"] == state


def test_the_end_of_the_cluster_is_part_of_the_reason(emr, cluster, runner):
    def dies():
        cluster.state = "TERMINATED_WITH_ERRORS"
        emr.steps[0].state = "CANCELLED"

    emr.move_on = dies
    with pytest.raises(AirflowFailException, match=f"cluster {cluster.id} TERMINATED"):
        runner.execute(stage("full_load"))


def test_a_second_try_follows_the_step_that_is_under_way(emr, cluster, runner):
    deferred(runner, lambda: runner.execute(stage("full_load", defers=True)))
    runner.execute(stage("full_load"))
    assert emr.names() == ["full_load manual-1"]


def test_a_stage_that_has_ended_is_submitted_again_on_request(emr, cluster, runner):
    emr.ends["full_load manual-1"] = "FAILED"
    with pytest.raises(AirflowFailException):
        runner.execute(stage("full_load"))
    emr.ends.clear()
    runner.execute(stage("full_load"))
    assert [step.state for step in emr.steps] == ["FAILED", "COMPLETED"]


def test_a_stage_of_no_chosen_table_is_skipped(emr, runner):
    runner.params = {"tables": ["orders"]}
    made_cluster(emr, runner)
    for name in ("prepare_full_load", "streamer"):
        with pytest.raises(AirflowSkipException, match="nothing to do"):
            runner.execute(stage(name))
        assert runner.xcoms[name, "steps"] == []
    assert emr.steps == []


def test_a_stage_without_a_cluster_is_skipped(emr, runner):
    with pytest.raises(AirflowSkipException, match="The run has no cluster"):
        runner.execute(stage("scd2"))


def test_the_streamer_is_skipped_without_a_manifest(emr, cluster, runner):
    with pytest.raises(AirflowSkipException, match="streamer: nothing to do"):
        runner.execute(stage("streamer"))
    assert runner.xcoms["streamer", "steps"] == []


def test_the_streamer_runs_a_step_per_table_of_the_manifest(aws, emr, cluster, runner):
    put_manifest(aws, ["s03", "s01"])
    runner.execute(stage("streamer"))
    assert [step.name for step in emr.steps] == [
        "streamer s03 manual-1",
        "streamer s01 manual-1",
    ]
    assert list(emr.steps[0].args) == ["spark-submit", "--class", "Streamer", "s03"]


def test_one_failed_table_does_not_stop_the_others(aws, emr, cluster, runner):
    put_manifest(aws, STREAMED)
    emr.ends["streamer s00 manual-1"] = "FAILED"
    with pytest.raises(AirflowFailException) as caught:
        runner.execute(stage("streamer"))
    assert "streamer s00" in str(caught.value)
    assert "streamer s01" not in str(caught.value)
    ends = [end["state"] for end in runner.xcoms["streamer", "steps"]]
    assert ends == ["FAILED"] + ["COMPLETED"] * 11


def lost(times, *, made):
    """So many times EMR does, or does not, add the steps, and nobody hears of it."""
    left = [None] * times

    def add_job_flow_steps(hook, **request):
        if made or not left:
            added = EmrHook.add_job_flow_steps(hook, **request)
        if not left:
            return added
        left.pop()
        raise ReplyLost("add_job_flow_steps: no reply of EMR")

    return add_job_flow_steps


@pytest.mark.parametrize("made", [True, False], ids=["added", "not added"])
def test_steps_of_a_lost_reply_are_there_once(emr, cluster, runner, monkeypatch, made):
    monkeypatch.setattr(NonRetryingEmrHook, "add_job_flow_steps", lost(1, made=made))
    monkeypatch.setattr(submit_stage.time, "sleep", lambda seconds: None)
    deferred(runner, lambda: runner.execute(stage("full_load", defers=True)))
    assert emr.names() == ["full_load manual-1"]


def test_steps_that_never_arrive_fail_the_task(emr, cluster, runner, monkeypatch):
    monkeypatch.setattr(NonRetryingEmrHook, "add_job_flow_steps", lost(9, made=False))
    with pytest.raises(AirflowFailException, match="NOT_SUBMITTED: .*no reply of EMR"):
        runner.execute(stage("full_load"))
    assert emr.steps == []
    (end,) = runner.xcoms["full_load", "steps"]
    assert end["reason"] == "add_job_flow_steps: no reply of EMR"


def test_a_broken_manifest_fails_the_task_by_name(aws, cluster, runner):
    aws.put_object(Bucket="lake", Key=f"runs/{MANIFEST}", Body=b'{"orders": []}')
    with pytest.raises(AirflowFailException, match="prepare_full_load/streamer.json"):
        runner.execute(stage("streamer"))


def test_a_trigger_gets_no_more_ids_than_emr_lists_at_once(aws, emr, cluster, runner):
    put_manifest(aws, STREAMED)
    task = stage("streamer", defers=True)
    first = deferred(runner, lambda: runner.execute(task))
    assert len(first.serialize()[1]["step_ids"]) == 10
    for _ in range(10):
        emr.move_on()
    event = {"status": "success", "value": []}
    second = deferred(runner, lambda: runner.wake(task, event=event))
    assert second.serialize()[1]["step_ids"] == [step.id for step in emr.steps[10:]]
    emr.move_on()
    emr.move_on()
    runner.wake(task, event=event)
    assert len(emr.steps) == len(runner.xcoms["streamer", "steps"]) == 12


@pytest.mark.parametrize(
    "method, event",
    [
        ("execute_complete", {"event": {"status": "error", "message": "a step"}}),
        ("__fail__", {"error": "Trigger failure", "traceback": ["no aiobotocore"]}),
    ],
    ids=["provider-9.34", "provider-9.12"],
)
def test_after_a_trigger_failed_the_task_looks_once_and_defers_again(
    aws, emr, cluster, runner, method, event
):
    put_manifest(aws, ["s01", "s02"])
    task = stage("streamer", defers=True)
    deferred(runner, lambda: runner.execute(task))
    emr.ends["streamer s01 manual-1"] = "FAILED"
    emr.move_on()
    runner.sees_pauses = True
    pause = deferred(runner, lambda: runner.wake(task, method, **event))
    assert isinstance(pause, TimeDeltaTrigger)
    again = deferred(runner, lambda: runner.wake(task, "follow_again"))
    assert again.serialize()[1]["step_ids"] == [emr.steps[1].id]
    emr.move_on()
    done = {"status": "success"}
    with pytest.raises(AirflowFailException, match="streamer s01 manual-1' FAILED"):
        runner.wake(task, event=done)
    assert emr.states() == {
        "streamer s01 manual-1": "FAILED",
        "streamer s02 manual-1": "COMPLETED",
    }


FAILS = [
    throttled(),
    refused("ExpiredTokenException", "The security token included has expired"),
    refused("InvalidRequestException", "Cluster id 'j-1' is not valid."),
    EndpointConnectionError(endpoint_url="https://elasticmapreduce"),
    ReadTimeoutError(endpoint_url="https://elasticmapreduce"),
]


@pytest.mark.parametrize(
    "asks, read, error",
    [
        *((ClusterSteps, "listed", error) for error in FAILS),
        (ClusterFinder, "describe", FAILS[0]),
    ],
)
def test_a_read_that_fails_is_asked_again_and_is_no_end(
    emr, cluster, runner, monkeypatch, asks, read, error
):
    task = stage("full_load", defers=True)
    deferred(runner, lambda: runner.execute(task))
    asked, fails = getattr(asks, read), [error] * 4

    def fails_first(self, *args):
        if fails:
            raise fails.pop()
        return asked(self, *args)

    monkeypatch.setattr(asks, read, fails_first)
    runner.sees_pauses = True
    for _ in range(4):
        pause = deferred(runner, lambda: runner.wake(task, "follow_again"))
        assert isinstance(pause, TimeDeltaTrigger)
    deferred(runner, lambda: runner.wake(task, "follow_again"))
    assert runner.xcoms["full_load", "reads_fail_since"] is None
    emr.move_on()
    runner.wake(task, event={"status": "success"})
    assert emr.states() == {"full_load manual-1": "COMPLETED"}


def test_reads_that_fail_before_the_submission_begin_it_anew(
    emr, cluster, runner, monkeypatch
):
    asked, fails = ClusterSteps.listed, [throttled()] * 3

    def fails_first(self):
        if fails:
            raise fails.pop()
        return asked(self)

    monkeypatch.setattr(ClusterSteps, "listed", fails_first)
    task = stage("full_load")
    deferred(runner, lambda: runner.execute(task))
    for _ in range(2):
        deferred(runner, lambda: runner.wake(task, "execute_again"))
    runner.wake(task, "execute_again")
    assert emr.names() == ["full_load manual-1"]


@pytest.mark.parametrize(
    "error, since",
    [
        (refused("AccessDeniedException", "not authorized"), None),
        (throttled(), "2020-01-01T00:00:00+00:00"),
    ],
    ids=["another error", "for too long"],
)
def test_what_no_asking_mends_fails_the_try(
    emr, cluster, runner, monkeypatch, error, since
):
    def fails(self):
        raise error

    task = stage("full_load", defers=True)
    deferred(runner, lambda: runner.execute(task))
    monkeypatch.setattr(ClusterSteps, "listed", fails)
    runner.xcoms["full_load", "reads_fail_since"] = since
    with pytest.raises(ClientError):
        runner.wake(task, "follow_again")


def test_every_wait_of_a_stage_has_an_end(emr, cluster, runner):
    task = stage("full_load", defers=True)
    for act in (
        lambda: runner.execute(task),  # for the step
        lambda: runner.execute(stage("scd2", defers=True)),  # for that of another
        lambda: runner.wake(task, event={"status": "error"}),  # to look again
    ):
        runner.sees_pauses = True
        with pytest.raises(BaseException) as waiting:
            act()
        assert timedelta(0) < waiting.value.timeout <= LONGEST_SLEEP


def test_another_try_follows_what_ended_while_nobody_looked(emr, cluster, runner):
    runner.tries = (1, 3)
    deferred(runner, lambda: runner.execute(stage("full_load", defers=True)))
    emr.move_on()
    runner.tries = (2, 3)
    runner.execute(stage("full_load"))
    assert emr.states() == {"full_load manual-1": "COMPLETED"}
    # Cleared: Airflow counts on from the tries that there were.
    runner.tries = (3, 5)
    runner.execute(stage("full_load"))
    assert emr.names() == ["full_load manual-1"] * 2


def test_another_try_follows_what_ended_after_a_worker_was_killed_as_it_submitted(
    emr, cluster, runner, monkeypatch
):
    add = NonRetryingEmrHook.add_job_flow_steps

    def is_killed_after(self, *args, **kwargs):
        add(self, *args, **kwargs)
        raise KeyboardInterrupt

    runner.tries = (1, 3)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(NonRetryingEmrHook, "add_job_flow_steps", is_killed_after)
        runner.execute(stage("full_load"))
    emr.move_on()
    runner.tries = (2, 3)
    runner.execute(stage("full_load"))
    assert emr.states() == {"full_load manual-1": "COMPLETED"}
    assert emr.names() == ["full_load manual-1"]


def test_another_try_submits_what_the_one_before_only_meant_to(
    emr, cluster, runner, monkeypatch
):
    def is_killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(NonRetryingEmrHook, "add_job_flow_steps", is_killed)
        runner.execute(stage("full_load"))
    runner.tries = (2, 0)
    runner.execute(stage("full_load"))
    assert emr.states() == {"full_load manual-1": "COMPLETED"}


def over_its_limit(emr, runner):
    """A step of full_load that nobody follows and that began ten hours ago."""
    deferred(runner, lambda: runner.execute(stage("full_load", defers=True)))
    (step,) = emr.steps
    step.start_date_time = datetime.now(timezone.utc) - timedelta(hours=10)
    return step


def asks_to_end(task, monkeypatch, then=lambda option: None):
    """How the task asks EMR to cancel steps, which refuses."""
    options = []

    def cancel_steps(**call):
        options.append(call["StepCancellationOption"])
        then(options[-1])
        info = {"StepId": call["StepIds"][0], "Status": "FAILED", "Reason": "not now"}
        return {"CancelStepsInfoList": [info]}

    monkeypatch.setattr(task.hook.conn, "cancel_steps", cancel_steps)
    return options


def cancelled_ago(runner, step, minutes):
    since = datetime.now(timezone.utc) - timedelta(minutes=minutes)
    runner.xcoms["scd2", "cancelled"] = {step.id: since.isoformat()}


def test_a_step_that_ignores_its_end_is_ended_by_force_then_given_up(
    emr, cluster, runner, monkeypatch
):
    """Minutes count from the first interrupt, however late that came."""
    step, task = over_its_limit(emr, runner), stage("scd2")
    options = asks_to_end(task, monkeypatch)
    deferred(runner, lambda: runner.execute(task))
    for minutes in (4, 6):
        cancelled_ago(runner, step, minutes)
        deferred(runner, lambda: runner.wake(task, "execute_again"))
    cancelled_ago(runner, step, 21)
    with pytest.raises(
        AirflowFailException, match="still running 0:21.*not now.*given"
    ):
        runner.wake(task, "execute_again")
    assert options == ["SEND_INTERRUPT"] * 2 + ["TERMINATE_PROCESS"] * 2
    assert [step.name for step in emr.steps] == ["full_load manual-1"]
    with pytest.raises(AirflowFailException, match="was killed.*given up"):
        runner.execute(stage("prepare_full_load"))
    assert [step.name for step in emr.steps] == ["full_load manual-1"]


def test_no_stage_follows_on_a_cluster_whose_step_was_ended_by_force(
    emr, cluster, runner, monkeypatch
):
    step, task = over_its_limit(emr, runner), stage("scd2")

    def ends(option):
        step.state = "CANCELLED" if option == "TERMINATE_PROCESS" else "RUNNING"

    asks_to_end(task, monkeypatch, ends)
    deferred(runner, lambda: runner.execute(task))
    cancelled_ago(runner, step, 6)
    deferred(runner, lambda: runner.wake(task, "execute_again"))
    with pytest.raises(
        AirflowFailException, match="may still run. The cluster is given"
    ):
        runner.wake(task, "execute_again")
    assert [step.name for step in emr.steps] == ["full_load manual-1"]


def test_a_step_that_ends_when_it_is_interrupted_lets_the_next_stage_come(
    emr, cluster, runner, monkeypatch
):
    step, task = over_its_limit(emr, runner), stage("scd2")
    asks_to_end(task, monkeypatch)
    deferred(runner, lambda: runner.execute(task))
    step.state = "CANCELLED"
    runner.wake(task, "execute_again")
    assert emr.names() == ["full_load manual-1", "scd2 manual-1"]


def test_a_stage_wakes_at_its_limit(emr, cluster, runner):
    task = stage("full_load", defers=True)
    deferred(runner, lambda: runner.execute(task))
    cluster.state, (step,) = "RUNNING", emr.steps
    step.start_date_time = datetime.now(timezone.utc) - timedelta(hours=7.9)
    with pytest.raises(BaseException) as waiting:
        runner.wake(task, event={"status": "success"})
    assert timedelta(minutes=5) < waiting.value.timeout <= timedelta(minutes=6)


def test_a_submission_that_is_throttled_is_made_later(
    emr, cluster, runner, monkeypatch
):
    adds, fails = NonRetryingEmrHook.add_job_flow_steps, [throttled()] * 3

    def fails_first(self, **request):
        if fails:
            raise fails.pop()
        return adds(self, **request)

    monkeypatch.setattr(NonRetryingEmrHook, "add_job_flow_steps", fails_first)
    task = stage("full_load")
    deferred(runner, lambda: runner.execute(task))
    for _ in range(2):
        deferred(runner, lambda: runner.wake(task, "execute_again"))
    runner.wake(task, "execute_again")
    assert emr.states() == {"full_load manual-1": "COMPLETED"}


def test_steps_of_a_lost_reply_that_end_before_anybody_can_look_are_there_once(
    emr, cluster, runner, monkeypatch
):
    monkeypatch.setattr(NonRetryingEmrHook, "add_job_flow_steps", lost(1, made=True))
    asked, answers = ClusterSteps.listed, [None, throttled()]

    def listed(self):
        if answers and (error := answers.pop(0)):
            raise error
        return asked(self)

    monkeypatch.setattr(ClusterSteps, "listed", listed)
    task = stage("full_load")
    deferred(runner, lambda: runner.execute(task))
    emr.move_on()
    runner.wake(task, "execute_again")
    assert emr.names() == ["full_load manual-1"]
    assert emr.states() == {"full_load manual-1": "COMPLETED"}


@pytest.mark.parametrize("is_submitted", [False, True])
def test_a_manifest_that_cannot_be_read_now_is_asked_for_again(
    aws, emr, cluster, runner, monkeypatch, is_submitted
):
    put_manifest(aws, STREAMED[:1])
    task, read = stage("streamer", defers=True), RunFiles.names
    runner.sees_pauses = True
    if is_submitted:
        deferred(runner, lambda: runner.execute(task))
    fails = [refused("SlowDown", "Please reduce your request rate.")] * 3

    def fails_first(self):
        if fails:
            raise fails.pop()
        return read(self)

    monkeypatch.setattr(RunFiles, "names", fails_first)
    again = "follow_again" if is_submitted else "execute_again"
    acts = [lambda: runner.wake(task, again)] * 3
    if not is_submitted:
        acts[0] = lambda: runner.execute(task)
    for act in acts:
        assert isinstance(deferred(runner, act), TimeDeltaTrigger)
    deferred(runner, lambda: runner.wake(task, again))
    assert emr.names() == ["streamer s00 manual-1"]


def test_reads_that_fail_now_and_then_while_others_work_are_no_end(
    emr, cluster, runner, monkeypatch
):
    deferred(runner, lambda: runner.execute(stage("full_load", defers=True)))
    task, asked, fails = stage("scd2"), ClusterSteps.listed, []

    def listed(self):
        if fails:
            raise fails.pop()
        return asked(self)

    monkeypatch.setattr(ClusterSteps, "listed", listed)
    fails.append(throttled())
    deferred(runner, lambda: runner.execute(task))
    assert runner.xcoms["scd2", "reads_fail_since"]
    deferred(runner, lambda: runner.wake(task, "execute_again"))
    assert runner.xcoms["scd2", "reads_fail_since"] is None


def test_a_step_that_emr_does_not_list_is_no_success(emr, cluster, runner):
    task = stage("full_load", defers=True)
    deferred(runner, lambda: runner.execute(task))
    cluster.steps.clear()
    with pytest.raises(AirflowFailException, match="MISSING: EMR does not list it"):
        runner.wake(task, event={"status": "success", "value": []})


def noted(cancelled):
    """What notes the steps that EMR is asked to cancel, and asks nobody."""

    def cancel(self, alive, *, by_force=False):
        cancelled.extend(alive)
        return ""

    return cancel


def test_a_stage_over_its_limit_is_cancelled(emr, cluster, runner, monkeypatch):
    cancelled = []
    task = stage("full_load")
    task.limit = timedelta(0)
    monkeypatch.setattr(ClusterSteps, "cancel", noted(cancelled))
    with pytest.raises(
        AirflowFailException,
        match="RUNNING: not finished within 0:00:00 of its start; cancelled",
    ):
        runner.execute(task)
    assert [step["Name"] for step in cancelled] == ["full_load manual-1"]


def test_a_stage_never_runs_beside_a_step_that_nobody_follows(emr, cluster, runner):
    deferred(runner, lambda: runner.execute(stage("full_load", defers=True)))
    # Its task is killed, and the next one comes.
    task = stage("scd2")
    waits = deferred(runner, lambda: runner.execute(task))
    assert isinstance(waits, TimeDeltaTrigger)
    assert [step.name for step in emr.steps] == ["full_load manual-1"]
    emr.move_on()
    runner.wake(task, "execute_again")
    assert emr.states() == {
        "full_load manual-1": "COMPLETED",
        "scd2 manual-1": "COMPLETED",
    }


@pytest.mark.parametrize("error", ["Trigger failure", "Trigger timeout"])
def test_a_cleared_stage_whose_wait_for_others_failed_runs_all_the_same(
    emr, cluster, runner, error
):
    """It is not green by the step of its name that ran before it was cleared."""
    runner.execute(stage("full_load"))
    # scd2 is under way when full_load is cleared, and everything after it.
    deferred(runner, lambda: runner.execute(stage("scd2", defers=True)))
    task = stage("full_load")
    deferred(runner, lambda: runner.execute(task))
    emr.move_on()
    runner.wake(task, "__fail__", error=error)
    names = ["full_load manual-1", "scd2 manual-1", "full_load manual-1"]
    assert [step.name for step in emr.steps] == names


def test_a_step_that_nobody_follows_has_the_limit_of_a_stage(
    emr, cluster, runner, monkeypatch
):
    cancelled = []
    deferred(runner, lambda: runner.execute(stage("full_load", defers=True)))
    task = stage("scd2")
    task.limit = timedelta(0)
    monkeypatch.setattr(ClusterSteps, "cancel", noted(cancelled))
    deferred(runner, lambda: runner.execute(task))
    assert [step["Name"] for step in cancelled] == ["full_load manual-1"]


@pytest.mark.parametrize("is_resumed", [False, True])
def test_a_process_that_airflow_ends_leaves_its_step_to_the_next_try(
    emr, cluster, runner, is_resumed
):
    task = stage("full_load", defers=True)
    deferred(runner, lambda: runner.execute(task))
    if is_resumed:  # in another process, which only follows
        event = {"status": "success", "value": []}
        task = stage_of(cluster, "full_load")
        task.can_defer = lambda: True
        deferred(runner, lambda: runner.wake(task, event=event))
    task.on_kill()
    runner.tries = (2, 3)
    runner.execute(stage("full_load"))
    assert emr.states() == {"full_load manual-1": "COMPLETED"}


def test_who_cancels_a_step_of_another_stage_is_named_in_its_end(
    emr, cluster, runner, monkeypatch
):
    deferred(runner, lambda: runner.execute(stage("full_load", defers=True)))
    task = stage("scd2")
    task.limit = timedelta(0)
    monkeypatch.setattr(ClusterSteps, "cancel", noted([]))
    deferred(runner, lambda: runner.execute(task))
    emr.ends["full_load manual-1"] = "CANCELLED"
    ended = r"CANCELLED: Ended by scd2 at .*: it was over its limit of 0:00:00, and no "
    with pytest.raises(AirflowFailException, match=ended):
        runner.wake(stage_of(cluster, "full_load"), event={"status": "success"})


def test_why_a_step_was_over_its_limit_outlives_the_worker_that_cancelled_it(
    emr, cluster, runner, monkeypatch
):
    runner.tries = (1, 3)
    deferred(runner, lambda: runner.execute(stage("full_load", defers=True)))
    task = stage_of(cluster, "full_load")
    task.limit = timedelta(0)
    monkeypatch.setattr(ClusterSteps, "cancel", lambda *_, **__: sys.exit("killed"))
    with pytest.raises(SystemExit):
        runner.wake(task, event={"status": "success"})
    emr.steps[0].state = "CANCELLED"
    runner.tries = (2, 3)
    with pytest.raises(
        AirflowFailException, match="not finished within 0:00:00 of its"
    ):
        runner.execute(stage("full_load"))


def test_a_step_that_somebody_cancelled_in_emr_says_where_to_look(emr, cluster, runner):
    emr.ends["full_load manual-1"] = "CANCELLED"
    with pytest.raises(
        AirflowFailException, match="CANCELLED: No task of the pipeline"
    ):
        runner.execute(stage("full_load"))


def test_who_ended_the_cluster_is_part_of_the_reason(emr, cluster, runner):
    def dies():
        cluster.state = "TERMINATED"
        emr.steps[0].state = "CANCELLED"

    emr.move_on = dies
    ends = Ends(ENVIRONMENT, "sales_full_load/manual-1", aws_conn_id=None)
    ends.note(cluster.id, by="lake_reaper", why="it is older than 24 h")
    ends.note(cluster.id, by="terminate_cluster", why="the run was over")
    with pytest.raises(AirflowFailException) as caught:
        runner.execute(stage("full_load"))
    assert "Ended by lake_reaper at " in str(caught.value)
    assert "it is older than 24 h" in str(caught.value)
    assert "the run was over" not in str(caught.value)
