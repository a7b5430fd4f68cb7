"""Checks of an account before anything is made in it. They make and change nothing.

What is asked for: that names are free or ours, that roles which AWS links to services are
there, that the region and the zones of the subnets have what is needed, and that quotas are enough.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Tuple

from botocore.exceptions import ClientError

from lake_acceptance.check import Check, CheckFailed
from lake_acceptance.cluster_nodes import most_on_demand_vcpus, parts
from lake_acceptance.optimizers import on_for_catalogue
from lake_acceptance.preparation import caller
from lake_acceptance.subject import PROJECT, ROOTS, Subject
from lake_airflow.planning.plan import plan
from lake_check.parsing.loader import load_cluster, load_lake
from lake_infra.endpoints import endpoint_services
from lake_infra.resource_names import Root, last_part, runtime_roles
from lake_infra.runtime_role import format_databases
from lake_spec.model import ClusterSpec, DomainSpec

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
    tables = PROJECT / "dags" / "tables"
    return list(load_lake(tables, environment=subject.deployed).domains.values())


def buckets(subject: Subject) -> str:
    """Look whether the names of the buckets are free, or of a stack of ours."""
    s3, said = subject.client("s3"), []
    account = subject.client("sts").get_caller_identity()["Account"]
    for name in _buckets(subject, account):
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


def _buckets(subject: Subject, account: str) -> List[str]:
    """Return the names of the buckets that the layer data makes in an account."""
    roots = (getattr(subject.deployed, name) for name in ROOTS)
    of_airflow = [f"lake-{subject.deployed.name}-airflow-{account}"]
    if subject.deployed.airflow is not None:  # of others, whose bucket no layer makes
        of_airflow = []
    return list(dict.fromkeys([*(Root.of(e).bucket for e in roots), *of_airflow]))


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
        f"lake-{deployed.name}-deploy": "deploy",
        f"lake-{deployed.name}-readers": "readers",
    }
    if deployed.airflow is None:
        wanted[f"lake-{deployed.name}-airflow"] = "mwaa"
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


def clusters(subject: Subject) -> Dict[str, ClusterSpec]:
    """Return the clusters that runs of the lake and of the acceptance start, by name."""
    one, found = subject.deployed.cluster, {subject.cluster.name: subject.cluster}
    named = {each.cluster for domain in lake(subject) for each in plan(domain)}
    for name in sorted({one} if one else named):
        if name not in found:
            found[name] = load_cluster(name, PROJECT / "dags" / "clusters")
    return found


def zones(subject: Subject) -> str:
    """Look whether the zones of the subnets have the instance types of each cluster."""
    there, chosen = _zones_of_subnets(subject)
    started = clusters(subject)
    offered = _offered(subject, started.values())
    good: Dict[str, List[str]] = {}
    for name, cluster in started.items():
        fleets = [{kind.instance_type for kind in p.types} for p in parts(cluster)]
        good[name] = [z for z in sorted(offered) if all(f & offered[z] for f in fleets)]
    common = sorted(set.intersection(*map(set, good.values())))
    for name, found in good.items():
        if lacking := [zone for zone in chosen if zone not in found]:
            fix = "Choose other types in the files of the clusters"
            if there and common:
                fix += f", or subnets in {', '.join(common)}"
            elif len(common) > 1:
                fix += (
                    f", or deploy the layer network with ZoneA={common[0]} "
                    f"ZoneB={common[1]}: then its subnets are asked"
                )
            raise CheckFailed(
                f"{', '.join(lacking)} lacks {_types(started[name])} of the "
                f"cluster {name}, and is one of the zones of the subnets.",
                f"{fix}.",
            )
    words = [f"{_types(each)} of {name}" for name, each in started.items()]
    return f"{'; '.join(words)} in {', '.join(chosen)}"


def _offered(subject: Subject, started: Iterable[ClusterSpec]) -> Dict[str, set[str]]:
    """Return those types of the clusters that each zone has."""
    every = {
        kind.instance_type
        for cluster in started
        for part in parts(cluster)
        for kind in part.types
    }
    pages = (
        subject.client("ec2")
        .get_paginator("describe_instance_type_offerings")
        .paginate(
            LocationType="availability-zone",
            Filters=[{"Name": "instance-type", "Values": sorted(every)}],
        )
    )
    offered: Dict[str, set[str]] = {}
    for page in pages:
        for each in page["InstanceTypeOfferings"]:
            offered.setdefault(each["Location"], set()).add(each["InstanceType"])
    return offered


def _types(cluster: ClusterSpec) -> str:
    """Format the types of a cluster's parts: `or` within a fleet."""
    said = [" or ".join(kind.instance_type for kind in p.types) for p in parts(cluster)]
    return ", ".join(dict.fromkeys(said))


