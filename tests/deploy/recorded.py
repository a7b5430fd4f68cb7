"""Calls that the emulator kept, as what IAM would have been asked.

Which role a caller has is what it is on AWS: Airflow that of MWAA, a step that of its
cluster's domain. Calls of people are nobody's here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Sequence, Set, Tuple

from lake_infra.domains import domains_template
from lake_infra.parameters import known_values
from lake_infra.template import load_template
from lake_spec.model import DomainSpec, EnvironmentSpec
from tests.deploy.allowed import ACCOUNT, REGION, Asked, Statement, allowing, statements
from tests.deploy.calls import ACTIONS, NEEDS

Call = Mapping[str, str]
"""A line of the emulator's file of calls."""

PEOPLE = "local"
TAG = "lake:environment"
SOURCES = ("CopyObject", "UploadPartCopy", "UploadPart", "CompleteMultipartUpload")
"""Writes that read too: of the source, or of the parts before."""


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

    def faults(self, calls: Iterable[Call]) -> List[str]:
        """Every call that would have been denied, each kind of thing once."""
        roles = self.roles()
        found: Set[str] = set()
        for call in calls:
            if call["caller"] == PEOPLE:
                continue
            name, wrong = self._role_of(call["caller"])
            found.update(wrong)
            for asked in self._asked(call):
                sids = allowing(asked, roles[name])
                self.used.setdefault(name, set()).update(sids)
                if not sids and not self._is_harmless(asked):
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

    def roles(self) -> Dict[str, List[Statement]]:
        """Give the statements of each role, by its name."""
        values = known_values(self.environment, self.domains)
        airflow = statements(load_template("mwaa"), "ExecutionRole", values)
        template = domains_template(self.environment, self.domains)
        of_steps = {
            each["Properties"]["RoleName"]: statements(template, name, values)
            for name, each in template["Resources"].items()
            if each["Type"] == "AWS::IAM::Role"
        }
        return {"airflow": airflow, **of_steps}

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
        service, operation, thing = call["service"], call["operation"], call["thing"]
        if service == "s3":
            yield from _of_s3(call)
            yield from self._of_key(call["operation"])
        elif service == "elasticmapreduce":
            yield from self._of_emr(operation, thing)
        elif service == "glue":
            yield from _of_glue(operation, thing)
        elif service == "ssm":
            yield Asked(
                f"ssm:{operation}", _arn("ssm", f"parameter/{thing.lstrip('/')}")
            )
        elif service == "secretsmanager":
            # Six characters of its own follow the name.
            arn = _arn(service, f"secret:{thing}-a1B2c3")
            yield Asked(f"{service}:{operation}", arn)
        elif service == "sns":
            yield Asked(f"sns:{operation}", thing)
        elif (service, operation) != ("sts", "GetCallerIdentity"):  # needs no right
            yield Asked(f"{service}:{operation}", thing)

    def _of_key(self, operation: str) -> Iterator[Asked]:
        """S3 asks for the key of a bucket in the caller's name."""
        arn = f"lake-{self.environment.name}-KeyArn"  # as another layer exports it
        via = {"kms:ViaService": f"s3.{REGION}.amazonaws.com"}
        if operation in ("GetObject", "HeadObject", *SOURCES):
            yield Asked("kms:Decrypt", arn, via)
        if _action_of_s3(operation) == "s3:PutObject":
            yield Asked("kms:GenerateDataKey", arn, via)

    def _of_emr(self, operation: str, thing: str) -> Iterator[Asked]:
        action = f"elasticmapreduce:{operation}"
        arn = _arn("elasticmapreduce", f"cluster/{thing}")
        if operation == "ListClusters":
            yield Asked(action, "*")
        elif operation == "RunJobFlow":
            for each in self.clusters.values():
                if "lake:run" in each.tags:
                    yield from _of_a_new_cluster(each)
        else:
            cluster = self.clusters[thing]
            context = {f"elasticmapreduce:ResourceTag/{TAG}": cluster.tags.get(TAG, "")}
            is_adding = operation == "AddJobFlowSteps"
            roles = set(cluster.steps.values()) if is_adding else set()
            for role in sorted(roles or {""}):
                more = {"elasticmapreduce:ExecutionRoleArn": role} if role else {}
                yield Asked(action, arn, {**context, **more})


def _of_a_new_cluster(cluster: Cluster) -> Iterator[Asked]:
    context = {f"elasticmapreduce:RequestTag/{TAG}": cluster.tags.get(TAG, "")}
    action = "elasticmapreduce:RunJobFlow"
    yield Asked(action, "*", dict(context))
    new = _arn("elasticmapreduce", "cluster/*")
    context[f"elasticmapreduce:ResourceTag/{TAG}"] = cluster.tags.get(TAG, "")
    for needed in NEEDS[action]:
        if needed != "iam:PassRole":  # which is asked for below, for each role
            yield Asked(needed, new, context)
    passed = {
        cluster.service_role: "elasticmapreduce.amazonaws.com",
        cluster.instance_profile: "ec2.amazonaws.com",
    }
    for role, service in passed.items():
        arn = f"arn:aws:iam::{ACCOUNT}:role/{role.split('/')[-1]}"
        yield Asked("iam:PassRole", arn, {"iam:PassedToService": service})


def _of_s3(call: Call) -> Iterator[Asked]:
    operation, arn = call["operation"], f"arn:aws:s3:::{call['thing']}"
    action = _action_of_s3(operation)
    if action == "s3:ListBucket":
        context = {f"s3:{k}": call[k] for k in ("prefix", "delimiter") if k in call}
        yield Asked(action, arn, context)
        return
    yield Asked(action, arn)
    if call.get("source"):
        yield Asked("s3:GetObject", f"arn:aws:s3:::{call['source']}")


def _action_of_s3(operation: str) -> str:
    return ACTIONS.get(f"s3:{operation}", f"s3:{operation}")


def _of_glue(operation: str, thing: str) -> Iterator[Asked]:
    """The catalogue, the database and the table are each asked for."""
    database, _, table = thing.partition("/")
    things = ["catalog", f"database/{database}"]
    things += [f"table/{database}/{table}"] if table else []
    for each in things:
        yield Asked(f"glue:{operation}", _arn("glue", each))


def _arn(service: str, thing: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{thing}"


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
