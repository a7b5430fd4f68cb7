"""The first task of a run, for tests that need a cluster or its refusal."""

from __future__ import annotations

from typing import Any

from lake_airflow.emr.clusters import ClusterFinder
from lake_airflow.operators.create_cluster import CreateCluster
from lake_airflow.planning.plan import DagPlan
from tests.unit.lake_airflow.specs import CLUSTER, ENVIRONMENT, RELEASE


def create_cluster(plan: DagPlan, **more: Any) -> CreateCluster:
    """It, with the cluster, environment and release of specs.py if none is given."""
    given = {"cluster": CLUSTER, "environment": ENVIRONMENT, "release": RELEASE, **more}
    return CreateCluster(task_id="create_cluster", plan=plan, poll_seconds=15, **given)


class SeesNoCluster(ClusterFinder):
    """Finds no cluster by its name."""

    def find(self, *_: Any) -> list[str]:
        return []


def create_without_looking(monkeypatch: Any) -> None:
    """From now on the first task alone does not find what is there."""
    monkeypatch.setattr(
        CreateCluster,
        "clusters",
        lambda task: SeesNoCluster(task.hook.conn, task.environment),
    )
