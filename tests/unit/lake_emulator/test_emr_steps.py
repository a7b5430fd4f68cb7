"""Steps on a cluster that stays: they run, in order, and end as they ended."""

from __future__ import annotations

import gzip
import os
import signal
import time
from pathlib import Path

import pytest

STATES = ("COMPLETED", "FAILED", "CANCELLED")


def test_a_step_is_completed_when_its_command_exits_with_0(cluster, add, step, until):
    [one] = add(cluster, step("true"))
    status = until(cluster, *STATES, step=one)
    assert status["State"] == "COMPLETED"
    times = status["Timeline"]
    assert times["CreationDateTime"] <= times["StartDateTime"] <= times["EndDateTime"]


def test_a_failed_step_tells_exit_code_last_error_and_log_file(
    launch, add, step, until, bucket
):
    cluster = launch(LogUri=f"s3://{bucket}/logs/")
    script = "import sys; print('fine'); sys.exit('ValueError: no such table')"
    [one] = add(cluster, step("python3", "-c", script))
    status = until(cluster, *STATES, step=one)
    assert status["State"] == "FAILED"
    assert status["FailureDetails"] == {
        "Reason": "Exit code 1",
        "Message": "ValueError: no such table",
        "LogFile": f"s3://{bucket}/logs/{cluster}/steps/{one}/stderr.gz",
    }


def test_a_failed_step_whose_output_names_no_error_has_its_last_words(
    cluster, add, step, until
):
    script = "echo done; echo 'disk is full' >&2; exit 3"
    [one] = add(cluster, step("bash", "-c", script))
    details = until(cluster, *STATES, step=one)["FailureDetails"]
    assert details == {"Reason": "Exit code 3", "Message": "disk is full"}


def test_a_failed_step_names_every_table_that_failed(cluster, add, step, until):
    script = "print('FAILED a.b load: x'); print('FAILED a.c load: y'); exit(1)"
    [one] = add(cluster, step("python3", "-c", script))
    status = until(cluster, *STATES, step=one)
    message = status["FailureDetails"]["Message"]
    assert message == "FAILED a.b load: x; FAILED a.c load: y"


def test_logs_are_put_where_emr_puts_them(launch, add, step, until, bucket, s3):
    cluster = launch(LogUri=f"s3n://{bucket}/logs")
    [one] = add(cluster, step("bash", "-c", "echo out; echo err >&2"))
    until(cluster, *STATES, step=one)

    def read(name: str) -> str:
        key = f"logs/{cluster}/steps/{one}/{name}.gz"
        packed = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        return gzip.decompress(packed).decode()

    assert (read("stdout"), read("stderr")) == ("out\n", "err\n")
    assert "ended with exit code 0" in read("controller")


def test_output_can_be_read_while_the_step_runs(emulator, cluster, add, step, until):
    [one] = add(cluster, step("bash", "-c", "echo early; sleep 30"))
    until(cluster, "RUNNING", step=one)
    live = emulator.home / "emr" / cluster / one / "stdout"
    deadline = time.monotonic() + 5
    while live.read_text() != "early\n":
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_kill_9_of_a_steps_process_fails_the_step(emulator, cluster, add, step, until):
    [one] = add(cluster, step("bash", "-c", "echo $$; exec sleep 30"))
    pid = pid_of(emulator.home / "emr" / cluster / one / "stdout")
    os.kill(pid, signal.SIGKILL)
    status = until(cluster, *STATES, step=one)
    assert status["State"] == "FAILED"
    assert status["FailureDetails"]["Reason"] == "Killed by signal 9 (SIGKILL)"


def test_steps_run_one_after_the_other(cluster, add, step, until):
    steps = add(cluster, *(step("true", name=str(n)) for n in range(3)))
    times = [until(cluster, *STATES, step=one)["Timeline"] for one in steps]
    for before, after in zip(times, times[1:]):
        assert before["EndDateTime"] <= after["StartDateTime"]


def test_a_second_step_is_pending_while_the_first_runs(cluster, add, step, until):
    first, second = add(cluster, step("bash", "-c", "sleep 30"), step("true"))
    until(cluster, "RUNNING", step=first)
    assert until(cluster, "PENDING", step=second)["Timeline"].keys() == {
        "CreationDateTime"
    }


def test_with_concurrency_2_two_steps_run_at_once(launch, add, step, until):
    cluster = launch(StepConcurrencyLevel=2)
    sleep = step("bash", "-c", "sleep 30")
    first, second, third = add(cluster, sleep, sleep, sleep)
    until(cluster, "RUNNING", step=first)
    until(cluster, "RUNNING", step=second)
    until(cluster, "PENDING", step=third)


def test_after_a_failure_continue_runs_the_next_step(cluster, add, step, until):
    failing, following = add(cluster, step("false"), step("true"))
    assert until(cluster, *STATES, step=failing)["State"] == "FAILED"
    assert until(cluster, *STATES, step=following)["State"] == "COMPLETED"


