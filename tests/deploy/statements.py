"""The statements of every policy in a template, with the lines that they stand on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict, Iterator, List, Tuple

import yaml

Text = Tuple[str, int]
"""A text and the number of its line."""


@dataclass(frozen=True)
class Statement:
    """One statement of a policy."""

    line: int
    effect: str
    principals: Tuple[Text, ...]
    actions: Tuple[Text, ...]
    resources: Tuple[Text, ...]
    conditions: Dict[str, List[str]]
    """The values of each condition key."""


def statements(text: str) -> List[Statement]:
    """All statements of a template's text, YAML or JSON."""
    return [_statement(node) for node in _mappings(yaml.compose(text))]


def is_broad(resource: str) -> bool:
    """Whether a resource is all there is of a kind: `*`, `cluster/*`, a whole bucket."""
    parts = re.sub(r"\$\{[^}]*\}", "x", resource).split(":", 5)
    rest = parts[-1] if len(parts) == 6 else resource
    return re.fullmatch(r"(\*|[\w.-]+[:/]\*|\*[:/].*)", rest) is not None


def unexplained(text: str) -> List[str]:
    """Wildcards for actions, principals or resources without a comment next to them."""
    lines = text.splitlines()
    faults = []
    for each in statements(text):
        if each.effect != "Allow":
            continue
        broad = [(t, n) for t, n in each.resources if is_broad(t)]
        broad += [(t, n) for t, n in each.actions if "*" in t]
        broad += [(t, n) for t, n in each.principals if t == "*"]
        faults += [
            f"line {number}: {found!r} without a comment that gives the reason"
            for found, number in broad
            if not re.search(r"\s# \S", lines[number - 1])
        ]
    return faults


def nameless(text: str) -> List[str]:
    """Statements that do not name their actions, or grant by what they leave out."""
    return [
        f"line {each.line}: write Action and Resource, not their opposites"
        for each in statements(text)
        if not each.actions
    ]


def loose_roles(text: str) -> List[str]:
    """iam:PassRole next to other actions, to anybody, or of any role."""
    faults = []
    for each in statements(text):
        if "iam:PassRole" not in [action for action, _ in each.actions]:
            continue
        alone = len(each.actions) == 1
        named = not any(is_broad(found) for found, _ in each.resources)
        if not (alone and named and each.conditions.get("iam:PassedToService")):
            faults.append(
                f"line {each.line}: iam:PassRole takes a statement of its own, named"
                " roles and the condition iam:PassedToService"
            )
    return faults


_OF_ANY_CLUSTER = ("ListClusters", "DescribeCluster")
_ASKED_TAGS = {"RunJobFlow": ("Request",), "AddTags": ("Request", "Resource")}
_CLUSTER_TAGS = ("lake:environment", "lake:deployment")


def loose_clusters(text: str) -> List[str]:
    """Calls about clusters that do not go by the tags of the environment and the
    deployment; a tag on a cluster of others would make it ours to end."""
    return [
        f"line {each.line}: {action} takes the condition {tag}"
        for each in statements(text)
        for service, _, action in (name.partition(":") for name, _ in each.actions)
        if service == "elasticmapreduce" and action not in _OF_ANY_CLUSTER
        for kind in _ASKED_TAGS.get(action, ("Resource",))
        for tag in (f"{service}:{kind}Tag/{name}" for name in _CLUSTER_TAGS)
        if not each.conditions.get(tag)
    ]


def _mappings(node: yaml.Node) -> Iterator[Dict[str, yaml.Node]]:
    """Every mapping that is a statement."""
    if isinstance(node, yaml.MappingNode):
        members = {key.value: value for key, value in node.value}
        if "Effect" in members:
            yield members
        for value in members.values():
            yield from _mappings(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _mappings(value)


def _statement(members: Dict[str, yaml.Node]) -> Statement:
    def texts(name: str) -> Tuple[Text, ...]:
        return tuple(_texts(members[name])) if name in members else ()

    conditions: Dict[str, List[str]] = {}
    for _, operator in _members(members.get("Condition")):
        for key, values in _members(operator):
            conditions[key] = [value for value, _ in _texts(values)]
    return Statement(
        line=members["Effect"].start_mark.line + 1,
        effect=members["Effect"].value,
        principals=texts("Principal"),
        actions=texts("Action"),
        resources=texts("Resource"),
        conditions=conditions,
    )


def _members(node: object) -> List[Tuple[str, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        return []
    return [(key.value, value) for key, value in node.value]


def _texts(node: yaml.Node) -> Iterator[Text]:
    """The scalars below a node; of mappings (Fn::Sub, AWS, Service) the values."""
    if isinstance(node, yaml.ScalarNode):
        yield node.value, node.start_mark.line + 1
    else:
        pairs = isinstance(node, yaml.MappingNode)
        for value in node.value:
            yield from _texts(value[1] if pairs else value)
