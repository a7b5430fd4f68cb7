"""The stacks' outputs as lines of an environment's file."""

from __future__ import annotations

import json
from typing import Any, Mapping

from lake_infra.resource_names import NotDeployable

MADE_BY = ("network", "data")
"""The layers whose ids AWS chooses."""

SETTINGS = """\
subnets: [{SubnetA}, {SubnetB}]
security_groups:
  primary: {PrimaryGroup}
  core_and_task: {CoreAndTaskGroup}
  service_access: {ServiceAccessGroup}
log_encryption_kms_key_id: {KeyArn}
s3_encryption_kms_key_id: {KeyArn}"""


def settings(environment: str, described: str) -> str:
    """Return lines for environments/<name>.yml, from the JSON of `describe-stacks`.

    Raises NotDeployable where a stack is missing or is not done.
    """
    stacks = {each["StackName"]: each for each in json.loads(described)["Stacks"]}
    outputs: dict[str, str] = {}
    reasons = []
    for layer in MADE_BY:
        name = f"lake-{environment}-{layer}"
        if name in stacks and _is_done(stacks[name]):
            outputs.update(_outputs(stacks[name]))
        else:
            state = stacks.get(name, {}).get("StackStatus", "not there")
            reasons.append(f"the stack {name} is {state}. Deploy the layer {layer}.")
    if reasons:
        raise NotDeployable(environment, reasons)
    return SETTINGS.format_map(outputs)


def _is_done(stack: Mapping[str, Any]) -> bool:
    return stack["StackStatus"] in ("CREATE_COMPLETE", "UPDATE_COMPLETE")


def _outputs(stack: Mapping[str, Any]) -> dict[str, str]:
    return {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
