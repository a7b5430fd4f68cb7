"""Many domains whose schedules fire on one minute, in an account with a quota of clusters."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Dict, Iterator, List, Tuple

from lake_airflow.runs.cluster_slots import GRACE
from lake_spec.model import DomainSpec
from tests.simulator.airflow import SimulatedRun
from tests.simulator.calm import Calm
from tests.simulator.cloud import Cloud, Cluster
from tests.simulator.designs import ours
from tests.simulator.world import OVER, World
from tests.unit.lake_airflow.specs import ENVIRONMENT, dag_plan, domain, table

SMALL, LARGE = (20, 4), (50, 10)
"""How many domains there are, and how many clusters there may be at once."""
GREEDY, RUNS_OF_GREEDY = "d00", 8
"""The domain of which so many runs are started on the same minute as one of each other."""


LEFT_OUT = ("two tries at once", "a run dated in the future")
"""No matter of slots: a request that is sent twice, and what Airflow starts hours later."""
HANDOVER = timedelta(minutes=5)
"""Longest time from the end of a cluster to the next one: a look at EMR, one at the slots."""


class QuotaCloud(Cloud):
    """Ends each cluster above a quota at once, as one that cannot start."""

    def __init__(self, seed: int, completed: Any, *, quota: int, calm: bool) -> None:
        super().__init__(seed, completed)
        self.quota = quota
        self.refused: List[Cluster] = []
        if calm:
            self.random = self.marks = self.faults = Calm()

    def happens(self, event: str, chance: float) -> bool:
        return event not in LEFT_OUT and super().happens(event, chance)

    def add_cluster(self, request: Dict[str, Any]) -> Cluster:
        there = [c for c in self.clusters.values() if not c.has_ended(self.now)]
        made = super().add_cluster(request)
        if len(there) >= self.quota:
            self.refused.append(made)
            made.end(self.now, "The requested number of vCPUs exceeds the quota.")
        return made


class ManyDomains(World):
    """A run of each domain, all on one minute; with the limit, or without."""

    def __init__(
        self,
        seed: int,
        *,
        calm: bool,
        size: Tuple[int, int] = SMALL,
        limited: bool = True,
    ) -> None:
        self.domains, self.quota = size
        self.cloud = QuotaCloud(seed, self._completed, quota=self.quota, calm=calm)
        self.objects, self.files, self.reaped = {}, {}, set()
        self.told, self.unsure, self.unleased = [], [], []
        limit = self.quota if limited else None
        environment = replace(ENVIRONMENT, clusters_at_once=limit)
        self._designs, self.runs = {}, []
        for n in range(self.domains):
            spec = _domain(f"d{n:02}")
            plan = dag_plan("incremental", spec)
            self._designs[spec.name] = ours(plan, spec, environment)
            for number in range(RUNS_OF_GREEDY if spec.name == GREEDY else 1):
                design, run_id = self._designs[spec.name], f"scheduled__{number}"
                run = SimulatedRun(self.cloud, plan, design, run_id, kills=bool(n % 2))
                self.runs.append(run)

    def play(self) -> None:
        with self._simulated():
            reaper = [self._reaper()]
            plays = [_at(self.cloud.now, run) for run in self.runs]
            self._play_beside([], always=[*plays, *reaper])

    def waits(self) -> List[timedelta]:
        """How long runs waited for their clusters, but for those that wait for a lease."""
        return [
            self.clusters_of(run)[0].created - run.began_at
            for run in self.runs
            if run.plan.domain != GREEDY and self.clusters_of(run)
        ]

    def domains_in_order(self) -> List[str]:
        """The domain of each cluster, in the order in which they were made."""
        return [c.tags["lake:domain"] for c in self.cloud.clusters.values()]

    def longest_wait(self) -> timedelta:
        """The bound of a wait: meanwhile each of the slots has a cluster, or is handed over,
        or is kept for a run that does not come."""
        there = self.cloud.clusters.values()
        lives = sum((c.ended - c.created + HANDOVER for c in there), timedelta())
        gone = [r for r in self.runs if r.state == "deleted" or r.is_left_alone]
        return (lives + len(gone) * GRACE) / self.quota

    def starved(self) -> List[str]:
        """Runs that still wait, or gave up."""
        return [
            run.key
            for run in self.runs
            if (run.state not in OVER and not run.is_left_alone)
            or any("The run waited" in cause for cause in run.causes)
        ]

    def most_at_once(self) -> int:
        """The greatest number of clusters that were there at one moment."""
        clusters = self.cloud.clusters.values()
        return max(
            sum(a.created <= c.created and not a.has_ended(c.created) for a in clusters)
            for c in clusters
        )


def _domain(name: str) -> DomainSpec:
    tables = [replace(table("orders"), domain=name)]
    return replace(domain(*tables, step_per_stage=False), name=name)


def _at(began: datetime, run: SimulatedRun) -> Iterator[datetime]:
    """The run, whatever time it is when its turn comes."""
    yield began
    yield from run.play()
