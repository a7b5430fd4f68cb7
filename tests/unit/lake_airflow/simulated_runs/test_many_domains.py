"""Fifty domains on one minute and a quota of ten clusters: slots are kept, and all are served.

One of the domains has eight runs at once, of which seven come after those of all others, as
each asks for its slot when it has the lease. Without faults a round of ten clusters takes about
eight minutes, and the last of the fifty gets its cluster in the fifth.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from lake_airflow.runs.cluster_slots import ClusterSlots
from tests.kinds import one_by_day
from tests.simulator.many_domains import (
    DOMAINS,
    GREEDY,
    QUOTA,
    RUNS_OF_GREEDY,
    ManyDomains,
)

pytestmark = pytest.mark.usefixtures("quiet")


def played(seed=1, **more) -> ManyDomains:
    world = ManyDomains(seed, **more)
    world.play()
    return world


def test_without_faults_all_runs_are_green_and_none_waits_longer_than_the_rounds():
    world = played(calm=True)
    assert {run.state for run in world.runs} == {"success"}
    assert (world.cloud.refused, world.most_at_once()) == ([], QUOTA)
    assert world.domains_in_order()[-RUNS_OF_GREEDY + 1 :] == [GREEDY] * (
        RUNS_OF_GREEDY - 1
    )
    waits = world.waits()
    assert len(waits) == DOMAINS - 1  # the other domain's runs wait for each other
    rounds, a_round = DOMAINS // QUOTA, timedelta(minutes=8)
    assert max(waits) < (rounds - 1) * a_round <= world.longest_wait()


@pytest.mark.parametrize("seed", one_by_day([3, 5, 7]))
def test_with_faults_none_is_above_the_quota_and_none_starves(seed):
    world = played(seed, calm=False)
    assert (world.cloud.refused, world.most_at_once()) == ([], QUOTA)
    assert world.starved() == []
    assert max(world.waits()) < world.longest_wait()


def test_without_the_limit_most_runs_are_red_for_want_of_quota():
    world = played(calm=True, limit=None)
    assert len(world.cloud.refused) == DOMAINS - QUOTA
    assert sum(run.state == "failed" for run in world.runs) == DOMAINS - QUOTA


@pytest.mark.nightly  # it plays until the slots are taken for dead: half a minute
def test_without_giving_slots_back_runs_wait_longer_than_the_bound(monkeypatch):
    monkeypatch.setattr(ClusterSlots, "give_back", lambda slots, run: None)
    world = played(calm=True)
    assert max(world.waits()) > world.longest_wait()
