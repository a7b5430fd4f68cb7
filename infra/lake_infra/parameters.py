"""The parameters of the templates, from an environment's files."""

from __future__ import annotations

from typing import Any, Iterable, Mapping

from lake_infra.endpoints import endpoint_services
from lake_infra.resource_names import Root, last_part, runtime_roles, topics
from lake_spec.model import DomainSpec, EnvironmentSpec


def known_values(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> dict[str, str]:
    """Return all values in the files, by the name of their parameter."""
    domains = list(domains)
    work = Root.of(environment.artifacts)
    arns = topics(environment, domains)
    return {
        "Environment": environment.name,
        "Services": ",".join(endpoint_services(environment, domains)),
        "LandingBucket": Root.of(environment.landing).bucket,
        "WarehouseBucket": Root.of(environment.warehouse).bucket,
        "WorkBucket": work.bucket,
        "ArtifactsPrefix": work.prefix,
        "RunsPrefix": Root.of(environment.runs).prefix,
        "LogsPrefix": Root.of(environment.logs).prefix,
        "ServiceRoleName": last_part(environment.service_role),
        "InstanceProfileName": environment.instance_profile,
        "SecurityConfigurationName": environment.security_configuration or "",
        "RuntimeRoleArns": ",".join(runtime_roles(environment, domains)),
        "AlarmTopicName": "".join(last_part(arn) for arn in arns["alarms"]),
        "TopicArns": ",".join([*arns["alarms"], *arns["domains"]]),
    }


def parameters(
    template: Mapping[str, Any],
    environment: EnvironmentSpec,
    domains: Iterable[DomainSpec],
) -> dict[str, str]:
    """Return the values of those parameters of a template that the files define."""
    known = known_values(environment, domains)
    asked = template.get("Parameters", {})
    return {name: known[name] for name in asked if known.get(name)}
