"""Schedules with faults in which a continuous run is in the way of other runs."""

from __future__ import annotations

import pytest

from lake_airflow.runs.lease import DomainLease
from tests.kinds import one_by_day
from tests.simulator.handover import HandoverWorld
from tests.simulator.invariants import violations

BY_DAY, ALL = range(1, 9), range(1, 21)

pytestmark = pytest.mark.usefixtures("quiet")


def played(seeds):
    for seed in seeds:
        world = HandoverWorld(seed)
        world.play()
        yield world


@pytest.mark.parametrize("seeds", one_by_day([BY_DAY, ALL]))
def test_others_take_over_after_a_micro_batch_and_no_invariant_breaks(seeds):
    handed_over = 0
    for world in played(seeds):
        assert violations(world) == []
        handed_over += world.was_handed_over
    # In the other schedules something else ended it before it was asked.
    assert handed_over > len(seeds) / 2


@pytest.mark.parametrize("seeds", one_by_day([range(3, 5), range(1, 6)]))
def test_without_asking_it_would_go_on_until_something_else_ends_it(monkeypatch, seeds):
    monkeypatch.setattr(DomainLease, "ask_to_stop", lambda *_: None)
    # When asked, those of seeds 3 to 5 hand over.
    assert not any(world.was_handed_over for world in played(seeds))
