"""Schedules with faults: ours break no promise."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.kinds import one_by_day
from tests.simulator import __main__ as command
from tests.simulator.playing import SCHEDULES, play
from tests.simulator.invariants import violations

BY_DAY = (*range(1, 11), 12, 14, 25)
"""The last three miss a callback, the wait for an earlier run, and a step sent again."""

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.mark.parametrize("seeds", one_by_day([BY_DAY, range(1, SCHEDULES + 1)]))
def test_no_schedule_breaks_an_invariant(seeds):
    states: Counter = Counter()
    for played in play(seeds=seeds):
        assert violations(played) == []
        states.update(run.state for run in played.runs)
    # Neither an idle simulator nor one in which nothing works says anything.
    assert states["success"] > len(seeds) and states["failed"] > len(seeds) / 4
    assert states["deleted"]


def test_a_seed_plays_the_same_again():
    first, again = (
        [(c.id, c.created, c.ended) for c in each.cloud.clusters.values()]
        for _ in range(2)
        for each in play(schedules=1)
    )
    assert first == again and first


@pytest.mark.parametrize("found, code", [({}, 0), ({"left over": 3}, 1)])
def test_the_command_ends_with_the_counts(monkeypatch, capsys, found, code):
    monkeypatch.setattr(command, "play_all", lambda *_, **__: Counter(found))
    assert command.main(["--schedules", "7", "--seed", "5"]) == code
    lines = capsys.readouterr().out.splitlines()
    count = sum(found.values())
    assert (lines[0], lines[-1]) == ("seed 5", f"7 schedules, {count} violations")
