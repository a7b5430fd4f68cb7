"""EMR's calls that only look: Describe, List, Get."""

from __future__ import annotations

import threading
from typing import Any, Iterable, Mapping, Sequence

from lake_emulator.emr import describe, instances
from lake_emulator.emr.errors import invalid_request, validation
from lake_emulator.emr.models import Cluster, Step

PAGE = 50
MOST_STEP_IDS = 10
Request = Mapping[str, Any]
Reply = dict[str, Any]


class EmrQueries:
    """The clusters that are known, and what is said of them."""

    def __init__(self, clusters: Iterable[Cluster], region: str) -> None:
        self._region = region
        self._changed = threading.Condition(threading.RLock())
        self._clusters = {cluster.id: cluster for cluster in clusters}

    def clusters(self) -> list[Cluster]:
        with self._changed:
            return list(self._clusters.values())

    def describe_cluster(self, request: Request) -> Reply:
        with self._changed:
            cluster = self._cluster(request["ClusterId"])
            return {"Cluster": describe.cluster_details(cluster, self._region)}

    def list_clusters(self, request: Request) -> Reply:
        states = request.get("ClusterStates")
        after = _seconds(request.get("CreatedAfter"), 0)
        before = _seconds(request.get("CreatedBefore"), float("inf"))
        with self._changed:
            found = [
                describe.cluster_summary(cluster, self._region)
                for cluster in reversed(list(self._clusters.values()))
                if (not states or cluster.state in states)
                and after <= cluster.created <= before
            ]
        return _page("Clusters", found, request)

    def describe_step(self, request: Request) -> Reply:
        with self._changed:
            cluster = self._cluster(request["ClusterId"])
            step = find_step(cluster, request["StepId"])
            return {"Step": describe.step_details(step)}

    def list_steps(self, request: Request) -> Reply:
        wanted, states = request.get("StepIds"), request.get("StepStates")
        if wanted and states:
            raise invalid_request("StepIds and StepStates cannot be used together.")
        if wanted and len(wanted) > MOST_STEP_IDS:
            message = f"At most {MOST_STEP_IDS} StepIds can be specified,"
            raise invalid_request(f"{message} got {len(wanted)}.")
        with self._changed:
            cluster = self._cluster(request["ClusterId"])
            steps: Sequence[Step] = list(reversed(cluster.steps))
            if wanted:
                steps = [find_step(cluster, step_id) for step_id in wanted]
            found = [
                describe.step_summary(step)
                for step in steps
                if not states or step.state in states
            ]
        return _page("Steps", found, request)

    def get_auto_termination_policy(self, request: Request) -> Reply:
        with self._changed:
            seconds = self._cluster(request["ClusterId"]).idle_seconds
        if seconds is None:
            return {}
        return {"AutoTerminationPolicy": {"IdleTimeout": seconds}}

    def get_managed_scaling_policy(self, request: Request) -> Reply:
        with self._changed:
            scaling = self._cluster(request["ClusterId"]).scaling
        return {"ManagedScalingPolicy": scaling} if scaling else {}

    def list_instance_groups(self, request: Request) -> Reply:
        with self._changed:
            cluster = self._cluster(request["ClusterId"])
            return {"InstanceGroups": instances.groups(cluster)}

    def list_instance_fleets(self, request: Request) -> Reply:
        with self._changed:
            cluster = self._cluster(request["ClusterId"])
            return {"InstanceFleets": instances.fleets(cluster)}

    def list_instances(self, request: Request) -> Reply:
        with self._changed:
            cluster = self._cluster(request["ClusterId"])
            return {"Instances": instances.instances(cluster)}

    def _cluster(self, cluster_id: str) -> Cluster:
        cluster = self._clusters.get(cluster_id)
        if cluster is None:
            raise invalid_request(f"Cluster id '{cluster_id}' is not valid.")
        return cluster

    def _existing(self, cluster_id: str) -> Cluster:
        """Return a cluster as `_cluster` does, with the errors of the older calls."""
        cluster = self._clusters.get(cluster_id)
        if cluster is None:
            raise validation("Specified job flow ID does not exist.")
        return cluster


def find_step(cluster: Cluster, step_id: str) -> Step:
    for step in cluster.steps:
        if step.id == step_id:
            return step
    raise invalid_request(f"Step id '{step_id}' is not valid.")


def _seconds(timestamp: Any, default: float) -> float:
    if timestamp is None:
        return default
    return (
        timestamp.timestamp() if hasattr(timestamp, "timestamp") else float(timestamp)
    )


def _page(name: str, found: list[Any], request: Request) -> Reply:
    marker = request.get("Marker") or "0"
    if not marker.isdigit():
        raise invalid_request(f"Marker '{marker}' is not valid.")
    start = int(marker)
    reply: Reply = {name: found[start : start + PAGE]}
    if start + PAGE < len(found):
        reply["Marker"] = str(start + PAGE)
    return reply
