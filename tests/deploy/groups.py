"""What security groups let in and out among each other, by one template."""

from __future__ import annotations

from typing import Any, Iterator, List, NamedTuple

from tests.deploy.shape import resources

EMR_NODES = "for-use-with-amazon-emr-managed-policies"
"""The tag of groups that EMR may use. It adds inbound rules to them, no outbound ones."""


class Way(NamedTuple):
    """From one group to another, on all ports or on one."""

    source: str
    target: str
    port: Any


def half_open(text: str) -> List[str]:
    """Ways that a group lets in and the other one, if of this template, does not let
    out."""
    let_out = set(_ways(text, "Egress"))
    groups = {n for n, each in resources(text) if each["Type"].endswith("Group")}
    return [
        f"{way.target}: lets {way.source} in on {way.port}, which {way.source} does not"
        " let out"
        for way in _ways(text, "Ingress")
        if way.source in groups and not {way, way._replace(port="all")} & let_out
    ]


def cut_off_nodes(text: str) -> List[str]:
    """Groups of EMR's nodes whose nodes cannot call each other."""
    groups = _groups_of_nodes(text)
    wanted = {Way(one, other, "all") for one in groups for other in groups}
    lacking = sorted(wanted - set(_ways(text, "Egress")))
    return [f"{way.source}: let out all to {way.target}" for way in lacking]


def _groups_of_nodes(text: str) -> List[str]:
    """Those of EMR but the one by which it comes in, which calls on a port alone."""
    marked = [
        name
        for name, each in resources(text)
        if each["Type"] == "AWS::EC2::SecurityGroup" and EMR_NODES in str(each)
    ]
    return [name for name in marked if "ServiceAccess" not in name]


def _ways(text: str, kind: str) -> Iterator[Way]:
    other = {"Ingress": "SourceSecurityGroupId", "Egress": "DestinationSecurityGroupId"}
    for name, each in resources(text):
        properties = each.get("Properties", {})
        rules = [(name, rule) for rule in properties.get(f"SecurityGroup{kind}", [])]
        if each["Type"] == f"AWS::EC2::SecurityGroup{kind}":
            rules = [(properties["GroupId"]["Ref"], properties)]
        for group, rule in rules:
            far = rule.get(other[kind], {}).get("Ref")
            if far:
                ends = (far, group) if kind == "Ingress" else (group, far)
                yield Way(*ends, rule.get("FromPort", "all"))
