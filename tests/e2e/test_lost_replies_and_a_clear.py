"""EMR's replies get lost, and a stage is cleared while its step works: nothing is done
twice. That the tables are right afterwards, the museum's figures tell."""

from __future__ import annotations

from collections import Counter

from tests.e2e.lake import tags


def test_the_run_has_one_cluster(lake, repaired):
    of_run = [c for c in lake.clusters() if tags(c).get("lake:run") == repaired.run.key]
    assert len(of_run) == 1


def test_no_step_ran_twice(repaired):
    times = Counter(each["Name"] for each in repaired.run.steps)
    assert set(times.values()) == {1}


def test_the_stage_was_cleared_and_followed_its_step(lake, repaired):
    (stage,) = [
        each
        for each in lake.airflow.tasks(repaired.run.dag_id, repaired.run.run_id)
        if each["task_id"] == "incremental"
    ]
    assert stage["try_number"] > 1 and stage["state"] == "success"