def test_after_a_failure_cancel_and_wait_cancels_the_rest(cluster, add, step, until):
    failing, following = add(
        cluster, step("false", action="CANCEL_AND_WAIT"), step("true")
    )
    assert until(cluster, *STATES, step=failing)["State"] == "FAILED"
    assert until(cluster, *STATES, step=following)["State"] == "CANCELLED"
    until(cluster, "WAITING")


@pytest.mark.parametrize("action", ["TERMINATE_CLUSTER", "TERMINATE_JOB_FLOW"])
def test_after_a_failure_terminate_cluster_ends_it(cluster, add, step, until, action):
    failing, following = add(cluster, step("false", action=action), step("true"))
    status = until(cluster, "TERMINATED_WITH_ERRORS")
    assert status["StateChangeReason"] == {
        "Code": "STEP_FAILURE",
        "Message": "Shut down as step failed",
    }
    assert until(cluster, *STATES, step=failing)["State"] == "FAILED"
    assert until(cluster, *STATES, step=following)["State"] == "CANCELLED"


def test_a_pending_step_can_be_cancelled(emr, cluster, add, step, until):
    first, second = add(cluster, step("bash", "-c", "sleep 30"), step("true"))
    reply = emr.cancel_steps(ClusterId=cluster, StepIds=[second])
    assert reply["CancelStepsInfoList"] == [{"StepId": second, "Status": "SUBMITTED"}]
    assert until(cluster, *STATES, step=second)["State"] == "CANCELLED"
    until(cluster, "RUNNING", step=first)


def test_cancelling_a_running_step_ends_its_process(
    emulator, emr, cluster, add, step, until
):
    [one] = add(cluster, step("bash", "-c", "echo $$; exec sleep 30"))
    pid = pid_of(emulator.home / "emr" / cluster / one / "stdout")
    emr.cancel_steps(ClusterId=cluster, StepIds=[one])
    assert until(cluster, *STATES, step=one)["State"] == "CANCELLED"
    assert not alive(pid)
    until(cluster, "WAITING")


def test_a_completed_step_cannot_be_cancelled(emr, cluster, add, step, until):
    [one] = add(cluster, step("true"))
    until(cluster, "COMPLETED", step=one)
    [answer] = emr.cancel_steps(ClusterId=cluster, StepIds=[one])["CancelStepsInfoList"]
    assert answer["Status"] == "FAILED"
    assert answer["Reason"] == "Step is already COMPLETED."


def test_what_a_step_started_in_the_background_ends_with_it(
    emulator, cluster, add, step, until
):
    [one] = add(cluster, step("bash", "-c", "sleep 60 & echo $!"))
    until(cluster, "COMPLETED", step=one)
    pid = pid_of(emulator.home / "emr" / cluster / one / "stdout")
    assert not alive(pid)


def test_a_step_sees_the_emulator_and_no_settings_of_its_starter(
    emulator, monkeypatch, cluster, add, step, until
):
    monkeypatch.setenv("AIRFLOW__CORE__FERNET_KEY", "canary")
    [one] = add(cluster, step("bash", "-c", "env"))
    until(cluster, "COMPLETED", step=one)
    seen = (emulator.home / "emr" / cluster / one / "stdout").read_text()
    assert f"AWS_ENDPOINT_URL={emulator.url}\n" in seen
    assert "canary" not in seen


def test_spark_without_its_runtime_fails_and_says_what_to_do(
    monkeypatch, tmp_path, cluster, add, step, until
):
    monkeypatch.setenv("LAKE_JARS", str(tmp_path))
    monkeypatch.setenv("LAKE_VENVS", str(tmp_path))
    root = "s3://lake/releases/1"
    ours = ("spark-submit", "--py-files", f"{root}/lake.zip,{root}/boto3.zip")
    ours += (f"{root}/main.py",)
    [one] = add(cluster, step(*ours))
    details = until(cluster, *STATES, step=one)["FailureDetails"]
    assert details["Reason"] == "Could not start"
    assert details["Message"].endswith(
        "Run ./setup.sh, which installs what is missing."
    )


def pid_of(file: Path) -> int:
    """The process id that a step wrote to its output."""
    deadline = time.monotonic() + 5
    while not (file.exists() and file.read_text().strip()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return int(file.read_text())


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


ROLE = "arn:aws:iam::111122223333:role/lake-steps"


def test_arguments_of_a_step_with_a_runtime_role_are_unescaped(
    emr, launch, add, step, until
):
    """One argument is `a b`, the other `*.csv`, as Airflow escapes them."""
    cluster = launch(SecurityConfiguration="runtime-roles")
    script = '\'test "$0" = "a b" && test "$1" = "*.csv"\''
    (one,) = add(
        cluster, step("bash", "-c", script, "'a b'", "'*.csv'"), ExecutionRoleArn=ROLE
    )
    assert until(cluster, *STATES, step=one)["State"] == "COMPLETED"
    told = emr.describe_step(ClusterId=cluster, StepId=one)["Step"]
    assert told["ExecutionRoleArn"] == ROLE
