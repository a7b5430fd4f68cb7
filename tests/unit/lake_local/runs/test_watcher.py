"""A run is followed by its task states and by what its steps print."""

from __future__ import annotations

import pytest

from lake_local.errors import StartFailed
from lake_local.runs import watcher
from lake_local.runs.watcher import Follower, StepOutput


class ScriptedAirflow:
    """Plays a run as a list of (run state, {task: state})."""

    def __init__(self, scenes):
        self._scenes = iter(scenes)

    def run(self, dag_id, run_id):
        state, self._states = next(self._scenes)
        if isinstance(state, Exception):
            raise state
        return {"state": state}

    def tasks(self, dag_id, run_id):
        return [
            {"task_id": name, "try_number": 1, "state": state}
            for name, state in self._states.items()
        ]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(watcher, "POLL_SECONDS", 0)


@pytest.fixture
def step(tmp_path):
    folder = tmp_path / "j-1" / "s-1"
    folder.mkdir(parents=True)
    return folder / "stdout"


def follower(scenes, told, *, folders=(), dead=(), held_up=lambda: ""):
    output = StepOutput(folders=lambda: folders)
    airflow = ScriptedAirflow(scenes)
    return Follower(airflow, told.append, output, lambda: list(dead), held_up)


def test_each_change_of_a_task_is_told_once():
    told = []
    scenes = [
        ("running", {"create": "running", "load": None}),
        ("running", {"create": "running", "load": None}),
        ("running", {"create": "success", "load": "running"}),
        ("success", {"create": "success", "load": "success"}),
    ]
    assert follower(scenes, told).follow("d", "r") == "success"
    assert [line.split()[1:] for line in told] == [
        ["create", "running"],
        ["create", "success"],
        ["load", "running"],
        ["load", "success"],
    ]


def test_what_a_run_waits_for_is_told_once_as_long_as_it_is_the_same():
    told, holders = [], iter(["", "waits for a", "waits for a", "waits for b"])
    scenes = [
        ("running", {"create_cluster": "running"}),
        *[("running", {"create_cluster": "deferred"})] * 4,
        ("running", {"create_cluster": "success", "load": "deferred"}),
        ("success", {"create_cluster": "success", "load": "success"}),
    ]
    watching = follower(scenes, told, held_up=lambda: next(holders))
    assert watching.follow("d", "r") == "success"
    assert [line.split(maxsplit=1)[1] for line in told if "waits" in line] == [
        "waits for a",
        "waits for b",
    ]


def test_a_red_run_ends_as_failed():
    assert follower([("failed", {"load": "failed"})], []).follow("d", "r") == "failed"


def test_a_server_that_is_busy_for_a_timestamp_does_not_end_it():
    scenes = [(OSError("timed out"), {}), ("success", {})]
    assert follower(scenes, []).follow("d", "r") == "success"


def test_a_dead_scheduler_ends_it_by_name():
    watching = follower([("running", {})], [], dead=["scheduler"])
    with pytest.raises(StartFailed, match="scheduler ended while r was running"):
        watching.follow("d", "r")


def test_progress_lines_are_told_once_and_whole(step):
    output = StepOutput(folders=lambda: [step.parent.parent])
    step.write_text("noise\nLAKE moma.artists full_load: reading\nLAKE half")
    assert output.new_lines() == ["moma.artists full_load: reading"]
    assert output.new_lines() == []
    with open(step, "a") as more:
        more.write(" a line\n")
    assert output.new_lines() == ["half a line"]
