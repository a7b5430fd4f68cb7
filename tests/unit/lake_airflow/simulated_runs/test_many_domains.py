"""Twenty domains on one minute and a quota of four clusters: slots are kept, and all are served.

One of the domains has eight runs at once, of which seven come after those of all others, as
each asks for its slot when it has the lease. Without faults a round of four clusters takes about
eight minutes, and the last of the twenty gets its cluster in the fifth. The night has fifty
domains and a quota of ten.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from lake_airflow.runs.cluster_slots import ClusterSlots
from tests.kinds import one_by_day
from tests.simulator.many_domains import (
    GREEDY,
    LARGE,
    RUNS_OF_GREEDY,
    SMALL,
    ManyDomains,
)

pytestmark = pytest.mark.usefixtures("quiet")


def played(seed=1, **more) -> ManyDomains:
    world = ManyDomains(seed, **more)
    world.play()
    return world


@pytest.mark.parametrize("size", one_by_day([SMALL, LARGE]))
def test_without_faults_all_runs_are_green_and_none_waits_longer_than_the_rounds(size):
    world = played(calm=True, size=size)
    assert {run.state for run in world.runs} == {"success"}
    assert (world.cloud.refused, world.most_at_once()) == ([], world.quota)
    assert world.domains_in_order()[-RUNS_OF_GREEDY + 1 :] == [GREEDY] * (
        RUNS_OF_GREEDY - 1
    )
    waits = world.waits()
    assert (
        len(waits) == world.domains - 1
    )  # the other domain's runs wait for each other
    rounds, a_round = world.domains // world.quota, timedelta(minutes=8)
    assert max(waits) < (rounds - 1) * a_round <= world.longest_wait()


@pytest.mark.parametrize(
    "schedule", one_by_day([(3, SMALL), (3, LARGE), (5, LARGE), (7, LARGE)])
)
def test_with_faults_none_is_above_the_quota_and_none_starves(schedule):
    seed, size = schedule
    world = played(seed, calm=False, size=size)
    assert (world.cloud.refused, world.most_at_once()) == ([], world.quota)
    assert world.starved() == []
    assert max(world.waits()) < world.longest_wait()


def test_without_the_limit_most_runs_are_red_for_want_of_quota():
    world = played(calm=True, limited=False)
    beyond = world.domains - world.quota
    assert len(world.cloud.refused) == beyond
    assert sum(run.state == "failed" for run in world.runs) == beyond


@pytest.mark.nightly  # it plays until the slots are taken for dead: half a minute
def test_without_giving_slots_back_runs_wait_longer_than_the_bound(monkeypatch):
    monkeypatch.setattr(ClusterSlots, "give_back", lambda slots, run: None)
    world = played(calm=True)
    assert max(world.waits()) > world.longest_wait()
