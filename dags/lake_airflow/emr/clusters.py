"""The clusters of an environment and their steps, as EMR lists them."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from lake_airflow.airflow_rules import STAYS
from lake_airflow.emr.job_flow import AIRFLOW_TAG, ALIVE, NAME_PREFIX
from lake_airflow.settings import airflow_name
from lake_spec.model import EnvironmentSpec
from lake_spec.platform.deployment import DEPLOYMENT_TAG, deployment

LOOKS, BETWEEN_LOOKS = 6, 10
"""Number of looks for a cluster that may have been created, and seconds between."""

IDLE = timedelta(minutes=20)
"""Whose cluster had so long no step to do, while no task of it was at work or slept, goes
on no more: its DAG is paused, or Airflow has left it alone for another reason. One that
never had a step is of no use also to a run at work, which has another one then."""

BETWEEN_TASKS = 30
"""Seconds after which the next task of a run that goes on is at work."""

AT_WORK = [
    state
    for state in ("queued", "running", "restarting", "deferred")
    if state not in STAYS
]
"""States of tasks that go on by themselves: a deferred one has a timeout, at which the
scheduler makes it `scheduled`, and that is where tasks of a paused DAG stay."""

ACTIVE = ["queued", "running"]  # states of DAG runs

_LIVE_STEPS = {"PENDING", "RUNNING", "CANCEL_PENDING"}

log = logging.getLogger(__name__)


class ClusterFinder:
    """Finds the clusters of one environment, by a client of EMR."""

    def __init__(self, client: Any, environment: EnvironmentSpec) -> None:
        self.client = client
        self.environment = environment

    def living(
        self, name: str | None = None, states: Sequence[str] = ALIVE
    ) -> list[dict[str, Any]]:
        """Describe the clusters of the environment, and name if given; oldest first.

        Only what may be ours by its name is described: EMR counts each of these calls.
        """
        pages = self.client.get_paginator("list_clusters")
        listed = [
            each
            for page in pages.paginate(ClusterStates=list(states))
            for each in page["Clusters"]
        ]
        found = [
            self.describe(each["Id"])
            for each in listed
            if each["Name"].startswith(NAME_PREFIX) and name in (None, each["Name"])
        ]
        ours = [each for each in found if is_of(each, self.environment)]
        return sorted(ours, key=lambda cluster: (created(cluster), cluster["Id"]))

    def find(self, name: str, states: Sequence[str] = ALIVE) -> list[str]:
        """List the ids of the environment's clusters of this name, oldest first."""
        return [cluster["Id"] for cluster in self.living(name, states)]

    def look_for(self, name: str) -> list[str]:
        """List the same ids, also of a cluster that may not be listed yet."""
        for look in range(LOOKS):
            if look:
                time.sleep(BETWEEN_LOOKS)
            if found := self.find(name):
                return found
        return []

    def describe(self, cluster_id: str) -> dict[str, Any]:
        """Describe a cluster, of any environment."""
        reply = self.client.describe_cluster(ClusterId=cluster_id)
        cluster: dict[str, Any] = reply["Cluster"]
        return cluster

    def state(self, cluster_id: str) -> str:
        """Return the state of a cluster, in EMR's words."""
        state: str = self.describe(cluster_id)["Status"]["State"]
        return state


class ClusterSteps:
    """The steps of one cluster, by a client of EMR."""

    def __init__(self, client: Any, cluster_id: str) -> None:
        self.client = client
        self.cluster_id = cluster_id

    def listed(self) -> list[dict[str, Any]]:
        """List all steps of the cluster, the newest first."""
        pages = self.client.get_paginator("list_steps")
        listed = pages.paginate(ClusterId=self.cluster_id)
        return [step for page in listed for step in page["Steps"]]

    def cancel(self, steps: Sequence[dict[str, Any]], *, by_force: bool = False) -> str:
        """Ask EMR to cancel steps; return its reasons for those that it does not
        cancel."""
        reply = self.client.cancel_steps(
            ClusterId=self.cluster_id,
            StepIds=[step["Id"] for step in steps],
            StepCancellationOption=(
                "TERMINATE_PROCESS" if by_force else "SEND_INTERRUPT"
            ),
        )
        refused = [
            f" EMR does not cancel {each.get('StepId')}: {each.get('Reason')}."
            for each in (reply or {}).get("CancelStepsInfoList", ())
            if each.get("Status") == "FAILED"
        ]
        for words in refused:
            log.warning("%s", words.strip())
        return "".join(refused)


