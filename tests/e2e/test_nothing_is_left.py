"""Clusters end, processes end, data stays: after `down` and after kill -9."""

from __future__ import annotations

from collections import Counter

from tests.e2e.lake import tags


def test_the_reaper_ends_what_is_too_old_in_its_environment(reaped):
    assert reaped.done.code == 0
    assert reaped.left in ("TERMINATING", "TERMINATED")
    assert "TERMINAT" not in reaped.other


def test_each_run_had_one_cluster_and_none_is_alive(revived):
    made = Counter(tags(each).get("lake:run") for each in revived.clusters)
    assert made.pop(None) == 2, "those that belonged to no run"
    assert len(made) >= 3 and set(made.values()) == {1}, made
    states = {each["Name"]: each["Status"]["State"] for each in revived.clusters}
    assert set(states.values()) == {"TERMINATED"}, states


def test_show_works_after_the_emulator_was_killed(revived):
    assert revived.count == "14839\n"


def test_down_ends_every_process_of_the_home(down):
    names = " ".join(down.before)
    for part in ("lake_local.emulator", "dag-processor", "scheduler", "triggerer"):
        assert part in names
    assert down.after == []


def test_show_works_after_down_and_leaves_nothing_running(down):
    assert down.versions == "15434\n"
    assert down.after_show == []
