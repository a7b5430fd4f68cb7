"""The CloudFormation templates: least privilege, nothing public, nothing lost.

Each rule is also run on a template that breaks it, so that none can fall asleep.
"""

from __future__ import annotations

import json

import pytest
from lake_infra.template import GENERATED, LAYERS

from tests.deploy import groups, shape, statements
from tests.deploy.checks import Check, import_faults, rule_checks, written

CHECKS = list(rule_checks())


@pytest.mark.parametrize(
    "check", CHECKS, ids=lambda each: f"{each.template} {each.rule}"
)
def test_a_template_keeps_the_rule(check: Check):
    assert check.find() == []


def test_layers_hand_on_what_the_next_ones_take():
    assert import_faults() == []


def test_an_import_of_what_is_not_there_is_found_and_so_is_an_idle_export():
    templates = {
        "a": "Outputs: {X: {Value: 1, Export: {Name: !Sub 'x-${E}'}}}",
        "b": "Resources: {R: {P: !ImportValue y}}",
    }
    assert shape.loose_imports(templates, ["a", "b"]) == [
        "b: imports y, which none before it exports",
        "a: exports x-${E}, which none imports",
    ]


def test_every_layer_but_the_generated_ones_has_a_file():
    assert {f"{layer}.yml" for layer in set(LAYERS) - set(GENERATED)} == set(written())


def policy(statement: str) -> str:
    return f"Resources: {{A: {{Properties: {{Statement: [{statement}]}}}}}}\n"


def allow(action: str, resource: str, rest: str = "") -> str:
    return policy(f"{{Effect: Allow, Action: {action}, Resource: {resource}{rest}}}")


@pytest.mark.parametrize(
    "text",
    [
        allow("a:B", '"*"'),
        allow("a:B", '["arn:aws:s3:::x/y", "*"]'),
        allow("a:B", '!Sub "arn:${AWS::Partition}:s3:::${Bucket}/*"'),
        allow("a:B", '"arn:aws:elasticmapreduce:eu-central-1:1:cluster/*"'),
        allow("a:B", '{"Fn::Sub": "arn:aws:sns:r:1:*"}'),
        allow('"a:*"', '"arn:aws:s3:::x/y"'),
        allow('["a:B", "a:Get*"]', '"arn:aws:s3:::x/y"'),
        policy(
            '{Effect: Allow, Principal: "*", Action: a, Resource: "arn:aws:s3:::x/y"}'
        ),
        policy('{Effect: Allow, Principal: {AWS: "*"}, Action: a}'),
    ],
    ids=[
        "all",
        "one-of-two",
        "bucket",
        "kind",
        "topics",
        "service",
        "action",
        "principal",
        "principal-by-kind",
    ],
)
def test_a_wildcard_without_its_reason_is_found(text):
    (found,) = statements.unexplained(text)
    assert found.startswith("line 1: ")
    assert statements.unexplained(text.rstrip("\n") + " # because\n") == []


@pytest.mark.parametrize(
    "resource",
    ['"arn:aws:s3:::x/y/*"', '"arn:aws:glue:r:1:table/moma/*"', "!Ref Roles"],
)
def test_a_named_resource_needs_no_reason(resource):
    assert statements.unexplained(allow("a:B", resource)) == []


def test_a_statement_by_what_it_leaves_out_is_found():
    text = policy('{Effect: Allow, NotAction: "iam:*", Resource: "*"}')
    assert statements.nameless(text) == [
        "line 1: write Action and Resource, not their opposites"
    ]


CONDITION = ', Condition: {StringEquals: {"iam:PassedToService": x.amazonaws.com}}'


@pytest.mark.parametrize(
    "text",
    [
        allow("iam:PassRole", '"arn:aws:iam::1:role/a"'),
        allow("iam:PassRole", '"arn:aws:iam::1:role/*"', CONDITION),
        allow('["iam:PassRole", "a:B"]', '"arn:aws:iam::1:role/a"', CONDITION),
    ],
    ids=["to-anybody", "any-role", "with-others"],
)
def test_a_role_that_is_passed_loosely_is_found(text):
    assert len(statements.loose_roles(text)) == 1