def _zones_of_subnets(subject: Subject) -> Tuple[bool, List[str]]:
    """Return whether subnets are there, and their zones, or those that will be taken.

    Subnets are those of the environment's file, or of the stack of the layer network.
    Raises CheckFailed where a subnet or its VPC lacks EMR's tag.
    """
    deployed, ec2 = subject.deployed, subject.client("ec2")
    own, stack = deployed.network, f"lake-{deployed.name}-network"
    outputs = _stacks(subject).get(stack, {}) if own is None else {}
    ids = [own.subnet_a, own.subnet_b] if own else []
    ids = list(dict.fromkeys([*ids, *deployed.subnets]))
    ids = ids or [outputs[n] for n in ("SubnetA", "SubnetB") if n in outputs]
    if not ids:
        found = ec2.describe_availability_zones()["AvailabilityZones"]
        return False, sorted(each["ZoneName"] for each in found)[:2]
    subnets = ec2.describe_subnets(SubnetIds=ids)["Subnets"]
    for each in subnets:
        if own and each["VpcId"] != own.vpc:
            raise CheckFailed(
                f"the subnet {each['SubnetId']} is of {each['VpcId']}, not of {own.vpc}.",
                "Correct `network` in the environment's file.",
            )
        _refuse_without_tag(f"the subnet {each['SubnetId']}", each)
    of = sorted({each["VpcId"] for each in subnets})
    for each in ec2.describe_vpcs(VpcIds=of)["Vpcs"]:
        _refuse_without_tag(each["VpcId"], each)
    return True, sorted({each["AvailabilityZone"] for each in subnets})


def groups(subject: Subject) -> str:
    """Look whether the security groups of the nodes have EMR's tag."""
    named = subject.deployed.security_groups
    if named is None:
        return "none is named yet"
    ids = {
        named.primary,
        named.core_and_task,
        *([named.service_access] if named.service_access else []),
        *named.additional_primary,
        *named.additional_core_and_task,
    }
    ec2 = subject.client("ec2")
    found = ec2.describe_security_groups(GroupIds=sorted(ids))["SecurityGroups"]
    for each in found:
        _refuse_without_tag(f"the security group {each['GroupId']}", each)
    return ", ".join(sorted(ids))


def _refuse_without_tag(thing: str, described: Mapping[str, Any]) -> None:
    """Raise CheckFailed for a part of a network that EMR's managed policy leaves out."""
    tags = {tag["Key"]: tag["Value"] for tag in described.get("Tags", ())}
    if tags.get(EMR_TAG) != EMR_TAG_VALUE:
        raise CheckFailed(
            f"{thing} lacks the tag {EMR_TAG}.",
            f"Tag it with {EMR_TAG}={EMR_TAG_VALUE}: EMR's managed policy goes by it.",
        )


def vcpus(subject: Subject) -> str:
    """Compare the vCPUs on demand of the largest cluster with the account's quota."""
    found = clusters(subject)
    kinds = {p.types[0].instance_type for each in found.values() for p in parts(each)}
    types = subject.client("ec2").describe_instance_types(InstanceTypes=sorted(kinds))
    of_type = {
        each["InstanceType"]: each["VCpuInfo"]["DefaultVCpus"]
        for each in types["InstanceTypes"]
    }
    sizes = {n: most_on_demand_vcpus(each, of_type) for n, each in found.items()}
    largest = max(sizes, key=lambda name: sizes[name])
    needed = sizes[largest]
    quotas = subject.client("service-quotas")
    quota = quotas.get_service_quota(ServiceCode="ec2", QuotaCode=VCPU_QUOTA)["Quota"]
    allowed = int(quota["Value"])
    if needed > allowed:
        raise CheckFailed(
            f"a cluster of {largest} has up to {needed} vCPUs on demand; the account "
            f"may run {allowed} ({VCPU_QUOTA}).",
            "Ask AWS to raise the quota, or choose fewer or smaller nodes in the "
            "cluster's file.",
        )
    return f"{needed} of {allowed} for {largest}: {allowed // needed} clusters at once"


def dags(subject: Subject) -> str:
    """Compare the number of DAGs with what the default class of MWAA takes."""
    count = 1 + sum(len(list(plan(each))) for each in lake(subject))  # and the reaper
    if (shared := subject.deployed.airflow) is not None:
        return f"{count} more in {shared.name}, whose class its owner chooses"
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
    if subject.emulated or stack in _stacks(subject):
        return
    raise CheckFailed(
        f"{thing} is there, and no stack {stack}.",
        "CloudFormation adopts nothing: choose another name, or import it "
        "(docs/deploy.md, to take an environment down).",
    )


def _stacks(subject: Subject) -> Dict[str, Dict[str, str]]:
    """Return the outputs of the stacks, by the stack's name."""
    client, found = subject.client("cloudformation"), {}
    for page in client.get_paginator("describe_stacks").paginate():
        for each in page["Stacks"]:
            made = each.get("Outputs", ())
            found[each["StackName"]] = {e["OutputKey"]: e["OutputValue"] for e in made}
    return found


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
    Check("zones", "Have the zones the nodes?", zones, _NEEDS, _NO_EC2),
    Check("groups", "Have security groups EMR's tag?", groups, _NEEDS, _NO_EC2),
    Check("vcpus", "May each cluster run?", vcpus, _NEEDS, _NO_EC2),
    Check("dags", "Does Airflow take all DAGs?", dags),
    Check(
        "optimizers",
        "Which optimizers of Glue are on?",
        optimizers,
        _NEEDS,
        "the emulator's catalogue has no settings of its own",
    ),
)
