"""Policies from calls: what our code asks of AWS, and what its roles may ask.

Calls are found in the code as it stands: names of operations that botocore's models
have, methods of Airflow's hooks, classes of its provider.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, Set, Tuple

import botocore.session
from botocore import xform_name

from lake_emulator.policies.actions import ACTIONS
from lake_emulator.policies.actions import NEEDS as NEEDS_OF_CALLS
from lake_infra.policies import documents

Calls = Dict[str, str]
"""IAM actions, each with a place that needs it."""

PREFIXES = {"emr": "elasticmapreduce", "mwaa": "airflow"}
"""Services whose actions begin otherwise than botocore names them."""

NEEDS = {
    **NEEDS_OF_CALLS,
    # Who registers a table registers its partitions: without them it is read as empty.
    "glue:CreateTable": (
        *("glue:BatchCreatePartition", "glue:BatchDeletePartition"),
        "glue:GetPartitions",
    ),
    "airflow:UpdateEnvironment": (
        *("ec2:CreateVpcEndpoint", "ec2:DescribeRouteTables"),
        *("ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVpcs"),
        *("iam:PassRole", "kms:CreateGrant", "kms:DescribeKey", "kms:Encrypt"),
        *("kms:GenerateDataKeyWithoutPlaintext", "kms:ListGrants"),
        *("kms:ReEncryptFrom", "kms:ReEncryptTo", "s3:GetEncryptionConfiguration"),
    ),
}
"""What AWS asks for next to the action itself, by what our requests hold."""

HOOK_METHODS = {
    "list_keys": "s3:ListBucket",
    "read_key": "s3:GetObject",
    "load_string": "s3:PutObject",
    "publish_to_target": "sns:Publish",
}

PROVIDER: Dict[str, Tuple[str, ...]] = {
    "EmrHook": (),
    "S3Hook": (),
    "SnsHook": (),
    "SnsNotifier": ("sns:Publish",),
    "EmrCreateJobFlowOperator": (
        "elasticmapreduce:RunJobFlow",
        "elasticmapreduce:TerminateJobFlows",
    ),
    "EmrAddStepsOperator": (
        "elasticmapreduce:AddJobFlowSteps",
        "elasticmapreduce:DescribeStep",
    ),
    "EmrTerminateJobFlowOperator": ("elasticmapreduce:TerminateJobFlows",),
    "EmrAddStepsTrigger": ("elasticmapreduce:ListSteps",),
    "EmrTerminateJobFlowTrigger": ("elasticmapreduce:DescribeCluster",),
}
"""What Airflow's own classes call, by their source; one that is not here is told."""


class Unknown(NamedTuple):
    """A class of Airflow's provider whose calls are not known."""

    name: str
    place: str


def calls_of(folder: Path, services: Sequence[str]) -> Tuple[Calls, List[Unknown]]:
    """What the code of a folder calls, and classes that `PROVIDER` has to be told of."""
    found: Calls = {}
    unknown = []
    for path in sorted(folder.rglob("*.py")):
        for name, line, imported in _names(ast.parse(path.read_text("utf-8"))):
            place = f"{path.name}:{line}"
            if imported and name not in PROVIDER:
                unknown.append(Unknown(name, place))
            for action in _actions(name, services):
                found.setdefault(action, place)
    return found, unknown


def _names(tree: ast.AST) -> Iterator[Tuple[str, int, bool]]:
    """Attributes, texts, and what is imported of the provider (True)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr, node.lineno, False
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, node.lineno, False
        elif isinstance(node, ast.ImportFrom):
            if (node.module or "").startswith("airflow.providers.amazon"):
                yield from ((each.name, node.lineno, True) for each in node.names)


def _actions(name: str, services: Sequence[str]) -> Iterator[str]:
    for service in services:
        if action := operations(service).get(name):
            yield action
            yield from NEEDS.get(action, ())
    if name in HOOK_METHODS:
        yield HOOK_METHODS[name]
    for action in PROVIDER.get(name, ()):
        yield action
        yield from NEEDS.get(action, ())


@lru_cache(maxsize=None)
def operations(service: str) -> Dict[str, str]:
    """The actions of a service, by the names that boto3's methods have."""
    model = botocore.session.Session().get_service_model(service)
    prefix = PREFIXES.get(service, service)
    names = {xform_name(each): f"{prefix}:{each}" for each in model.operation_names}
    return {method: ACTIONS.get(action, action) for method, action in names.items()}


def grants(template: Dict[str, Any], role: str) -> Set[str]:
    """The actions of a role's policies, and of those that are attached to it."""
    found: Set[str] = set()
    for document in documents(template, role):
        for statement in document["Statement"]:
            actions = statement["Action"]
            found.update([actions] if isinstance(actions, str) else actions)
    return found
