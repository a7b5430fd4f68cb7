"""Checks of an account before anything is made in it. They make and change nothing.

What is asked for: that names are free or ours, that roles which AWS links to services are
there, that the region and two of its zones have what is needed, and that quotas are enough.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, Dict, Iterator, List, Tuple

from botocore.exceptions import ClientError

from lake_acceptance.check import Check, CheckFailed
from lake_acceptance.optimizers import on_for_catalogue
from lake_acceptance.preparation import caller
from lake_acceptance.subject import PROJECT, Subject
from lake_airflow.planning.plan import plan
from lake_check.parsing.loader import load_lake
from lake_infra.endpoints import endpoint_services
from lake_infra.resource_names import Root, last_part, runtime_roles
from lake_infra.runtime_role import format_databases
from lake_spec.facts.environment_defaults import with_environment_defaults
from lake_spec.model import DomainSpec
from lake_spec.model.instances import InstanceGroups, Market

LINKED_ROLES = {
    "AWSServiceRoleForEMRCleanup": "elasticmapreduce.amazonaws.com",
    "AWSServiceRoleForEC2Fleet": "ec2fleet.amazonaws.com",
    "AWSServiceRoleForEC2Spot": "spot.amazonaws.com",
}
"""The roles that deploy.md has made once for an account, with the service of each."""

VCPU_QUOTA = "L-1216C47A"
"""EC2's quota of vCPUs of running on-demand standard instances."""

DAGS_OF_CLASS = {
    "mw1.micro": 25,
    "mw1.small": 50,
    "mw1.medium": 250,
    "mw1.large": 1000,
}
"""DAGs that AWS says a class of MWAA takes."""

CLASS = "mw1.small"
"""The class that the layer mwaa takes where nothing is said."""

EMR_TAG = "for-use-with-amazon-emr-managed-policies"
EMR_TAG_VALUE = "true"
_NO_EC2 = "the emulator has no EC2"


def lake(subject: Subject) -> List[DomainSpec]:
    """Load the domains that the environment will have."""
    found = load_lake(PROJECT / "dags" / "tables").domains.values()
    return [with_environment_defaults(each, subject.deployed) for each in found]


def buckets(subject: Subject) -> str:
    """Look whether the names of the buckets are free, or of a stack of ours."""
    s3, said = subject.client("s3"), []
    for name in _buckets(subject):
        try:
            s3.head_bucket(Bucket=name)
        except ClientError as error:
            if str(error.response["Error"]["Code"]) in ("404", "NoSuchBucket"):
                said.append(f"{name} is free")
                continue
            raise CheckFailed(
                f"bucket {name}: {error}: another account has it, or you may not look.",
                "Names of buckets are unique in the world: choose another one.",
            ) from error
        _refuse_without_stack(subject, "data", f"the bucket {name}")
        said.append(f"{name} is there")
    return ", ".join(said)


def _buckets(subject: Subject) -> List[str]:
    deployed = subject.deployed
    roots = (deployed.landing, deployed.warehouse, deployed.artifacts)
    return list(dict.fromkeys(Root.of(each).bucket for each in roots))


def databases(subject: Subject) -> str:
    """Look whether databases of these names hold tables of others."""
    glue, said = subject.client("glue"), []
    house = f"{subject.deployed.warehouse}/"
    for name in [n for d in lake(subject) for n in (d.name, *format_databases(d))]:
        try:
            glue.get_database(Name=name)
        except glue.exceptions.EntityNotFoundException:
            said.append(f"{name} is free")
            continue
        pages = glue.get_paginator("get_tables").paginate(DatabaseName=name)
        for table in (each for page in pages for each in page["TableList"]):
            place = table.get("StorageDescriptor", {}).get("Location", "")
            if not place.startswith(house):
                raise CheckFailed(
                    f"the database {name} of the catalogue has the table "
                    f"{table['Name']} at {place or 'no place'}, which is not below {house}.",
                    "Give the environment an account or a region of its own, or rename "
                    "the domain.",
                )
        _refuse_without_stack(subject, "domains", f"the database {name}")
        said.append(f"{name} is there")
    return ", ".join(said)


