"""Another deployment, whose environment has our name, with the clusters of the same runs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Dict, Iterator

from lake_airflow.emr.job_flow import AIRFLOW_TAG, cluster_name
from lake_spec.platform.deployment import DEPLOYMENT_TAG
from tests.simulator.airflow import SimulatedRun
from tests.simulator.cloud import Cluster, Step
from tests.simulator.designs import ours
from tests.simulator.world import PLANS, World
from tests.unit.lake_airflow.specs import ENVIRONMENT

YOUNG, OLD, AT_WORK = timedelta(0), timedelta(days=3), timedelta(minutes=30)


class Foreign(Cluster):
    """A cluster that its own deployment keeps: it stays until somebody ends it."""

    def _end_if_due(self, now: datetime, idle_since: datetime) -> None:
        pass


class NeighbourWorld(World):
    """A schedule beside which each run has a namesake there, with a cluster at work."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, {kind: ours(plan) for kind, plan in PLANS.items()})
        self.foreign = [self._foreign(n, run) for n, run in enumerate(self.runs)]

    def _foreign(self, n: int, run: SimulatedRun) -> Foreign:
        name = self.name_of(run)
        tags: Dict[str, str] = {
            "lake:domain": "sales",
            "lake:dag": run.plan.dag_id,
            "lake:run": name.partition("/")[2],
            "lake:run-id": run.run_id,
            "lake:environment": ENVIRONMENT.name,
            "lake:max-hours": "24",
            DEPLOYMENT_TAG: "of-the-neighbour",
            **({AIRFLOW_TAG: run.airflow} if run.airflow else {}),
        }
        request = {
            "Name": cluster_name(name),
            "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
        }
        created = self.cloud.now - (OLD if n % 2 else YOUNG)
        found = Foreign(f"j-foreign-{n}", request, created, created, None)
        found.steps = [Step(f"s-foreign-{n}", "theirs", created, AT_WORK, "COMPLETED")]
        return found

    def is_of(self, cluster: Cluster, run: SimulatedRun) -> bool:
        return not isinstance(cluster, Foreign) and super().is_of(cluster, run)

    def play(self) -> None:
        self.cloud.clusters.update({each.id: each for each in self.foreign})
        super().play()
        for each in self.foreign:
            del self.cloud.clusters[each.id]

    def taken(self) -> Iterator[str]:
        """Say what was done to clusters that are the neighbour's."""
        for each in self.foreign:
            if each.told_to_end:
                yield f"{each.id} was ended"
            if len(each.steps) > 1:
                yield f"{each.id} got steps"
