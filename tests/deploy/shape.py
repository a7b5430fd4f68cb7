"""What every template must be, apart from its policies."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Sequence, Tuple

import yaml
from lake_infra.template import read_template

MOST_LINES = 300
KEEPS_DATA = {"AWS::S3::Bucket", "AWS::KMS::Key", "AWS::Glue::Database"}
PUBLIC = {"AWS::EC2::InternetGateway", "AWS::EC2::NatGateway", "AWS::EC2::EIP"}
CLOSED = {
    "BlockPublicAcls": True,
    "BlockPublicPolicy": True,
    "IgnorePublicAcls": True,
    "RestrictPublicBuckets": True,
}


def aliases(text: str) -> List[str]:
    """YAML's anchors, which CloudFormation does not take."""
    return [
        f"line {token.start_mark.line + 1}: an alias or anchor: write it out"
        for token in yaml.scan(text)
        if isinstance(token, (yaml.AliasToken, yaml.AnchorToken))
    ]


def too_long(text: str) -> List[str]:
    """More lines than somebody reads at once."""
    lines = len(text.splitlines())
    return [f"{lines} lines, at most {MOST_LINES}"] if lines > MOST_LINES else []


def lost_with_the_stack(text: str) -> List[str]:
    """Data that goes when a stack is deleted or a resource replaced.

    What a stack made that then failed has no data, and would be in the way of the next.
    """
    kept = {
        "DeletionPolicy": "RetainExceptOnCreate",
        "UpdateReplacePolicy": "Retain",
    }
    return [
        f"{name}: write {policy}: {value}"
        for name, each in resources(text)
        if each["Type"] in KEEPS_DATA
        for policy, value in kept.items()
        if each.get(policy) != value
    ]


def open_to_the_internet(text: str) -> List[str]:
    """Ways in or out, public addresses, ports for everybody."""
    faults = []
    for name, each in resources(text):
        properties = each.get("Properties", {})
        if each["Type"] in PUBLIC or properties.get("MapPublicIpOnLaunch"):
            faults.append(f"{name}: nothing here has a public address")
        rules = [properties, *properties.get("SecurityGroupIngress", [])]
        if "Ingress" in str(sorted(properties)) or each["Type"].endswith("Ingress"):
            faults += [f"{name}: open to everybody" for rule in rules if _for_all(rule)]
    return faults


def _for_all(rule: Dict[str, Any]) -> bool:
    return "0.0.0.0/0" in str(rule.get("CidrIp")) or "::/0" in str(rule.get("CidrIpv6"))


def open_buckets(text: str) -> List[str]:
    """Buckets that could be public, are not under a key, or speak without TLS."""
    found = dict(resources(text))
    denied = {
        each["Properties"]["Bucket"]["Ref"]
        for each in found.values()
        if each["Type"] == "AWS::S3::BucketPolicy"
        and "aws:SecureTransport" in str(each)
    }
    faults = []
    for name, each in found.items():
        if each["Type"] != "AWS::S3::Bucket":
            continue
        properties = each["Properties"]
        if properties.get("PublicAccessBlockConfiguration") != CLOSED:
            faults.append(f"{name}: block all four kinds of public access")
        if "'aws:kms'" not in str(properties.get("BucketEncryption")):
            faults.append(f"{name}: encrypt it under the key")
        if name not in denied:
            faults.append(f"{name}: deny what does not come over TLS")
    return faults


def resources(text: str) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """Those of a template by name, also such as it repeats."""
    for name, each in read_template(text)["Resources"].items():
        if isinstance(each, list):  # Fn::ForEach: identifier, values, what is repeated
            yield from each[2].items()
        else:
            yield name, each


def loose_imports(templates: Dict[str, str], order: Sequence[str]) -> List[str]:
    """Imports of what no earlier template exports, and exports that nobody imports."""
    faults, exported, imported = [], {}, set()
    for name in order:
        text = templates[name]
        for wanted in _values(read_template(text), "Fn::ImportValue"):
            imported.add(wanted)
            if wanted not in exported:
                faults.append(f"{name}: imports {wanted}, which none before it exports")
        for export in _values(read_template(text).get("Outputs", {}), "Export"):
            exported[export] = name
    idle = sorted(set(exported) - imported)
    return faults + [f"{exported[e]}: exports {e}, which none imports" for e in idle]


def _values(node: Any, key: str) -> Iterator[str]:
    """The text of every `key` in a template: of {Name: {Fn::Sub: text}}, the text."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name == key:
                while isinstance(value, dict):
                    (value,) = value.values()
                yield value
            else:
                yield from _values(value, key)
    elif isinstance(node, list):
        for value in node:
            yield from _values(value, key)
