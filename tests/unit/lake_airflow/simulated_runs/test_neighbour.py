"""Schedules with faults beside a deployment of the same name: its clusters are left alone."""

from __future__ import annotations

import pytest

from lake_airflow.emr import clusters
from tests.kinds import some_by_day
from tests.simulator.invariants import violations
from tests.simulator.neighbour import NeighbourWorld

SCHEDULES = 10

pytestmark = pytest.mark.usefixtures("quiet")


def played(seed: int) -> NeighbourWorld:
    world = NeighbourWorld(seed)
    world.play()
    return world


@pytest.mark.parametrize("seed", some_by_day(range(1, SCHEDULES + 1), {1, 2, 3}))
def test_nothing_of_a_neighbour_is_taken_and_no_invariant_breaks(seed):
    world = played(seed)
    assert list(world.taken()) == []
    assert violations(world) == []


def test_told_by_the_name_of_the_environment_alone_they_are_ended(monkeypatch):
    monkeypatch.setattr(clusters, "deployment", lambda environment: "of-the-neighbour")
    world = played(1)
    assert len(list(world.taken())) >= len(world.foreign)
