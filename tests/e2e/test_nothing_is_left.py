"""Clusters end, processes end, data stays: after `down` and after kill -9."""

from __future__ import annotations


def test_no_cluster_is_alive_after_all_runs(repeated):
    runs = [each for each in repeated.clusters if each["Name"] != "left over"]
    assert len(runs) >= 12
    states = {each["Name"]: each["Status"]["State"] for each in repeated.clusters}
    assert set(states.values()) == {"TERMINATED"}, states


def test_show_works_after_the_stand_in_was_killed(counted_after_kill):
    assert counted_after_kill == "14839\n"


def test_down_ends_every_process_of_the_home(down):
    names = " ".join(down.before)
    for part in ("lake_local.aws", "dag-processor", "scheduler", "triggerer"):
        assert part in names
    assert down.after == []


def test_show_works_after_down_and_leaves_nothing_running(down):
    assert down.versions == "15434\n"
    assert down.after_show == []
