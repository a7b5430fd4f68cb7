"""A domain whose continuous run is in the way of others: they ask, it ends, they go on."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Callable, Dict, Iterator, Sequence, Set

from lake_spec.model import Continuous, Notifications
from lake_spec.model.continuous import STOP
from tests.simulator.airflow import SimulatedRun
from tests.simulator.cloud import Cloud, Cluster, Step
from tests.simulator.designs import ours
from tests.simulator.world import TOPIC, World
from tests.unit.lake_airflow.specs import dag_plan, domain

HOURS = timedelta(hours=12)
KINDS = ("continuous", "maintenance", "incremental")
SPEC = domain(continuous=Continuous(), notifications=Notifications(TOPIC))
PLANS = {kind: dag_plan(kind, SPEC) for kind in KINDS}


class HandoverCloud(Cloud):
    """Continuous steps last for hours, unless `stop` is put while they run."""

    def __init__(
        self,
        seed: int,
        completed: Callable[[Cluster, Step], None],
        files: Dict[str, Dict[str, str]],
    ) -> None:
        super().__init__(seed, completed)
        self._files = files
        self._begun: Set[str] = set()

    def add_step(self, cluster: Cluster, name: str, args: Sequence[str] = ()) -> Step:
        added = super().add_step(cluster, name, args)
        if name.startswith("continuous "):
            added.lasts = HOURS
        return added

    def pass_time(self, seconds: float) -> None:
        super().pass_time(seconds)
        for cluster, step in self.continuous_steps():
            run = f"{cluster.tags['lake:dag']}/{cluster.tags['lake:run']}"
            files = self._files.get(run, {})
            if step.state == "RUNNING" and step.id not in self._begun:
                self._begun.add(step.id)
                files.pop(STOP, None)  # what it finds at its start is forgotten
            elif step.state == "RUNNING" and files.pop(STOP, None):
                left = timedelta(seconds=self.random.uniform(5, 90))
                step.lasts = self.now - step.began + left

    def continuous_steps(self) -> Iterator[Any]:
        """Those that were handed in, each with its cluster."""
        for cluster in self.clusters.values():
            for step in cluster.steps:
                if step.name.startswith("continuous "):
                    yield cluster, step


class HandoverWorld(World):
    """A continuous run, a maintenance run and a backfill next to it, another run after it."""

    def __init__(self, seed: int) -> None:
        self.files, self.objects, self.reaped = {}, {}, set()
        self.cloud = HandoverCloud(seed, self._completed, self.files)
        self.told, self.unsure, self.unleased = [], [], []
        self._designs = {kind: ours(plan) for kind, plan in PLANS.items()}
        self.runs = [
            self._run(kind, f"manual__{n}", kills=True) for n, kind in enumerate(KINDS)
        ]
        self.backfill = self._backfill(True)
        self.runs += self.backfill

    def _run(self, kind: str, run_id: str, **more: Any) -> SimulatedRun:
        return SimulatedRun(
            self.cloud, PLANS[kind], self._designs[kind], run_id, **more
        )

    @property
    def was_handed_over(self) -> bool:
        """Whether a continuous step completed long before its hours were over."""
        ended = [step for _, step in self.cloud.continuous_steps() if step.is_over]
        return any(
            step.state == "COMPLETED" and step.ended - step.began < HOURS / 2
            for step in ended
        )
