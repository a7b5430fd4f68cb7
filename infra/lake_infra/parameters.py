"""The parameters of the templates, from an environment's files."""

from __future__ import annotations

from typing import Any, Iterable, Mapping

from lake_infra.aws_limits import VALUE_CHARACTERS
from lake_infra.endpoints import endpoint_services
from lake_infra.resource_names import (
    NotDeployable,
    Root,
    break_glass_role,
    last_part,
    runtime_roles,
    topics,
)
from lake_spec.model import DomainSpec, EnvironmentSpec
from lake_spec.platform.deployment import deployment


def known_values(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> dict[str, str]:
    """Return all values in the files, by the name of their parameter."""
    domains = list(domains)
    work, house = Root.of(environment.artifacts), Root.of(environment.warehouse)
    arns, roles = topics(environment, domains), list(
        runtime_roles(environment, domains)
    )
    break_glass = break_glass_role(environment, roles)
    return {
        **_network(environment),
        "Environment": environment.name,
        "Deployment": deployment(environment),
        "Services": ",".join(endpoint_services(environment, domains)),
        "LandingBucket": Root.of(environment.landing).bucket,
        "WarehouseBucket": house.bucket,
        "WarehousePrefix": house.prefix,
        "TableWriterArns": ",".join([*roles, break_glass]),
        "BreakGlassRoleArn": break_glass,
        "WorkBucket": work.bucket,
        "ArtifactsPrefix": work.prefix,
        "RunsPrefix": Root.of(environment.runs).prefix,
        "LogsPrefix": Root.of(environment.logs).prefix,
        "RolePath": environment.role_path,
        "PermissionsBoundaryArn": environment.permissions_boundary or "",
        "ServiceRoleName": last_part(environment.service_role),
        "InstanceProfileName": environment.instance_profile,
        "SecurityConfigurationName": environment.security_configuration or "",
        "RuntimeRoleArns": ",".join(roles),
        "AlarmTopicName": "".join(last_part(arn) for arn in arns["alarms"]),
        "TopicArns": ",".join([*arns["alarms"], *arns["domains"]]),
    }


def _network(environment: EnvironmentSpec) -> dict[str, str]:
    """Return the ids of a network that is there already; empty ones of one to be made."""
    found = environment.network
    if found is None:
        return dict.fromkeys(("VpcId", "SubnetIdA", "SubnetIdB"), "")
    return {
        "VpcId": found.vpc,
        "CidrOfVpcId": found.cidr,
        "SubnetIdA": found.subnet_a,
        "SubnetIdB": found.subnet_b,
    }


def parameters(
    template: Mapping[str, Any],
    environment: EnvironmentSpec,
    domains: Iterable[DomainSpec],
) -> dict[str, str]:
    """Return the values of those parameters of a template that the files define.

    What they leave out is the empty text where that is the template's default: a stack
    keeps the value that it had of a parameter which it is not told.

    Raises NotDeployable for a value that CloudFormation does not take.
    """
    known = known_values(environment, domains)
    asked = template.get("Parameters", {})
    found = {
        name: known[name]
        for name, each in asked.items()
        if known.get(name) or (name in known and each.get("Default") == "")
    }
    if too_long := [n for n, each in found.items() if len(each) > VALUE_CHARACTERS]:
        raise NotDeployable(
            environment.name,
            [
                f"the parameter {name} would have {len(found[name])} characters; "
                f"CloudFormation takes {VALUE_CHARACTERS}. Let several domains share a "
                "runtime role or topic, or give these shorter names."
                for name in too_long
            ],
        )
    return found
