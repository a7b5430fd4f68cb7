"""Moto's EMR with steps that end: moto itself leaves them as they started."""

from __future__ import annotations

from botocore.exceptions import ClientError
from moto.core import DEFAULT_ACCOUNT_ID
from moto.emr.models import emr_backends


def throttled() -> ClientError:
    """What EMR answers to who asks too often."""
    return refused("ThrottlingException", "Rate exceeded")


def refused(code: str, message: str) -> ClientError:
    """A refusal of EMR in its words."""
    return ClientError({"Error": {"Code": code, "Message": message}}, "DescribeCluster")


class Emr:
    """The clusters of the account; `ends` says how a step ends, by its name."""

    def __init__(self, region: str) -> None:
        self.backend = emr_backends[DEFAULT_ACCOUNT_ID][region]
        self.ends: dict[str, str] = {}

    @property
    def clusters(self) -> list:
        return list(self.backend.clusters.values())

    @property
    def steps(self) -> list:
        """All steps of all clusters, the oldest first."""
        return [step for cluster in self.clusters for step in cluster.steps]

    def names(self) -> list[str]:
        return [step.name for step in self.steps]

    def states(self) -> dict[str, str]:
        return {step.name: step.state for step in self.steps}

    def move_on(self) -> None:
        """End the oldest step that is alive, else end what is terminating."""
        for step in self.steps:
            if step.state in ("PENDING", "RUNNING"):
                step.state = self.ends.get(step.name, "COMPLETED")
                return
        for cluster in self.clusters:
            if cluster.state == "TERMINATING":
                cluster.state = "TERMINATED"
