"""To stop a continuous run for good: first stop it, then pause its DAG (docs/schedules.md).

The orders of the page and of haste are played in a simulated account without faults. The
run has its lease at midnight; an hour later somebody acts; a maintenance run starts at two.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from lake_airflow.emr.clusters import IDLE
from lake_spec.model.continuous import STOP
from tests.simulator.calm import Calm
from tests.simulator.cloud import START
from tests.simulator.handover import HOURS, HandoverWorld
from tests.simulator.invariants import END_TASK, violations

pytestmark = pytest.mark.usefixtures("quiet")

HOUR = timedelta(hours=1)
LOOK = timedelta(minutes=15)


class StoppingWorld(HandoverWorld):
    """A continuous run, what is done to it after an hour, and a maintenance run."""

    def __init__(self, act: str) -> None:
        super().__init__(1)
        self.cloud.random = self.cloud.marks = self.cloud.faults = Calm()
        self.continuous, self.maintenance = self.runs = self.runs[:2]
        self.cloud.runs[:] = self.runs
        self.backfill, self.act = [], act
        self.cloud.happens = self._happens

    def play(self) -> None:
        with self._simulated():
            plays = [self.continuous.play(), self._later(), self._acts()]
            self._play_beside(plays, always=[self._reaper()])

    def _later(self):
        yield START + 2 * HOUR
        yield from self.maintenance.play()

    def _acts(self):
        yield START + HOUR
        if self.act == "stop":
            self.files[self.name_of(self.continuous)][STOP] = "{}"

    def _happens(self, event: str, _: float) -> bool:
        is_now = START + HOUR <= self.cloud.now < START + 2 * HOUR
        return event == "its DAG is paused" == f"its DAG is {self.act}" and is_now


def played(act):
    world = StoppingWorld(act)
    world.play()
    assert violations(world) == []
    assert world.maintenance.state == "success"
    (stopped,) = world.clusters_of(world.continuous)
    (waited,) = world.clusters_of(world.maintenance)
    (step,) = (s for s in stopped.steps if s.name.startswith("continuous "))
    return world, stopped, step, waited


def test_in_the_order_of_the_page_it_ends_as_any_run():
    world, cluster, step, maintenance = played("stop")
    assert world.continuous.state == "success"
    assert world.continuous.states[END_TASK] == "success"
    assert step.ended - START < HOUR + timedelta(minutes=2)
    assert cluster.ended < START + HOUR + LOOK
    assert maintenance.created < START + 2 * HOUR + timedelta(minutes=1)


def test_paused_first_its_cluster_goes_when_it_is_idle_and_others_take_over():
    world, cluster, step, maintenance = played("paused")
    assert world.continuous.state == "running"
    assert END_TASK not in world.continuous.states
    # The maintenance asked it to stop; nobody gave the cluster anything to do after that.
    assert step.ended - START < 2 * HOUR + LOOK < HOURS
    assert cluster.told_to_end - step.ended < IDLE + LOOK
    assert maintenance.created - step.ended < IDLE + 2 * LOOK