def is_of(cluster: dict[str, Any], environment: EnvironmentSpec) -> bool:
    """Return whether a cluster is of this deployment, not only of an environment of its
    name.

    Releases before set no tag of the deployment: their clusters are told by where their
    logs lie, if they have any. A lease may depend on one, and none of them outlives its
    `max_hours`.
    """
    tags = tags_of(cluster)
    if tags.get("lake:environment") != environment.name:
        return False
    if DEPLOYMENT_TAG in tags:
        return tags[DEPLOYMENT_TAG] == deployment(environment)
    logs = _logs_of(cluster)
    return not logs or logs.startswith(f"{environment.logs}/")


def _logs_of(cluster: dict[str, Any]) -> str:
    """Return where its logs lie; EMR says s3n for the s3 that it was told."""
    return re.sub(r"^s3[an]?://", "s3://", cluster.get("LogUri") or "")


def is_of_this_airflow(cluster: dict[str, Any]) -> bool:
    """Return whether this Airflow created it: it knows nothing of others' runs."""
    return tags_of(cluster).get(AIRFLOW_TAG, "") == airflow_name()


def is_over(cluster: dict[str, Any], ti: Any) -> str | None:
    """Return that the run of a cluster of this Airflow is over, in words; else None."""
    tags = tags_of(cluster)
    if "lake:dag" not in tags:
        return None
    run_ids = [tags["lake:run-id"]] if "lake:run-id" in tags else None
    active = ti.get_dr_count(dag_id=tags["lake:dag"], run_ids=run_ids, states=ACTIVE)
    return None if active else f"its run {tags.get('lake:run')} has ended"


def idle(client: Any, cluster: dict[str, Any], now: datetime, ti: Any) -> str | None:
    """Return why a cluster of this Airflow is of no use to its run; None if it may
    be. The caller's task instance `ti` counts the tasks of other runs."""
    if cluster["Status"]["State"] != "WAITING":
        return None
    steps = [step["Status"] for step in ClusterSteps(client, cluster["Id"]).listed()]
    if any(step["State"] in _LIVE_STEPS for step in steps):
        return None
    ready = cluster["Status"]["Timeline"].get("ReadyDateTime") or created(cluster)
    times = [step.get("Timeline", {}) for step in steps]
    ends = [t.get("EndDateTime") or t.get("CreationDateTime") for t in times]
    last = max([ready, *filter(None, ends)])
    if now - last < IDLE or (steps and _goes_on(tags_of(cluster), ti)):
        return None
    run = tags_of(cluster).get("lake:run")
    minutes = int(IDLE.total_seconds() // 60)
    return (
        f"its run {run} has submitted no step for {minutes} minutes. Is its DAG "
        "paused? Mark the run as failed, or clear it, once the DAG is unpaused."
    )


def _goes_on(tags: dict[str, str], ti: Any) -> bool:
    """Return whether a task of its run is at work, or will be as one has just ended."""
    run_id = tags.get("lake:run-id")
    if not run_id:
        return False
    asked = {"dag_id": tags.get("lake:dag"), "run_ids": [run_id], "states": AT_WORK}
    if ti.get_ti_count(**asked):
        return True
    time.sleep(BETWEEN_TASKS)
    return bool(ti.get_ti_count(**asked))


def created(cluster: Mapping[str, Any]) -> datetime:
    """Return when it was created."""
    at: datetime = cluster["Status"]["Timeline"]["CreationDateTime"]
    return at


def run_of(cluster: dict[str, Any]) -> str:
    """Return the name of its run, as tags have it; its id where they have none."""
    tags = tags_of(cluster)
    if "lake:dag" not in tags or "lake:run" not in tags:
        return str(cluster["Id"])
    return f"{tags['lake:dag']}/{tags['lake:run']}"


def tags_of(cluster: dict[str, Any]) -> dict[str, str]:
    """Return the tags of a described cluster by their keys."""
    return {tag["Key"]: tag["Value"] for tag in cluster.get("Tags", ())}