def test_a_named_role_for_a_named_service_is_no_fault():
    text = allow("iam:PassRole", '"arn:aws:iam::1:role/a"', CONDITION)
    assert statements.loose_roles(text) == []


@pytest.mark.parametrize(
    "action, kinds",
    [
        ("TerminateJobFlows", ["Resource"]),
        ("AddJobFlowSteps", ["Resource"]),
        ("RunJobFlow", ["Request"]),
        ("AddTags", ["Request", "Resource"]),
    ],
)
def test_a_call_about_any_cluster_is_found(action, kinds):
    tags = [
        f"elasticmapreduce:{kind}Tag/lake:{of}"
        for kind in kinds
        for of in ("environment", "deployment")
    ]

    def loose(*tags):
        asked = ", ".join(f'"{each}": prod' for each in tags)
        condition = f", Condition: {{StringEquals: {{{asked}}}}}"
        found = allow(f"elasticmapreduce:{action}", '"arn:x"', condition)
        return statements.loose_clusters(found)

    assert loose(*tags) == []
    for tag in tags:
        others = [each for each in tags if each != tag]
        assert loose(*others) == [f"line 1: {action} takes the condition {tag}"]


def test_a_look_for_clusters_goes_by_no_tag():
    for action in ("ListClusters", "DescribeCluster"):
        found = allow(f"elasticmapreduce:{action}", '"*"')
        assert statements.loose_clusters(found) == []


def resource(kind: str, **rest: object) -> str:
    return json.dumps({"Resources": {"A": {"Type": kind, **rest}}})


@pytest.mark.parametrize(
    "rule, text",
    [
        (shape.aliases, "Resources: {A: &a {Type: x}, B: *a}"),
        (shape.too_long, "a\n" * 301),
        (
            shape.lost_with_the_stack,
            resource("AWS::S3::Bucket", DeletionPolicy="Retain"),
        ),
        (
            shape.lost_with_the_stack,
            resource("AWS::S3::Bucket", DeletionPolicy="RetainExceptOnCreate"),
        ),
        (shape.open_to_the_internet, resource("AWS::EC2::NatGateway")),
        (
            shape.open_to_the_internet,
            resource("AWS::EC2::Subnet", Properties={"MapPublicIpOnLaunch": True}),
        ),
        (
            shape.open_to_the_internet,
            resource(
                "AWS::EC2::SecurityGroupIngress", Properties={"CidrIp": "0.0.0.0/0"}
            ),
        ),
        (
            shape.open_to_the_internet,
            resource(
                "AWS::EC2::SecurityGroup",
                Properties={"SecurityGroupIngress": [{"CidrIpv6": "::/0"}]},
            ),
        ),
        (shape.open_buckets, resource("AWS::S3::Bucket", Properties={})),
    ],
    ids=[
        "alias",
        "long",
        "lost",
        "in the way",
        "gateway",
        "address",
        "rule",
        "rule-of-group",
        "bucket",
    ],
)
def test_a_template_that_breaks_the_rule_is_found(rule, text):
    assert rule(text)


@pytest.mark.parametrize(
    "lost, faults",
    [
        (
            "PrimaryToService",
            "ServiceAccessGroup: lets PrimaryGroup in on 9443, which ",
        ),
        ("CoreAndTaskToPrimary", "CoreAndTaskGroup: let out all to PrimaryGroup"),
        ("PrimaryToItself", "PrimaryGroup: let out all to PrimaryGroup"),
    ],
)
def test_nodes_that_cannot_call_what_they_must_are_found(lost, faults):
    lines = written()["network.yml"].split("\n\n")
    text = "\n\n".join(each for each in lines if not each.startswith(f"  {lost}:"))
    (found,) = [*groups.half_open(text), *groups.cut_off_nodes(text)]
    assert found.startswith(faults)
