"""Which clusters of an environment live, as EMR lists them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from lake_airflow.cluster import ALIVE
from lake_spec.model import EnvironmentSpec

ENDING = "TERMINATING"


def living_clusters(
    client: Any, environment: EnvironmentSpec, name: str, *, also_ending: bool = False
) -> list[str]:
    """The ids of the living clusters of this name and environment, oldest first."""
    states = [*ALIVE, *([ENDING] if also_ending else [])]
    pages = client.get_paginator("list_clusters").paginate(ClusterStates=states)
    found = [each for page in pages for each in page["Clusters"]]
    named = [each for each in found if each["Name"] == name]
    named.sort(key=lambda each: (created(each), each["Id"]))
    return [each["Id"] for each in named if _is_of(client, environment, each["Id"])]


def created(cluster: dict[str, Any]) -> datetime:
    """When it was created."""
    return cluster["Status"]["Timeline"]["CreationDateTime"]


def tags_of(cluster: dict[str, Any]) -> dict[str, str]:
    """The tags of a described cluster by their keys."""
    return {tag["Key"]: tag["Value"] for tag in cluster.get("Tags", ())}


def _is_of(client: Any, environment: EnvironmentSpec, cluster_id: str) -> bool:
    cluster = client.describe_cluster(ClusterId=cluster_id)["Cluster"]
    return tags_of(cluster).get("lake:environment") == environment.name
