"""Statements into managed policies of a size and number that IAM takes.

A role's inline policies may have 10,240 characters together, which two domains fill. Managed
policies have 6,144 each, and a role may have ten.
"""

from __future__ import annotations

import json
import re
from typing import Any, Dict, Iterator, List, Sequence

from lake_infra.aws_limits import POLICY_CHARACTERS
from lake_infra.statements import Statement, policy_document

_LONGEST = {
    "AWS::Partition": "aws-us-gov",
    "AWS::Region": "ap-southeast-2",
    "AWS::AccountId": "1" * 12,
    "Environment": "e" * 20,
}
"""The longest values that CloudFormation may put in."""
_LONGEST_IMPORT = "k" * 100
"""The longest ARN of a key."""


def packed(statements: Sequence[Statement]) -> List[List[Statement]]:
    """Return the statements in documents that each fit into a managed policy.

    A statement that is too long for one is divided: what it is on, or its prefixes.
    """
    documents: List[List[Statement]] = []
    for statement in statements:
        for piece in _pieces(statement):
            room = (each for each in documents if _fits([*each, piece]))
            chosen = next(room, None)
            if chosen is None:
                documents.append([piece])
            else:
                chosen.append(piece)
    return documents


def _fits(statements: Sequence[Statement]) -> bool:
    return size(policy_document(statements)) <= POLICY_CHARACTERS


def size(part: Dict[str, Any]) -> int:
    """Return the most characters that a statement or policy may have when deployed."""
    return len(json.dumps(_filled(part), separators=(",", ":")))


def _filled(value: Any) -> Any:
    if isinstance(value, list):
        return [_filled(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "Fn::Sub" in value:
        return re.sub(
            r"\$\{([^}]*)\}", lambda found: _LONGEST[found[1]], value["Fn::Sub"]
        )
    if "Fn::ImportValue" in value:
        return _LONGEST_IMPORT
    return {name: _filled(each) for name, each in value.items()}


def _pieces(statement: Statement) -> Iterator[Statement]:
    parts = _halved(statement)
    if len(parts) == 1:
        yield statement
        return
    for number, part in enumerate(parts, start=1):
        yield {**part, "Sid": f"{statement['Sid']}{number}"}


def _halved(statement: Statement) -> List[Statement]:
    if _fits([{**statement, "Sid": f"{statement['Sid']}99"}]):
        return [statement]
    found = statement["Resource"]
    if isinstance(found, list) and len(found) > 1:
        parts = [{**statement, "Resource": half} for half in _halves(found)]
    else:
        ((operator, keys),) = statement["Condition"].items()
        ((key, values),) = keys.items()
        parts = [
            {**statement, "Condition": {operator: {key: half}}}
            for half in _halves(values)
        ]
    return [each for part in parts for each in _halved(part)]


def _halves(values: List[Any]) -> List[List[Any]]:
    half = len(values) // 2
    return [values[:half], values[half:]]


def managed_policies(
    role: str, documents: Sequence[Sequence[Statement]]
) -> Dict[str, Dict[str, Any]]:
    """Return the managed policies of a role, by their logical ids."""
    return {
        f"{role}Policy{number}": {
            "Type": "AWS::IAM::ManagedPolicy",
            "Properties": {
                # IAM changes none: another one would replace the policy.
                "Description": "Permissions of the steps of a runtime role",
                "PolicyDocument": policy_document(statements),
                "Roles": [{"Ref": role}],
            },
        }
        for number, statements in enumerate(documents, start=1)
    }
