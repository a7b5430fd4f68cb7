"""The policies of a deployment, as the emulator judges by them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lake_emulator.policies.evaluator import Asked, Policies
from lake_infra.__main__ import main
from lake_infra.aws_limits import VALUE_CHARACTERS
from lake_infra.policies import policies
from lake_infra.resource_names import NotDeployable
from tests.unit.lake_infra.lakes import ACCOUNT, domain, environment, topic

SALES = domain("sales", "sales/orders", told="people")
STOCK = domain("stock", "wms")
KEY = f"arn:aws:kms:eu-central-1:{ACCOUNT}:key/lake-test"


@pytest.fixture(scope="module")
def made():
    return policies(environment(), [SALES, STOCK])


def test_every_role_that_calls_has_its_policies(made):
    roles = {"lake-test-airflow", "nodes", "steps", "steps-sales"}
    assert set(made["roles"]) == roles
    assert made["airflow"] == "lake-test-airflow"
    assert made["account"] == ACCOUNT
    assert "${" not in json.dumps(made) and "Fn::" not in json.dumps(made)


def test_buckets_and_topics_are_under_the_key_of_the_environment(made):
    buckets = ("land", "house", "work", f"lake-test-airflow-{ACCOUNT}")
    arns = {f"arn:aws:s3:::{each}" for each in buckets}
    encrypted = {**dict.fromkeys(arns, KEY), topic("people"): KEY}
    assert encrypted.items() <= made["encryption"].items()
    assert set(made["resources"]) == {*arns, KEY}


def test_a_key_that_the_environment_names_is_the_one():
    named = environment(s3_encryption_kms_key_id=f"{KEY}-2")
    assert set(policies(named, [SALES])["encryption"].values()) == {f"{KEY}-2"}


def test_a_bucket_for_several_things_has_the_policies_of_all():
    one = environment(landing="s3://work/files", warehouse="s3://work/tables")
    found = policies(one, [SALES])["resources"]["arn:aws:s3:::work"]["Statement"]
    assert [each["Sid"] for each in found] == [
        *("OverTlsOnly", "OverTlsOnly"),
        *("TablesByTheirStepsAlone", "SettingsByStacksAlone", "OverTlsOnly"),
    ]


ADMIN = "admin"
"""A role of the account that may do everything, as a person or another engine has it."""

CHANGES = [
    f"s3:{action}"
    for action in (
        *("AbortMultipartUpload", "BypassGovernanceRetention", "DeleteObject"),
        *("DeleteObjectTagging", "DeleteObjectVersion", "DeleteObjectVersionTagging"),
        *("PutObject", "PutObjectAcl", "PutObjectLegalHold", "PutObjectRetention"),
        *("PutObjectTagging", "PutObjectVersionAcl", "PutObjectVersionTagging"),
        *("ReplicateDelete", "ReplicateObject", "ReplicateTags"),
    )
]
"""Every action on objects by which S3 lets a caller change or remove one."""

SETTINGS = [
    f"s3:{action}"
    for action in (
        *("DeleteBucket", "DeleteBucketPolicy", "PutBucketPolicy"),
        *("PutBucketVersioning", "PutLifecycleConfiguration"),
    )
]


@pytest.fixture(scope="module")
def account(made):
    """The policies, with a role for administrators and one that was made in need."""
    everything = [
        {
            "Statement": [
                {"Sid": "All", "Effect": "Allow", "Action": "*", "Resource": "*"}
            ]
        }
    ]
    roles = {ADMIN: everything, "lake-test-break-glass": everything}
    return Policies.of({**made, "roles": {**made["roles"], **roles}})


def is_denied(account, role, action, thing, **context):
    asked = Asked.of(action, f"arn:aws:s3:::{thing}", context)
    why = account.decide(role, asked).why
    return why == "with an explicit deny in a resource-based policy"


@pytest.mark.parametrize("action", CHANGES)
def test_nobody_but_steps_and_who_broke_the_glass_changes_files_of_tables(
    account, action
):
    file = "house/tables/sales/t0/changes/f.parquet"
    for role in (ADMIN, "nodes", "lake-test-airflow"):
        assert is_denied(account, role, action, file)
    for role in ("steps-sales", "steps", "lake-test-break-glass"):
        assert not is_denied(account, role, action, file)
    for thing in ("house/tables/", "house/lake-acceptance/sales/f", "land/files/a.csv"):
        assert not is_denied(account, ADMIN, action, thing)


def test_whoever_may_read_tables_reads_them_still(account):
    for action in ("s3:GetObject", "s3:GetObjectVersion"):
        asked = Asked.of(action, "arn:aws:s3:::house/tables/sales/t0/changes/f")
        assert account.decide(ADMIN, asked).is_allowed


@pytest.mark.parametrize("action", SETTINGS)
def test_settings_of_the_bucket_are_those_of_its_stack(account, action):
    assert is_denied(account, ADMIN, action, "house")
    assert is_denied(account, "steps", action, "house")
    other = {"aws:CalledVia": ("athena.amazonaws.com",)}
    assert is_denied(account, ADMIN, action, "house", **other)
    stack = {"aws:CalledVia": ("cloudformation.amazonaws.com",)}
    assert not is_denied(account, ADMIN, action, "house", **stack)
    assert not is_denied(account, "lake-test-break-glass", action, "house")


def test_a_role_of_a_name_like_that_of_steps_is_not_theirs(made):
    everything = {"Sid": "All", "Effect": "Allow", "Action": "*", "Resource": "*"}
    for name in ("steps-2", "my-steps", "lake-test-steps", "lake-test-break-glass-2"):
        roles = {**made["roles"], name: [{"Statement": [everything]}]}
        account = Policies.of({**made, "roles": roles})
        assert is_denied(account, name, "s3:PutObject", "house/tables/sales/f")


def test_the_role_for_emergencies_may_have_another_name():
    own = f"arn:aws:iam::{ACCOUNT}:role/aws-reserved/AWSReservedSSO_Emergency_1"
    named = policies(environment(break_glass_role=own), [SALES, STOCK])
    (guard,) = (
        each
        for each in named["resources"]["arn:aws:s3:::house"]["Statement"]
        if each["Sid"] == "TablesByTheirStepsAlone"
    )
    assert own in guard["Condition"]["ArnNotEquals"]["aws:PrincipalArn"]


def test_the_policy_of_the_bucket_is_within_the_limit_of_s3(made):
    statements = made["resources"]["arn:aws:s3:::house"]["Statement"]
    (guard,) = (e for e in statements if e["Sid"] == "TablesByTheirStepsAlone")
    listed = guard["Condition"]["ArnNotEquals"]["aws:PrincipalArn"]
    # With as many roles as a parameter takes, and a comma and two quotes for each.
    rest = len(json.dumps(statements)) - len(json.dumps(listed))
    assert rest + 2 * VALUE_CHARACTERS < 20_000


@pytest.mark.parametrize(
    "role, arn, is_allowed",
    [
        ("steps-sales", "arn:aws:s3:::house/tables/sales/f", True),
        ("steps-sales", "arn:aws:s3:::house/tables/stock/f", False),
        ("steps", "arn:aws:s3:::house/tables/stock/f", True),
        ("lake-test-airflow", "arn:aws:s3:::house/tables/stock/f", False),
        ("lake-test-airflow", "arn:aws:s3:::work/runs/leases/stock.json", True),
        ("nodes", "arn:aws:s3:::house/tables/stock/f", False),
        ("nobody", "arn:aws:s3:::house/tables/stock/f", False),
    ],
)
def test_roles_read_what_is_theirs(made, role, arn, is_allowed):
    asked = Asked.of("s3:GetObject", arn)
    assert Policies.of(made).decide(role, asked).is_allowed == is_allowed


def test_the_buckets_refuse_what_does_not_come_over_tls(made):
    plain = {"aws:SecureTransport": "false"}
    asked = Asked.of("s3:GetObject", "arn:aws:s3:::house/tables/stock/f", plain)
    decision = Policies.of(made).decide("steps", asked)
    assert decision.why == "with an explicit deny in a resource-based policy"


def test_the_endpoint_lets_no_bucket_of_another_account_pass(made):
    other = {"aws:ResourceAccount": "999999999999"}
    asked = Asked.of("s3:GetObject", "arn:aws:s3:::house/tables/stock/f", other)
    assert "VPC endpoint policy" in Policies.of(made).decide("steps", asked).why


@pytest.mark.parametrize(
    "context, is_allowed",
    [
        ({}, True),
        ({"aws:PrincipalAccount": "999999999999"}, False),
        ({"aws:ResourceAccount": "999999999999"}, False),
    ],
)
def test_endpoints_of_services_are_for_this_account(made, context, is_allowed):
    asked = Asked.of("sns:Publish", topic("people"), context)
    decision = Policies.of(made).decide("lake-test-airflow", asked)
    assert decision.is_allowed == is_allowed
    assert is_allowed or "VPC endpoint policy" in decision.why


def test_a_domain_without_a_role_has_no_deployment():
    alone = replace(environment(), runtime_role=None)
    with pytest.raises(NotDeployable, match="does not name stock"):
        policies(alone, [SALES, STOCK])


@pytest.mark.parametrize("name", ["local", "dev", "prod"])
def test_those_of_our_environments_are_printed_and_understood(capsys, name):
    assert main(["policies", name]) == 0
    found = Policies.of(json.loads(capsys.readouterr().out))
    assert {"s3", "glue", "sns"} <= set(found.endpoints)
