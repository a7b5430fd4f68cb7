"""What the statements of one policy say to a request, also of services and tokens.

For what the emulator does not judge: who may take a role, and what AWS's own services may
do. It takes Allow statements alone; patterns and operators are those of the emulator.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Mapping

from lake_emulator.policies.conditions import condition, is_like
from lake_emulator.policies.documents import texts
from lake_infra.policies import documents, resolved

Statement = Mapping[str, Any]
ACCOUNT, REGION = "123456789012", "eu-central-1"
PSEUDO = {
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::AccountId": ACCOUNT,
}


@dataclass(frozen=True)
class Asked:
    """An action, the ARN that it is asked for, and the keys that conditions look at.

    Policies of roles name no principal; those of keys, endpoints and trust do.
    """

    action: str
    arn: str
    context: Mapping[str, str] = field(default_factory=dict)
    principal: str = ""


def statements(
    template: Mapping[str, Any], role: str, values: Mapping[str, str]
) -> List[Statement]:
    """The statements of a role and of what is attached to it, parameters filled in."""
    found: List[Statement] = []
    for document in documents(template, role):
        found += resolved(document["Statement"], {**PSEUDO, **values})
    return found


def conditions(
    template: Mapping[str, Any], values: Mapping[str, str]
) -> Dict[str, str]:
    """The conditions of a template by name, `yes` or empty, for these parameters."""

    def holds(test: Mapping[str, Any]) -> bool:
        ((function, arguments),) = test.items()
        if function == "Fn::Not":
            return not holds(arguments[0])
        if function != "Fn::Equals":
            raise NotImplementedError(function)
        one, other = resolved(arguments, values)
        return one == other

    found = template.get("Conditions", {}).items()
    return {name: "yes" if holds(test) else "" for name, test in found}


def allowing(asked: Asked, among: Iterable[Statement]) -> List[str]:
    """The Sids of the statements that allow it; none means denied."""
    return [each["Sid"] for each in among if _allows(each, asked)]


def _allows(statement: Statement, asked: Asked) -> bool:
    if statement["Effect"] != "Allow":
        raise NotImplementedError(f"effect {statement['Effect']}")
    context = {name.lower(): value for name, value in asked.context.items()}
    return (
        _is_any(asked.action, statement["Action"])
        and _is_any(asked.arn, statement.get("Resource", "*"))  # none in a trust policy
        and _is_for(asked.principal, statement.get("Principal"))
        and all(
            condition(operator, key, texts(values)).holds(context)
            for operator, tests in statement.get("Condition", {}).items()
            for key, values in tests.items()
        )
    )


def _is_for(principal: str, named: Any) -> bool:
    if named is None or named == "*":
        return True
    return any(principal in texts(each) for each in named.values())


def _is_any(text: str, patterns: Any) -> bool:
    return any(is_like(text, each) for each in texts(patterns))
