"""Before Airflow is ended, what is at work is brought to its end as failed."""

from __future__ import annotations

import pytest

from lake_local.airflow import processes
from lake_local.airflow.processes import settle
from lake_local.airflow.rest import ApiError

RUN = ("moma_full_load", "r1")


class OneRun:
    """An Airflow with one active run; it ends when its last task has ended."""

    def __init__(self, **tasks):
        self.states = tasks
        self.state = "running"
        self.told = []

    def active_runs(self):
        at_work = set(self.states.values()) - {"success", "failed", "skipped"}
        if self.told and not at_work and self.state == "running":
            self.state = "success"  # Airflow's own judgement of a skipped leaf.
        return [RUN] if self.state == "running" else []

    def fail(self, dag_id, run_id):
        self.told.append(("run", run_id))
        at_work = set(self.states.values()) - {"success", "failed", "skipped"}
        if not at_work:
            self.state = "failed"

    def tasks(self, dag_id, run_id):
        return [{"task_id": k, "state": v} for k, v in self.states.items()]

    def fail_task(self, dag_id, run_id, task_id):
        self.told.append(("task", task_id))
        self.states[task_id] = "failed"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(processes, "POLL_SECONDS", 0)


def test_tasks_that_wait_are_failed_and_ended_ones_left_as_they_are():
    api = OneRun(create="success", load="deferred", terminate="up_for_retry", done=None)
    settle(api, lambda text: None)
    assert [name for kind, name in api.told if kind == "task"] == [
        "load",
        "terminate",
        "done",
    ]


def test_the_run_is_failed_whatever_airflow_makes_of_skipped_tasks():
    api = OneRun(load="running", done="skipped")
    settle(api, lambda text: None)
    assert api.state == "failed"


def test_it_tells_which_run_it_ends():
    told = []
    settle(OneRun(load="running"), told.append)
    assert told == ["stopping moma_full_load r1"]


def test_nothing_at_work_needs_nothing():
    api = OneRun()
    api.state = "success"
    settle(api, lambda text: None)
    assert api.told == []


@pytest.mark.parametrize(
    "error", [ApiError(500, "busy"), ConnectionRefusedError("gone")]
)
def test_an_airflow_that_does_not_answer_is_told_and_does_not_stop_the_stopping(error):
    class Silent:
        def active_runs(self):
            raise error

    told = []
    settle(Silent(), told.append)
    assert told[0].startswith("active runs could not be marked failed")
