"""Which clusters of an environment live, as EMR lists them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from lake_airflow.cluster import ALIVE
from lake_spec.model import EnvironmentSpec

LOOKS, BETWEEN_LOOKS = 6, 10
"""How often a cluster that may have been made is looked for, and seconds between."""


class FindsClusters:
    """Mixin of the operators that find clusters by their names.

    They have a hook of EMR and an environment.
    """

    def _find(self, name: str, states: Sequence[str] = ALIVE) -> list[str]:
        """The ids of the environment's clusters of this name, oldest first."""
        found = living_clusters(
            self.hook.conn, self.environment, name=name, states=states
        )
        return [cluster["Id"] for cluster in found]

    def _look_for(self, name: str) -> list[str]:
        """The same, of one that may have been asked for and is not listed yet."""
        for look in range(LOOKS):
            if look:
                time.sleep(BETWEEN_LOOKS)
            if found := self._find(name):
                return found
        return []


def living_clusters(
    client: Any,
    environment: EnvironmentSpec,
    *,
    name: str | None = None,
    states: Sequence[str] = ALIVE,
) -> list[dict[str, Any]]:
    """The clusters of this environment, and name if given, as described; oldest first."""
    pages = client.get_paginator("list_clusters").paginate(ClusterStates=list(states))
    listed = [each for page in pages for each in page["Clusters"]]
    found = [
        client.describe_cluster(ClusterId=each["Id"])["Cluster"]
        for each in listed
        if name in (None, each["Name"])
    ]
    ours = [c for c in found if tags_of(c).get("lake:environment") == environment.name]
    return sorted(ours, key=lambda cluster: (created(cluster), cluster["Id"]))


def created(cluster: dict[str, Any]) -> datetime:
    """When it was created."""
    return cluster["Status"]["Timeline"]["CreationDateTime"]


def tags_of(cluster: dict[str, Any]) -> dict[str, str]:
    """The tags of a described cluster by their keys."""
    return {tag["Key"]: tag["Value"] for tag in cluster.get("Tags", ())}
