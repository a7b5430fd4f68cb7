"""One run in a simulated account in which nothing fails, to see what it bills."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Dict, Mapping, Sequence

from lake_spec.facts.table_order import longest_first, makespan
from tests.simulator.airflow import SimulatedRun
from tests.simulator.cloud import START, Cloud, Cluster, Step
from tests.simulator.designs import ours
from tests.simulator.world import World
from tests.unit.lake_airflow.specs import dag_plan, domain, table

Seconds = Mapping[str, Mapping[str, float]]  # by stage and table


class Calm(Random):
    """No chance becomes a fault, and nobody waits longer than they must."""

    def random(self) -> float:
        return 0.999

    def uniform(self, a: float, b: float) -> float:
        return min(a, b)

    def choice(self, seq: Sequence[Any]) -> Any:
        return seq[0]


@dataclass(frozen=True)
class Times:
    """What a cluster, a step and the tables in it take, in seconds."""

    start: float
    step: float
    tables: Seconds
    before: Seconds
    at_once: int

    def of(self, stage: str) -> float:
        """Seconds of the stage's step, its tables in the order that a step plans."""
        seconds = self.tables[stage]
        order = longest_first(list(seconds), self.before[stage])
        return self.step + makespan([seconds[name] for name in order], self.at_once)


class CalmCloud(Cloud):
    """Clusters and steps that take what was said."""

    def __init__(self, times: Times, completed: Any) -> None:
        super().__init__(0, completed)
        self.random = self.marks = self.faults = Calm()
        self.times = times

    def add_cluster(self, request: Dict[str, Any]) -> Cluster:
        made = super().add_cluster(request)
        made.ready = made.created + timedelta(seconds=self.times.start)
        return made

    def add_step(self, cluster: Cluster, name: str, args: Sequence[str] = ()) -> Step:
        added = super().add_step(cluster, name, args)
        added.lasts = timedelta(seconds=self.times.of(name.split(" ")[0]))
        return added


class CalmWorld(World):
    """One run of an incremental DAG."""

    def __init__(self, times: Times) -> None:
        self.times = times
        self.cloud = CalmCloud(times, self._completed)
        self.objects, self.files, self.reaped = {}, {}, set()
        self._designs: Dict[str, Any] = {}
        names = sorted({name for of in times.tables.values() for name in of})
        plan = dag_plan("incremental", domain(*map(table, names)))
        run = SimulatedRun(self.cloud, plan, ours(plan), "manual__1", kills=False)
        self.runs = [run]

    def _completed(self, cluster: Cluster, step: Step) -> None:
        stage = step.name.split(" ")[0]
        tags = cluster.tags
        files = self.files.setdefault(f"{tags['lake:dag']}/{tags['lake:run']}", {})
        for name, seconds in self.times.tables[stage].items():
            report = {"state": "done", "seconds": seconds}
            files[f"{stage}/{name}.json"] = json.dumps(report)

    def play(self) -> Dict[str, Any]:
        """Play the run; the entry of its cluster in the ledger, and its `seconds`."""
        (run,) = self.runs
        with self._simulated():
            self._play_beside([run.play()])
        assert run.state == "success", run.causes
        (entry,) = (
            json.loads(body)
            for (_, key), body in self.objects.items()
            if "costs" in key
        )
        return {**entry, "seconds": (self.cloud.now - START).total_seconds()}