def roles(subject: Subject) -> str:
    """Look whether the names of the roles are free, or of a stack of ours."""
    deployed, iam = subject.deployed, subject.client("iam")
    wanted = {
        last_part(deployed.service_role): "emr",
        deployed.instance_profile: "emr",
        f"lake-{deployed.name}-airflow": "mwaa",
        f"lake-{deployed.name}-deploy": "deploy",
    }
    wanted |= {last_part(a): "domains" for a in runtime_roles(deployed, lake(subject))}
    for name, layer in wanted.items():
        if _is_role(iam, name):
            _refuse_without_stack(subject, layer, f"the role {name}")
    return f"{len(wanted)} names of roles are free, or of stacks of ours"


def linked_roles(subject: Subject) -> str:
    """Look for the roles that AWS links to EMR, fleets and Spot."""
    iam = subject.client("iam")
    lacking = [name for name in LINKED_ROLES if not _is_role(iam, name)]
    if lacking:
        commands = "; ".join(
            f"aws iam create-service-linked-role --aws-service-name {LINKED_ROLES[name]}"
            for name in lacking
        )
        raise CheckFailed(f"missing: {', '.join(lacking)}.", f"Run: {commands}")
    return ", ".join(LINKED_ROLES)


def services(subject: Subject) -> str:
    """Look whether the region has endpoints of all services that are called."""
    region = subject.deployed.region
    names = {
        f"com.amazonaws.{region}.{each}"
        for each in endpoint_services(subject.deployed, lake(subject))
    }
    ec2 = subject.client("ec2")
    pages = ec2.get_paginator("describe_vpc_endpoint_services").paginate()
    there = {name for page in pages for name in page["ServiceNames"]}
    if lacking := sorted(names - there):
        raise CheckFailed(
            f"the region {region} has no endpoint of {', '.join(lacking)}.",
            "Choose a region that has them: the network has no other way to AWS.",
        )
    return f"{len(names)} services of {region}"


def zones(subject: Subject) -> str:
    """Look whether two zones have the instance types of the cluster's file."""
    ec2, types = subject.client("ec2"), set(_nodes(subject))
    pages = ec2.get_paginator("describe_instance_type_offerings").paginate(
        LocationType="availability-zone",
        Filters=[{"Name": "instance-type", "Values": sorted(types)}],
    )
    offered: Dict[str, set[str]] = {}
    for page in pages:
        for each in page["InstanceTypeOfferings"]:
            offered.setdefault(each["Location"], set()).add(each["InstanceType"])
    good = sorted(zone for zone, found in offered.items() if types <= found)
    chosen = _zones_of_subnets(subject)
    if len(good) < 2:
        raise CheckFailed(
            f"{', '.join(good) or 'no zone'} has {', '.join(sorted(types))}.",
            "Choose other types in the cluster's file.",
        )
    if lacking := [zone for zone in chosen if zone not in good]:
        raise CheckFailed(
            f"{', '.join(lacking)} lacks {', '.join(sorted(types))}, and is one of the "
            "zones of the subnets.",
            f"Deploy the layer network with ZoneA={good[0]} ZoneB={good[1]}, or name "
            "subnets in these zones.",
        )
    return f"{', '.join(sorted(types))} in {', '.join(chosen)}"


def _zones_of_subnets(subject: Subject) -> List[str]:
    """Return the zones of a network that is there, or those that the layer takes."""
    ec2, own = subject.client("ec2"), subject.deployed.network
    if own is None:
        found = ec2.describe_availability_zones()["AvailabilityZones"]
        return sorted(each["ZoneName"] for each in found)[:2]
    subnets = ec2.describe_subnets(SubnetIds=[own.subnet_a, own.subnet_b])["Subnets"]
    for each in subnets:
        tags = {tag["Key"]: tag["Value"] for tag in each.get("Tags", ())}
        if each["VpcId"] != own.vpc:
            raise CheckFailed(
                f"the subnet {each['SubnetId']} is of {each['VpcId']}, not of {own.vpc}.",
                "Correct `network` in the environment's file.",
            )
        if tags.get(EMR_TAG) != EMR_TAG_VALUE:
            raise CheckFailed(
                f"the subnet {each['SubnetId']} lacks the tag {EMR_TAG}.",
                f"Tag it, and the VPC, with {EMR_TAG}={EMR_TAG_VALUE}: EMR's managed policy "
                "goes by it.",
            )
    return sorted(each["AvailabilityZone"] for each in subnets)


