"""What IAM would say to a call: the statements of a policy against one request.

Knows what our templates use: Allow statements, `*` and `?`, and the operators of
`OPERATORS`. Anything else is an error here, never a yes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Sequence

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


def documents(template: Mapping[str, Any], role: str) -> Iterator[Mapping[str, Any]]:
    """The policies of a role, and those that are attached to it."""
    for name, each in template["Resources"].items():
        properties = each.get("Properties", {})
        if name == role:
            yield from (p["PolicyDocument"] for p in properties["Policies"])
        elif {"Ref": role} in properties.get("Roles", ()) and "Policy" in each["Type"]:
            yield properties["PolicyDocument"]


def resolved(value: Any, values: Mapping[str, str]) -> Any:
    """Plain data, without CloudFormation's functions; KeyError for what is unknown.

    A value of another layer is its export's name; of a list, all of it. A condition is a
    value too, empty where it is false.
    """
    if isinstance(value, list):
        found = (resolved(each, values) for each in value)
        return [each for each in found if each is not None]
    if not isinstance(value, dict):
        return value
    if value == {"Ref": "AWS::NoValue"}:
        return None
    if set(value) == {"Ref"}:
        return _list_or_text(values[value["Ref"]])
    if set(value) == {"Fn::ImportValue"}:
        return resolved(value["Fn::ImportValue"], values)
    if set(value) == {"Fn::GetAtt"}:
        return ".".join(value["Fn::GetAtt"])
    if set(value) == {"Fn::If"}:
        name, where_true, otherwise = value["Fn::If"]
        return resolved(where_true if values[name] else otherwise, values)
    if set(value) == {"Fn::Sub"}:
        text, more = value["Fn::Sub"], {}
        if isinstance(text, list):
            text, more = text
        known = {**values, **{k: resolved(v, values) for k, v in more.items()}}
        return re.sub(r"\$\{([^}]*)\}", lambda found: known[found[1]], text)
    return {name: resolved(each, values) for name, each in value.items()}


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
    return (
        _is_like(asked.action, statement["Action"])
        and _is_like(
            asked.arn, statement.get("Resource", "*")
        )  # none in a trust policy
        and _is_for(asked.principal, statement.get("Principal"))
        and all(
            _holds(operator, tests, asked.context)
            for operator, tests in statement.get("Condition", {}).items()
        )
    )


def _is_for(principal: str, named: Any) -> bool:
    if named is None or named == "*":
        return True
    return any(principal in _listed(each) for each in named.values())


def _is_like(text: str, patterns: Any) -> bool:
    return any(_regex(each).fullmatch(text) for each in _listed(patterns))


def _is_one_of(text: str, values: Any) -> bool:
    return text in _listed(values)


OPERATORS = {
    "ArnLike": _is_like,
    "Bool": _is_one_of,
    "StringEquals": _is_one_of,
    "StringLike": _is_like,
}


def _holds(operator: str, tests: Mapping[str, Any], context: Mapping[str, str]) -> bool:
    plain = operator.removesuffix("IfExists")
    if plain not in OPERATORS:
        raise NotImplementedError(f"condition {operator}")
    return all(
        OPERATORS[plain](context[key], wanted) if key in context else plain != operator
        for key, wanted in tests.items()
    )


def _regex(pattern: str) -> "re.Pattern[str]":
    parts = (re.escape(p) for p in re.split(r"([*?])", pattern))
    signs = {r"\*": ".*", r"\?": "."}
    return re.compile("".join(signs.get(part, part) for part in parts), re.DOTALL)


def _listed(value: Any) -> Sequence[str]:
    return value if isinstance(value, list) else [value]


def _list_or_text(value: str) -> Any:
    return value.split(",") if "," in value else value
