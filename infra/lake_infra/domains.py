"""The template of what depends on the domains: their roles, databases and topics.

Generated, so that a new domain or table is a change of its spec alone.
"""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, List, Sequence

from lake_infra.aws_limits import POLICIES_OF_ROLE, TEMPLATE_BYTES, TEMPLATE_RESOURCES
from lake_infra.lake_formation import Resource, grant, in_turn
from lake_infra.packing import managed_policies, packed
from lake_infra.resource_names import NotDeployable, last_part, runtime_roles, topics
from lake_infra.runtime_role import format_databases, role_statements
from lake_infra.statements import policy_document
from lake_spec.model import DomainSpec, EnvironmentSpec

_ON = "UsesLakeFormation"
_SHOWN = 5
"""Names of domains in a message."""


def domains_template(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> Dict[str, Any]:
    """Build the template, the same for the same specs. Raises NotDeployable if too
    big."""
    domains = sorted(domains, key=lambda each: each.name)
    resources: Dict[str, Resource] = {}
    for arn, chosen in runtime_roles(environment, domains).items():
        resources.update(_role(environment, arn, chosen, domains))
    for domain in domains:
        resources.update(_databases(environment, domain))
    for arn in topics(environment, domains)["domains"]:
        resources[logical_id("Topic", last_part(arn))] = _topic(arn)
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "Roles, databases and topics of domains, generated from their specs",
        "Parameters": {
            "Environment": {
                "Type": "String",
                "AllowedPattern": "[a-z][a-z0-9-]{0,19}",
            },
            "LakeFormation": {
                "Type": "String",
                "AllowedValues": ["on", "off"],
                "Default": "off",
            },
        },
        "Conditions": {_ON: {"Fn::Equals": [{"Ref": "LakeFormation"}, "on"]}},
        "Resources": in_turn(resources),
    }
    check_size(environment, template, "Let several domains share a runtime role.")
    return template


def check_size(
    environment: EnvironmentSpec, template: Dict[str, Any], remedy: str
) -> None:
    """Raise NotDeployable for more resources or bytes than a template may have."""
    count, size = len(template["Resources"]), len(printed(template).encode())
    if count > TEMPLATE_RESOURCES:
        reason = (
            f"its domains need {count} resources; a template allows "
            f"{TEMPLATE_RESOURCES}. {remedy}"
        )
        raise NotDeployable(environment.name, [reason])
    if size > TEMPLATE_BYTES:
        reason = (
            f"its domains need a template of {size:,} bytes; CloudFormation takes "
            f"{TEMPLATE_BYTES:,}. Divide the domains among two environments."
        )
        raise NotDeployable(environment.name, [reason])


def printed(template: Dict[str, Any]) -> str:
    """Return the template as it is printed: CloudFormation counts blanks too."""
    return json.dumps(template, separators=(",", ":"))


def logical_id(kind: str, name: str) -> str:
    """Return a logical id: letters and digits, unique for every name."""
    return kind + "".join(c if c.isalnum() else f"X{ord(c):02x}X" for c in name)


def _role(
    environment: EnvironmentSpec,
    arn: str,
    domains: Sequence[DomainSpec],
    lake: Sequence[DomainSpec],
) -> Dict[str, Resource]:
    name = last_part(arn)
    path = arn.split(":role", 1)[1][: -len(name)]
    role = logical_id("Role", name)
    steps = f"Steps of {', '.join(d.name for d in domains)}"[:1000]
    documents = packed(role_statements(environment, domains, lake))
    _check_policies(environment, arn, domains, len(documents))
    return {
        role: {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "RoleName": name,
                "Path": path,
                **bounded(environment),
                "Description": steps,
                "AssumeRolePolicyDocument": policy_document([_trust()]),
            },
        },
        **managed_policies(role, documents),
    }


def _check_policies(
    environment: EnvironmentSpec, arn: str, domains: Sequence[DomainSpec], count: int
) -> None:
    """Raise NotDeployable for a role with more policies than IAM attaches to one."""
    if count <= POLICIES_OF_ROLE:
        return
    remedy = "Name a role of its own for some of them in runtime_roles."
    if len(domains) == 1:
        remedy = "Move some of its tables to another domain."
    names = ", ".join(domain.name for domain in domains[:_SHOWN])
    names += ", ..." if len(domains) > _SHOWN else ""
    reason = (
        f"runtime role {last_part(arn)}: its steps need {count} managed policies, for "
        f"{len(domains)} domain(s) ({names}); IAM attaches {POLICIES_OF_ROLE} to a role. {remedy}"
    )
    raise NotDeployable(environment.name, [reason])


def bounded(environment: EnvironmentSpec) -> Dict[str, Any]:
    """Return the property of a role by which an account's boundary holds it, if any."""
    boundary = environment.permissions_boundary
    return {"PermissionsBoundary": boundary} if boundary else {}


def _trust() -> Dict[str, Any]:
    """Allow the nodes to assume the role of the step that they run."""
    nodes = {"Fn::ImportValue": {"Fn::Sub": "lake-${Environment}-InstanceRoleArn"}}
    return {
        "Effect": "Allow",
        "Principal": {"AWS": nodes},
        "Action": ["sts:AssumeRole", "sts:TagSession"],
    }


def _databases(environment: EnvironmentSpec, domain: DomainSpec) -> Dict[str, Resource]:
    """Return the domain's database, and one for each format that its tables name."""
    found = _database(environment, domain, domain.name, ["ALTER", "DESCRIBE"])
    for name in format_databases(domain):
        # Maintenance drops tables whose spec names the format no longer.
        to = ["ALTER", "DESCRIBE", "DROP"]
        found.update(_database(environment, domain, name, to))
    return found


def _database(
    environment: EnvironmentSpec, domain: DomainSpec, called: str, to: List[str]
) -> Dict[str, Resource]:
    database = logical_id("Database", called)
    role = logical_id("Role", last_part(environment.runtime_role_of(domain.name) or ""))
    account = {"Ref": "AWS::AccountId"}
    name = {"Ref": database}
    return {
        database: {
            "Type": "AWS::Glue::Database",
            "DeletionPolicy": "RetainExceptOnCreate",
            "UpdateReplacePolicy": "Retain",
            "Properties": {
                "CatalogId": account,
                "DatabaseInput": {
                    "Name": called,
                    "Description": domain.description,
                    "CreateTableDefaultPermissions": {
                        "Fn::If": [_ON, [], {"Ref": "AWS::NoValue"}]
                    },
                },
            },
        },
        f"{database}Grant": _grant(
            role,
            {"Database": {"CatalogId": account, "Name": name}},
            ["CREATE_TABLE", "DESCRIBE"],
        ),
        f"{database}TablesGrant": _grant(
            role,
            {
                "Table": {
                    "CatalogId": account,
                    "DatabaseName": name,
                    "TableWildcard": {},
                }
            },
            to,
        ),
    }


def _grant(role: str, thing: Resource, permissions: List[str]) -> Resource:
    """Grant by Lake Formation, if it controls the catalogue."""
    arn = {"Fn::GetAtt": [role, "Arn"]}
    return grant(arn, thing, permissions, Condition=_ON)


def _topic(arn: str) -> Resource:
    key = {"Fn::ImportValue": {"Fn::Sub": "lake-${Environment}-KeyArn"}}
    return {
        "Type": "AWS::SNS::Topic",
        "Properties": {"TopicName": last_part(arn), "KmsMasterKeyId": key},
    }
