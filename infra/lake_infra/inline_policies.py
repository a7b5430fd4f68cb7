"""Whether policies that are written into roles have a size that IAM takes.

They name the roles and topics of all domains, so a lake of many domains makes them long.
"""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, Iterator, Mapping

from lake_infra.aws_limits import INLINE_CHARACTERS, POLICY_CHARACTERS
from lake_infra.policies import resolved, values_of
from lake_infra.resource_names import NotDeployable
from lake_infra.shared_airflow import layer_template
from lake_spec.model import DomainSpec, EnvironmentSpec

LAYERS = ("emr", "mwaa", "deploy")
"""Layers whose roles have inline policies."""


def check_inline_policies(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> None:
    """Raise NotDeployable for roles with more inline policies than IAM takes."""
    values = values_of(environment, domains)
    reasons = [
        f"the role {role} of the layer {layer} would have inline policies of {size} "
        f"characters; IAM takes {INLINE_CHARACTERS}. Let several domains share a runtime "
        "role or topic, or give these shorter names."
        for layer in LAYERS
        for role, size in inline_sizes(
            layer_template(environment, layer), values
        ).items()
        if size > INLINE_CHARACTERS
    ]
    if (airflow := environment.airflow) is not None:
        (document,) = (
            each["Properties"]["PolicyDocument"]
            for each in layer_template(environment, "mwaa")["Resources"].values()
            if each["Type"] == "AWS::IAM::ManagedPolicy"
        )
        if (size := _size(document, values)) > POLICY_CHARACTERS:
            reasons.append(
                f"the policy for the role of {airflow.name} would have {size} characters; "
                f"IAM takes {POLICY_CHARACTERS}. Let several domains share a runtime role "
                "or topic, or give these shorter names."
            )
    if reasons:
        raise NotDeployable(environment.name, reasons)


def inline_sizes(
    template: Mapping[str, Any], values: Mapping[str, str]
) -> Dict[str, int]:
    """Return how many characters the inline policies of each role have together, with
    all that its conditions add."""
    known = {
        **{n: each.get("Default", "") for n, each in template["Parameters"].items()},
        **dict.fromkeys(template.get("Conditions", ()), "yes"),
    }
    values = {**known, **values}
    return {
        resolved(each["Properties"]["RoleName"], values): sum(_sizes(each, values))
        for each in template["Resources"].values()
        if each["Type"] == "AWS::IAM::Role"
    }


def _sizes(role: Mapping[str, Any], values: Mapping[str, str]) -> Iterator[int]:
    for each in role["Properties"].get("Policies", ()):
        yield _size(each["PolicyDocument"], values)


def _size(document: Any, values: Mapping[str, str]) -> int:
    return len(json.dumps(resolved(document, values), separators=(",", ":")))
