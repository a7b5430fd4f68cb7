"""A run's logs are made readable, and never show a secret."""

from __future__ import annotations

import json

import pytest

from lake_local.errors import BadRequest
from lake_local.runs import logs
from lake_local.workspace.state_dir import StateDirectory

RUN = "cli__2026-01-31T06-30-00"
LINE = {"timestamp": "2026-01-31T06:30:01Z", "level": "info", "event": "step started"}
ERROR = {
    "timestamp": "2026-01-31T06:30:02Z",
    "level": "error",
    "event": "Task failed with exception",
    "error_detail": [{"exc_type": "StepFailed", "exc_value": "exit code 1"}],
}


@pytest.fixture
def home(tmp_path):
    made = StateDirectory.at(tmp_path)
    folder = (
        made.task_logs / "dag_id=moma_full_load" / f"run_id={RUN}" / "task_id=full_load"
    )
    folder.mkdir(parents=True)
    lines = [json.dumps(LINE), json.dumps(ERROR)]
    (folder / "attempt=1.log").write_text("\n".join(lines))
    return made


def test_tasks_are_headed_by_their_name(home):
    told = list(logs.task_lines(home, "moma_full_load", RUN))
    assert told == [
        "== task task_id=full_load/attempt=1.log",
        "06:30:01 INFO     step started",
        "06:30:02 ERROR    Task failed with exception",
        "         StepFailed: exit code 1",
    ]


def test_the_cause_of_a_red_task_is_its_last_exception(home):
    cause = logs.last_error(home, "moma_full_load", RUN, "full_load")
    assert cause == "StepFailed: exit code 1"


def test_an_unknown_run_is_met_with_the_nearest(home):
    with pytest.raises(BadRequest, match=f"Did you mean '{RUN}'"):
        logs.runs_named(home, RUN[:-1])


def test_a_state_directory_without_runs_is_named(tmp_path):
    words = f"no run 'r1': the state directory {tmp_path} has no runs. Start one"
    with pytest.raises(BadRequest, match=words):
        logs.runs_named(StateDirectory.at(tmp_path), "r1")


@pytest.mark.parametrize("run_id", ["../../etc", "*", "", "/"])
def test_a_run_id_is_never_a_path_or_a_pattern(home, run_id):
    with pytest.raises(BadRequest, match="no run"):
        logs.runs_named(home, run_id)


@pytest.mark.parametrize(
    "line",
    [
        "password=hunter2 ok",
        '"db_password": "hunter2", ok',
        "Authorization: Bearer hunter2 ok",
        "secret = hunter2 ok",
        "AWS_SESSION_TOKEN=hunter2 ok",
    ],
)
def test_what_looks_like_a_secret_is_hidden(line):
    (told,) = logs.readable([line])
    assert "hunter2" not in told
    assert told.endswith("ok")


def test_a_signed_token_is_hidden_wherever_it_stands():
    (told,) = logs.readable(["called with eyJhbGci.eyJzdWIi.c2lnbmVk twice"])
    assert told == "called with *** twice"
