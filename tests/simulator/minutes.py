"""Minutes from what happened to a run until its cluster was gone and its lease free."""

from __future__ import annotations

from datetime import datetime, timedelta
from statistics import median
from typing import Dict, Iterator, List, Tuple

from lake_airflow.runs.lease import GRACE
from tests.simulator.airflow import SimulatedRun
from tests.simulator.cloud import Cluster
from tests.simulator.world import World

Minutes = Dict[str, Tuple[List[float], List[float]]]
"""By event: until the cluster was gone, and until the lease was free."""


def measure(world: World, into: Minutes) -> None:
    """Add what the last event of each run of this schedule led to.

    It counts from the event, or from the end of the run's last step if that is later:
    a step that works on is no waste. Runs without a cluster, or without the lease, at
    that moment have nothing to end, or to give back.
    """
    for run in world.runs:
        if run.timestamps:
            at, event = run.timestamps[-1]
            clusters = world.clusters_of(run)
            since = max([at, *_step_ends(clusters)])
            gone = max([since, *(c.ended or world.cloud.now for c in clusters)])
            free = max(since, lease_free(world, run, gone))
            gones, frees = into.setdefault(event, ([], []))
            if any(c.created <= at and not c.has_ended(at) for c in clusters):
                gones.append(_minutes(gone - since))
            if _has_lease(world, run, at):
                frees.append(_minutes(free - since))


def table(found: Minutes) -> Iterator[str]:
    """A line per event: of both, how many runs it was, the median and the worst."""
    if found:
        yield "minutes until a cluster is gone, a lease is free (runs: median, worst)"
    for event, (gones, frees) in sorted(found.items()):
        yield f"{_values(gones)} {_values(frees)}  {event}"


def lease_free(world: World, run: SimulatedRun, gone: datetime) -> datetime:
    """When another run could take it: it was given back, or its cluster was gone."""
    free, taken = world.cloud.now, None
    is_held = False
    for at, lease in world.cloud.leases:
        mine = lease["holder"] == world.name_of(run)
        if mine:
            taken, is_held = at, True
        elif is_held:
            free, is_held = at, False
    if taken is None:
        return min(at for at, _ in run.timestamps)
    return min(max(gone, taken + GRACE), free)


def _has_lease(world: World, run: SimulatedRun, at: datetime) -> bool:
    before = [lease for when, lease in world.cloud.leases if when <= at]
    return bool(before) and before[-1]["holder"] == world.name_of(run)


def _values(minutes: List[float]) -> str:
    middle, worst = (median(minutes), max(minutes)) if minutes else (0, 0)
    return f"{len(minutes):6}: {middle:3.0f}, {worst:3.0f}"


def _step_ends(clusters: List[Cluster]) -> Iterator[datetime]:
    for cluster in clusters:
        for step in cluster.steps:
            if step.ended:
                yield step.ended


def _minutes(time: timedelta) -> float:
    return time.total_seconds() / 60
