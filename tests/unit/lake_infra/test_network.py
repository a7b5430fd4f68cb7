"""Who reaches Airflow's pages, and in which zones the subnets are."""

from __future__ import annotations

import re

import pytest

from lake_infra.template import load_template

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