def vcpus(subject: Subject) -> str:
    """Compare the vCPUs of one cluster on demand with the account's quota."""
    nodes = _nodes(subject)
    types = subject.client("ec2").describe_instance_types(InstanceTypes=sorted(nodes))
    of_type = {
        each["InstanceType"]: each["VCpuInfo"]["DefaultVCpus"]
        for each in types["InstanceTypes"]
    }
    needed = sum(of_type[kind] * count for kind, count in nodes.items())
    quotas = subject.client("service-quotas")
    quota = quotas.get_service_quota(ServiceCode="ec2", QuotaCode=VCPU_QUOTA)["Quota"]
    allowed = int(quota["Value"])
    if needed > allowed:
        raise CheckFailed(
            f"a cluster of {subject.cluster.name} has {needed} vCPUs on demand; the "
            f"account may run {allowed} ({VCPU_QUOTA}).",
            "Ask AWS to raise the quota, or choose smaller nodes in the cluster's file.",
        )
    return f"{needed} of {allowed}: {allowed // needed} clusters at once"


def _nodes(subject: Subject) -> Counter[str]:
    """Return the nodes on demand of the cluster by their type; of a fleet the first."""
    nodes = subject.cluster.instances
    if isinstance(nodes, InstanceGroups):
        found = Counter({nodes.primary.instance_type: 1})
        found[nodes.core.instance_type] += nodes.core.instance_count
        if nodes.task and nodes.task.market is not Market.SPOT:
            found[nodes.task.instance_type] += nodes.task.instance_count
        return found
    found = Counter({nodes.primary.instance_types[0]: 1})
    first = nodes.core.instance_types[0]
    units = nodes.core.target_on_demand_capacity
    found[first.instance_type] += math.ceil(units / first.weighted_capacity)
    return found


def dags(subject: Subject) -> str:
    """Compare the number of DAGs with what the default class of MWAA takes."""
    count = 1 + sum(len(list(plan(each))) for each in lake(subject))  # and the reaper
    fits = [name for name, most in DAGS_OF_CLASS.items() if count <= most]
    if CLASS not in fits:
        raise CheckFailed(
            f"there are {count} DAGs; {CLASS} takes {DAGS_OF_CLASS[CLASS]}.",
            (
                f"Deploy the layer mwaa with EnvironmentClass={fits[0]}."
                if fits
                else "Divide the domains among two environments."
            ),
        )
    return f"{count} of {DAGS_OF_CLASS[CLASS]} that {CLASS} takes"


def optimizers(subject: Subject) -> str:
    """Say which optimizers the catalogue has on for tables without a word of their own."""
    on = ", ".join(sorted(on_for_catalogue(subject)))
    if on:
        return f"{on}: on; each published table gets a setting of its own against it"
    return "none is on"


def _refuse_without_stack(subject: Subject, layer: str, thing: str) -> None:
    """Raise CheckFailed for a thing that the stack of a layer would have to make."""
    stack = f"lake-{subject.deployed.name}-{layer}"
    if subject.emulated or stack in set(_stacks(subject)):
        return
    raise CheckFailed(
        f"{thing} is there, and no stack {stack}.",
        "CloudFormation adopts nothing: choose another name, or import it "
        "(docs/deploy.md, to take an environment down).",
    )


def _stacks(subject: Subject) -> Iterator[str]:
    client = subject.client("cloudformation")
    for page in client.get_paginator("describe_stacks").paginate():
        yield from (each["StackName"] for each in page["Stacks"])


def _is_role(iam: Any, name: str) -> bool:
    try:
        iam.get_role(RoleName=name)
    except iam.exceptions.NoSuchEntityException:
        return False
    return True


_NEEDS: Tuple[str, ...] = ("caller",)
_NO_ROLES = "the emulator has no IAM"

CHECKS = (
    Check("caller", "Who asks, in which account?", caller),
    Check("buckets", "Are the names of the buckets free?", buckets, _NEEDS),
    Check("databases", "Are the names of the databases?", databases, _NEEDS),
    Check("roles", "And those of the roles?", roles, _NEEDS, _NO_ROLES),
    Check("linked-roles", "Are AWS's roles there?", linked_roles, _NEEDS, _NO_ROLES),
    Check("services", "Has the region all services?", services, _NEEDS, _NO_EC2),
    Check("zones", "Have two zones the nodes?", zones, _NEEDS, _NO_EC2),
    Check("vcpus", "May a cluster run?", vcpus, _NEEDS, _NO_EC2),
    Check("dags", "Does Airflow take all DAGs?", dags),
    Check(
        "optimizers",
        "Which optimizers of Glue are on?",
        optimizers,
        _NEEDS,
        "the emulator's catalogue has no settings of its own",
    ),
)
