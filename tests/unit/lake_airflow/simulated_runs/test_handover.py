"""Schedules with faults in which a continuous run is in the way of other runs."""

from __future__ import annotations

import pytest

from lake_airflow.runs.lease import DomainLease
from tests.simulator.handover import HandoverWorld
from tests.simulator.invariants import violations

SCHEDULES = 20

pytestmark = pytest.mark.usefixtures("quiet")


def played(schedules: int = SCHEDULES):
    for seed in range(1, schedules + 1):
        world = HandoverWorld(seed)
        world.play()
        yield world


def test_others_take_over_after_a_micro_batch_and_no_invariant_breaks():
    handed_over = 0
    for world in played():
        assert violations(world) == []
        handed_over += world.was_handed_over
    # In the other schedules something else ended it before it was asked.
    assert handed_over > SCHEDULES / 2


def test_without_asking_it_would_go_on_until_something_else_ends_it(monkeypatch):
    monkeypatch.setattr(DomainLease, "ask_to_stop", lambda *_: None)
    few = SCHEDULES // 4  # when asked, more than half of them hand over
    assert not any(world.was_handed_over for world in played(few))
