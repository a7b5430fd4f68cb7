"""Calls that the emulator kept, judged by the policies of their callers' roles.

Which role a caller has is what it is on AWS: Airflow that of MWAA, a step that of its
cluster's domain. Calls of people are nobody's here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Sequence, Set, Tuple

from lake_emulator.policies.actions import Account
from lake_emulator.policies.evaluator import Asked, Policies
from lake_infra.policies import policies
from lake_spec.model import DomainSpec, EnvironmentSpec

Call = Mapping[str, str]
"""A line of the emulator's file of calls."""

PEOPLE = "local"


@dataclass(frozen=True)
class Cluster:
    """What EMR told of a cluster, as far as policies look at it."""

    tags: Mapping[str, str]
    service_role: str = ""
    instance_profile: str = ""
    steps: Mapping[str, str] = field(default_factory=dict)
    """The ARN of each step's role by the step's id; empty where it has none."""


@dataclass(frozen=True)
class Judge:
    """The roles of an environment, and the clusters that there were."""

    environment: EnvironmentSpec
    domains: Sequence[DomainSpec]
    clusters: Mapping[str, Cluster]
    used: Dict[str, Set[str]] = field(default_factory=dict)
    """The Sids that allowed something, by role."""

    @cached_property
    def policies(self) -> Policies:
        """What a deployment of the environment gives."""
        return Policies.of(policies(self.environment, self.domains))

    def faults(self, calls: Iterable[Call]) -> List[str]:
        """Every call that would have been denied, each kind of thing once."""
        found: Set[str] = set()
        for call in calls:
            if call["caller"] == PEOPLE:
                continue
            name, wrong = self._role_of(call["caller"])
            found.update(wrong)
            role = self.policies.airflow if name == "airflow" else name
            for asked in self._asked(call):
                decision = self.policies.decide(role, asked)
                self.used.setdefault(name, set()).update(decision.sids)
                if not decision.is_allowed and not self._is_harmless(asked):
                    context = dict(asked.context)
                    found.add(f"{name}: {asked.action} on {asked.arn} {context}")
        return sorted(found)

    def _is_harmless(self, asked: Asked) -> bool:
        """What Hadoop tries, and takes a no for: to delete the mark of a folder above
        what it wrote (S3AFileSystem.deleteUnnecessaryFakeDirectories, 3.3)."""
        roots = (
            self.environment.warehouse,
            self.environment.runs,
            self.environment.landing,
        )
        marks = [f"arn:aws:s3:::{root[len('s3://'):].rstrip('/')}/" for root in roots]
        return asked.action == "s3:DeleteObject" and asked.arn in marks

    def _role_of(self, caller: str) -> Tuple[str, List[str]]:
        """The role that the caller has, and what is wrong with that."""
        if caller == "airflow":
            return caller, []
        for cluster in self.clusters.values():
            if caller in cluster.steps:
                domain, arn = cluster.tags["lake:domain"], cluster.steps[caller]
                its = self.environment.runtime_role_of(domain) or ""
                wrong = [f"a step of {domain} runs as {arn!r}, not as {its}"]
                return its.split("/")[-1], [] if arn == its else wrong
        raise LookupError(f"{caller}: no role is known for calls with this key")

    def _asked(self, call: Call) -> Iterator[Asked]:
        known = self.policies
        account = Account(known.account, known.region, known.encryption, self._tags_of)
        for request in self._requests(call):
            about = {**call, "request": request}
            yield from account.asked(call["service"], call["operation"], about)

    def _tags_of(self, cluster: str) -> Mapping[str, str]:
        return self.clusters[cluster].tags

    def _requests(self, call: Call) -> Iterator[Dict[str, Any]]:
        """What was asked of EMR, which the file of calls does not have."""
        if call["operation"] == "RunJobFlow":
            for each in self.clusters.values():
                if "lake:run" in each.tags:
                    yield _request(each)
        elif call["operation"] == "AddJobFlowSteps":
            roles = set(self.clusters[call["thing"]].steps.values())
            yield from ({"ExecutionRoleArn": role} for role in sorted(roles or {""}))
        else:
            yield {}


def _request(cluster: Cluster) -> Dict[str, Any]:
    """The request that made a cluster of ours."""
    return {
        "Tags": [{"Key": name, "Value": of} for name, of in cluster.tags.items()],
        "ServiceRole": cluster.service_role,
        "JobFlowRole": cluster.instance_profile,
        "AutoTerminationPolicy": {"IdleTimeout": 60},
        "ManagedScalingPolicy": {"ComputeLimits": {}},
    }


def clusters_of(
    described: Iterable[Tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]],
) -> Dict[str, Cluster]:
    """Clusters by their id, from what EMR describes: each with its steps."""
    return {
        cluster["Id"]: Cluster(
            tags={tag["Key"]: tag["Value"] for tag in cluster["Tags"]},
            service_role=cluster.get("ServiceRole", ""),
            instance_profile=cluster.get("Ec2InstanceAttributes", {}).get(
                "IamInstanceProfile", ""
            ),
            steps={each["Id"]: each.get("ExecutionRoleArn", "") for each in steps},
        )
        for cluster, steps in described
    }
