"""Airflow's executor on this machine: a task that deferred goes on under its own key."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from airflow.executors.local_executor import LocalExecutor
from airflow.models.taskinstancekey import TaskInstanceKey
from airflow.utils.state import TaskInstanceState

FOLDER = Path(__file__).resolve().parents[4] / "local" / "executor"
KEY = TaskInstanceKey("moma_incremental", "scd2", "manual-1", 1)


@pytest.fixture
def queue(monkeypatch):
    """Queues the one task in an executor whose processes end manually."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(LocalExecutor, "queue_workload", lambda self, *each: None)

    def queue(executor) -> None:
        workload = SimpleNamespace(ti=SimpleNamespace(key=KEY))
        executor.queue_workload(workload, None)
        executor.running.add(KEY)

    return queue


def ours():
    from resuming import ResumingExecutor

    return ResumingExecutor(parallelism=2)


def test_the_end_of_the_first_process_is_not_that_of_the_resumed_one(queue):
    executor = ours()
    queue(executor)
    queue(executor)  # the trigger fires before the end of the first is read
    executor.success(KEY)
    assert (executor.running, executor.get_event_buffer()) == ({KEY}, {})
    executor.success(KEY)
    ((state, _),) = executor.get_event_buffer().values()
    assert (executor.running, state) == (set(), TaskInstanceState.SUCCESS)


@pytest.mark.parametrize("how, state", [("success", "success"), ("fail", "failed")])
def test_each_end_is_told_where_none_overlap(queue, how, state):
    executor = ours()
    for _ in range(2):
        queue(executor)
        getattr(executor, how)(KEY)
        assert [each for each, _ in executor.get_event_buffer().values()] == [state]
        assert executor.running == set()


def test_airflow_s_own_takes_one_for_the_other(queue):
    executor = LocalExecutor(parallelism=2)
    queue(executor)
    queue(executor)
    executor.success(KEY)
    assert executor.running == set() and executor.get_event_buffer()
