"""Who reaches Airflow's pages, zones of the subnets, and a network that is there already."""

from __future__ import annotations

import copy
import re
from typing import Any, Iterator, Mapping

import pytest

from lake_infra.parameters import parameters
from lake_infra.template import load_template
from lake_spec.model.aws import OwnNetwork

from tests.unit.lake_infra.lakes import domain, environment

NETWORK = load_template("network")
PARAMETERS, RESOURCES = NETWORK["Parameters"], NETWORK["Resources"]


@pytest.mark.parametrize(
    "name, value, is_taken",
    [
        ("PagesFromCidr", "", True),
        ("PagesFromCidr", "10.0.0.0/8", True),
        ("PagesFromCidr", "192.168.7.4/32", True),
        ("PagesFromCidr", "0.0.0.0/0", False),
        ("PagesFromCidr", "0.0.0.0/1", False),
        ("PagesFromCidr", "10.0.0.0/33", False),
        ("PagesFromCidr", "10.0.0.0", False),
        ("PagesFromGroup", "sg-0123456789abcdef0", True),
        ("PagesFromGroup", "0.0.0.0/0", False),
        ("ZoneA", "", True),
        ("ZoneA", "eu-central-1c", True),
        ("ZoneB", "us-gov-west-1a", True),
        ("ZoneB", "eu-central-1", False),
    ],
)
def test_values_are_taken_that_fit(name, value, is_taken):
    pattern = PARAMETERS[name]["AllowedPattern"]
    assert bool(re.fullmatch(pattern, value)) == is_taken


def test_without_a_value_nobody_is_let_in_and_with_one_to_the_pages_alone():
    for name, source in (
        ("PagesToNetwork", "PagesFromCidr"),
        ("PagesToGroup", "PagesFromGroup"),
    ):
        assert RESOURCES[name]["Condition"] == f"Has{source}"
        assert PARAMETERS[source]["Default"] == ""
        rule = RESOURCES[name]["Properties"]
        assert rule["GroupId"] == {"Ref": "AirflowGroup"}
        assert (rule["FromPort"], rule["ToPort"]) == (443, 443)
        assert {"Ref": source} in rule.values()


@pytest.mark.parametrize("letter, number", [("A", 0), ("B", 1)])
def test_a_subnet_is_in_the_zone_that_is_named(letter, number):
    zone = RESOURCES[f"Subnet{letter}"]["Properties"]["AvailabilityZone"]
    of_region = {"Fn::Select": [number, {"Fn::GetAZs": ""}]}
    assert zone == {"Fn::If": [f"HasZone{letter}", {"Ref": f"Zone{letter}"}, of_region]}


OWN = OwnNetwork(
    "vpc-0123456789abcdef0",
    "10.7.0.0/16",
    "subnet-0123456789abcdef0",
    "subnet-0123456789abcdef1",
)


def made_beside(template: Mapping[str, Any]) -> set[str]:
    """What a template makes in a network that is there already, but groups."""
    return {
        each["Type"]
        for each in template["Resources"].values()
        if each.get("Condition") != "MakesVpc" and "SecurityGroup" not in each["Type"]
    }


def references(value: Any) -> Iterator[str]:
    """What a template refers to where `MakesVpc` is false."""
    if isinstance(value, dict):
        if value.get("Fn::If", [""])[0] == "MakesVpc":
            yield from references(value["Fn::If"][2])
            return
        if "Ref" in value:
            yield value["Ref"]
        if "Fn::GetAtt" in value:
            yield value["Fn::GetAtt"][0]
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def test_in_a_network_that_is_there_the_groups_alone_are_made():
    assert made_beside(NETWORK) == set()
    planted = copy.deepcopy(NETWORK)
    del planted["Resources"]["S3Endpoint"]["Condition"]
    assert made_beside(planted) == {"AWS::EC2::VPCEndpoint"}


def test_nothing_that_is_made_there_refers_to_what_is_not():
    kept = [e for e in RESOURCES.values() if e.get("Condition") != "MakesVpc"]
    outputs = NETWORK["Outputs"].values()
    kept += [each for each in outputs if each.get("Condition") != "MakesVpc"]
    absent = {n for n, e in RESOURCES.items() if e.get("Condition") == "MakesVpc"}
    assert absent & set(references(kept)) == set()
    assert {"Ref": "VpcId"} in RESOURCES["EndpointGroup"]["Properties"]["VpcId"][
        "Fn::If"
    ]


def test_its_ids_are_told_to_the_template_and_go_on_to_the_other_layers():
    told = parameters(NETWORK, environment(network=OWN), [domain("sales")])
    assert told == {
        "Environment": "test",
        "VpcId": OWN.vpc,
        "CidrOfVpcId": OWN.cidr,
        "SubnetIdA": OWN.subnet_a,
        "SubnetIdB": OWN.subnet_b,
    }
    for name, value in told.items():
        assert re.fullmatch(PARAMETERS[name]["AllowedPattern"], value)
    outputs = NETWORK["Outputs"]
    for name, given in {
        "Vpc": "VpcId",
        "SubnetA": "SubnetIdA",
        "SubnetB": "SubnetIdB",
    }.items():
        assert outputs[name]["Value"]["Fn::If"] == [
            "MakesVpc",
            {"Ref": name},
            {"Ref": given},
        ]


def test_a_network_that_the_file_no_longer_names_is_no_longer_told():
    """A stack keeps what it was told before, unless it is told the empty text."""
    told = parameters(NETWORK, environment(), [domain("sales")])
    ids = dict.fromkeys(("VpcId", "SubnetIdA", "SubnetIdB"), "")
    assert told == {"Environment": "test", **ids}
