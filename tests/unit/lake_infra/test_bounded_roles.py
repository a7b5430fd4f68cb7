"""Roles of an account that asks for a permissions boundary and a path of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Iterator, Mapping

import pytest

from lake_acceptance.subject import below_prefix
from lake_infra.domains import domains_template
from lake_infra.parameters import known_values, parameters
from lake_infra.policies import policies, resolved
from lake_infra.readers import readers_template
from lake_infra.resource_names import NotDeployable, check_deployable
from lake_infra.template import GENERATED, LAYERS, load_template
from lake_spec.model import Reader

from tests.unit.lake_infra.lakes import ACCOUNT, domain, environment, role

BOUNDARY, PATH = f"arn:aws:iam::{ACCOUNT}:policy/boundary", "/lake/"
ASKED = environment(
    permissions_boundary=BOUNDARY,
    role_path=PATH,
    service_role=role("lake/emr"),
    runtime_role=role("lake/steps"),
)
SALES, STOCK = domain("sales", "sales/orders"), domain("stock", "wms")


def templates() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every template of the environment, by its layer."""
    yield "domains", domains_template(ASKED, [SALES, STOCK])
    read = replace(SALES, readers=(Reader("analysts"),))
    yield "readers", readers_template(ASKED, [read])
    for layer in LAYERS:
        if layer not in GENERATED:
            yield layer, load_template(layer)


def loose_roles(layer: str, template: Mapping[str, Any]) -> list[str]:
    """Roles without the boundary or the path that the environment names."""
    values = {
        **known_values(ASKED, [SALES, STOCK]),
        "HasBoundary": "yes",
        "AWS::NoValue": "",
    }
    found = []
    for name, each in template["Resources"].items():
        if not isinstance(each, dict) or each["Type"] != "AWS::IAM::Role":
            continue
        properties = each["Properties"]
        bound = resolved(properties.get("PermissionsBoundary", ""), values)
        path = resolved(properties.get("Path", "/"), values)
        if (bound, path) != (BOUNDARY, PATH):
            found.append(f"{layer}: {name}")
    return found


def test_every_role_has_the_boundary_and_the_path():
    counted = [
        name
        for layer, template in templates()
        for name, each in template["Resources"].items()
        if isinstance(each, dict) and each["Type"] == "AWS::IAM::Role"
    ]
    assert len(counted) == 7
    assert [each for pair in templates() for each in loose_roles(*pair)] == []


@pytest.mark.parametrize("lost", ["PermissionsBoundary", "Path"])
def test_a_role_that_lacks_one_is_found(lost):
    """Planted in each template that has a role."""
    for layer, template in templates():
        for name, each in template["Resources"].items():
            if isinstance(each, dict) and each["Type"] == "AWS::IAM::Role":
                del each["Properties"][lost]
                assert f"{layer}: {name}" in loose_roles(layer, template)


def test_roles_are_passed_by_the_arn_that_they_have():
    """A PassRole without the path would name a role that is not there."""
    found = policies(ASKED, [SALES, STOCK])["roles"]["lake-test-airflow"]
    passed = [
        each["Resource"]
        for document in found
        for each in document["Statement"]
        if each["Action"] == "iam:PassRole"
    ]
    assert passed == [role("lake/emr"), role("lake/nodes")]
    deploy = json.dumps(load_template("deploy"))
    assert ":role${RolePath}lake-${Environment}-airflow" in deploy


def test_without_them_nothing_changes():
    template = domains_template(environment(), [STOCK])
    assert template["Resources"]["Rolesteps"]["Properties"]["Path"] == "/"
    assert "PermissionsBoundary" not in json.dumps(template)
    asked = parameters(load_template("emr"), environment(), [STOCK])
    assert (asked["RolePath"], asked["PermissionsBoundaryArn"]) == ("/", "")


@pytest.mark.parametrize("layer", ["emr", "mwaa", "deploy"])
def test_a_boundary_that_the_file_no_longer_names_is_taken_from_the_stack(layer):
    """A stack keeps what it was told before, unless it is told the empty text."""
    told = [
        parameters(load_template(layer), each, [SALES])["PermissionsBoundaryArn"]
        for each in (ASKED, environment())
    ]
    assert told == [BOUNDARY, ""]


def test_the_profile_of_the_nodes_has_the_path_of_its_role():
    profile = load_template("emr")["Resources"]["InstanceProfile"]["Properties"]
    assert profile["Path"] == {"Ref": "RolePath"}


def test_the_role_of_the_acceptance_run_is_below_the_path_too():
    ((_, arn),) = below_prefix(ASKED).runtime_roles
    assert arn == role("lake/lake-test-acceptance")


@pytest.mark.parametrize(
    "changes, reason",
    [
        (
            {"service_role": "emr"},
            "service_role: got 'emr', a name. With role_path EMR finds the role by its ARN "
            "alone: write arn:aws:iam::<account>:role/lake/emr.",
        ),
        (
            {"service_role": role("emr")},
            f"service_role: got '{role('emr')}'. It is created with the path /lake/: write "
            "its ARN with that path.",
        ),
        (
            {"runtime_role": role("steps")},
            f"runtime_roles: got '{role('steps')}', which is not below role_path /lake/. "
            f"Write {role('lake/steps')}.",
        ),
    ],
)
def test_names_that_do_not_have_the_path_are_refused(changes, reason):
    named = environment(**{**vars(ASKED), **changes})
    with pytest.raises(NotDeployable) as error:
        check_deployable(named, [SALES, STOCK])
    assert error.value.reasons == (reason,)
    check_deployable(ASKED, [SALES, STOCK])
