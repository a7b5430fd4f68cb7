"""Policies decide as IAM's evaluation logic does, or are refused by name."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from lake_emulator.policies.conditions import condition
from lake_emulator.policies.documents import Kind, PolicyError, statements
from lake_emulator.policies.evaluator import Asked, Policies

ACCOUNT = "123456789012"
KEY = f"arn:aws:kms:eu-central-1:{ACCOUNT}:key/k"
ROOT = f"arn:aws:iam::{ACCOUNT}:root"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/r"
GET = Asked.of("s3:GetObject", "arn:aws:s3:::b/k")


def allow(action="s3:GetObject", resource="arn:aws:s3:::b/*", **more):
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def deny(**more):
    return {**allow(**more), "Effect": "Deny"}


def policies(role=(), resources=None, endpoints=None):
    return Policies.of(
        {
            "account": ACCOUNT,
            "region": "eu-central-1",
            "airflow": "airflow",
            "roles": {"r": [{"Statement": list(role)}]},
            "resources": {a: {"Statement": s} for a, s in (resources or {}).items()},
            "endpoints": {
                name: {"id": "vpce-1", "policy": {"Statement": each}}
                for name, each in (endpoints or {}).items()
            },
            "encryption": {},
        }
    )


BUCKET = "arn:aws:s3:::b"
OF_BUCKET = {"Principal": "*"}
DECISIONS = [
    ("nothing", {}, "because no identity-based policy allows the s3:GetObject action"),
    ("role", {"role": [allow()]}, ""),
    (
        "role-denies",
        {"role": [allow(), deny()]},
        "with an explicit deny in an identity-based policy",
    ),
    ("bucket", {"resources": {BUCKET: [allow(**OF_BUCKET)]}}, ""),
    ("bucket-for-role", {"resources": {BUCKET: [allow(Principal={"AWS": ROLE})]}}, ""),
    (
        "bucket-for-other",
        {"resources": {BUCKET: [allow(Principal={"AWS": f"{ROLE}x"})]}},
        "because no identity-based policy allows the s3:GetObject action",
    ),
    (
        "bucket-for-account",
        {"resources": {BUCKET: [allow(Principal={"AWS": ROOT})]}},
        "because no identity-based policy allows the s3:GetObject action",
    ),
    (
        "bucket-denies",
        {"role": [allow()], "resources": {BUCKET: [deny(**OF_BUCKET)]}},
        "with an explicit deny in a resource-based policy",
    ),
    (
        "other-bucket-denies",
        {"role": [allow()], "resources": {"arn:aws:s3:::c": [deny(**OF_BUCKET)]}},
        "",
    ),
    (
        "no-way-by-endpoint",
        {"role": [allow()], "endpoints": {"s3": []}},
        "because no VPC endpoint policy allows the s3:GetObject action",
    ),
    (
        "endpoint-denies",
        {
            "role": [allow()],
            "endpoints": {"s3": [allow(**OF_BUCKET), deny(**OF_BUCKET)]},
        },
        "with an explicit deny in a VPC endpoint policy",
    ),
    (
        "endpoint",
        {"role": [allow()], "endpoints": {"s3": [allow(**OF_BUCKET)], "kms": []}},
        "",
    ),
    (
        "not-over-tls",
        {
            "role": [allow()],
            "resources": {
                BUCKET: [
                    deny(
                        Principal="*",
                        Condition={"Bool": {"aws:SecureTransport": "false"}},
                    )
                ]
            },
        },
        "",
    ),
    (
        "from-the-endpoint",
        {
            "role": [
                allow(Condition={"StringEquals": {"aws:SourceVpce": "vpce-1"}}),
            ],
            "endpoints": {"s3": [allow(**OF_BUCKET)]},
        },
        "",
    ),
    (
        "not-from-an-endpoint",
        {"role": [allow(Condition={"StringEquals": {"aws:SourceVpce": "vpce-1"}})]},
        "because no identity-based policy allows the s3:GetObject action",
    ),
]


@pytest.mark.parametrize(
    "given, why", [each[1:] for each in DECISIONS], ids=[each[0] for each in DECISIONS]
)
def test_a_read_of_an_object_is_decided_by_all_policies(given, why):
    decision = policies(**given).decide("r", GET)
    assert (decision.is_allowed, decision.why) == (not why, why)


VIA = {"kms:ViaService": "s3.eu-central-1.amazonaws.com"}
DECRYPT = Asked.of("kms:Decrypt", KEY, VIA)
BY_S3 = allow("kms:Decrypt", KEY, Condition={"StringEquals": VIA})
BY_SNS = allow(
    "kms:Decrypt",
    KEY,
    Condition={"StringEquals": {"kms:ViaService": "sns.eu-central-1.amazonaws.com"}},
)
TO_ACCOUNT = allow("kms:*", "*", Principal={"AWS": ROOT})
TO_ROLE = allow("kms:Decrypt", "*", Principal={"AWS": ROLE})
NO_ROLE = "because no identity-based policy allows the kms:Decrypt action"
NO_KEY = "because no resource-based policy allows the kms:Decrypt action"


@pytest.mark.parametrize(
    "role, key, why",
    [
        ([BY_S3], [TO_ACCOUNT], ""),
        ([], [TO_ACCOUNT], NO_ROLE),
        ([BY_SNS], [TO_ACCOUNT], NO_ROLE),
        ([BY_S3], [], NO_KEY),
        ([], [TO_ROLE], ""),
        ([BY_S3], [deny(action="kms:*", resource="*", Principal="*")], "deny"),
    ],
    ids=["both", "key-alone", "by-sns", "role-alone", "key-for-role", "key-denies"],
)
def test_a_key_is_used_by_its_policy_and_by_the_roles(role, key, why):
    decision = policies(role, {KEY: key}, {"kms": []}).decide("r", DECRYPT)
    assert decision.is_allowed == (not why)
    assert why in decision.why


@pytest.mark.parametrize(
    "action, resource, is_allowed",
    [
        ("S3:getobject", "arn:aws:s3:::b/*", True),
        ("s3:Get*", "arn:aws:s3:::b/?", True),
        ("s3:Get?bject", "arn:aws:s3:::*/k", True),
        ("*", "*", True),
        ("s3:GetObjec", "arn:aws:s3:::b/*", False),
        ("s3:GetObject", "arn:aws:s3:::B/*", False),
        ("s3:GetObject", "arn:aws:s3:::b", False),
        ("s3:GetObject", "arn:aws:s3*:::b/[k]", False),
        ("s3:GetObject", "arn:aws:s3::1:b/k", False),
        ("s3:GetObject", "arn:*:*:*:*:b/k", True),
        (["s3:PutObject", "s3:GetObject"], ["arn:aws:s3:::c", "arn:*:s3:::b/k"], True),
    ],
)
def test_actions_in_any_case_and_parts_of_arns_fit_patterns(
    action, resource, is_allowed
):
    decided = policies([allow(action, resource)]).decide("r", GET)
    assert decided.is_allowed == is_allowed


@pytest.mark.parametrize(
    "statement, is_allowed",
    [
        ({"NotAction": "s3:PutObject", "Resource": "*"}, True),
        ({"NotAction": "s3:*", "Resource": "*"}, False),
        ({"Action": "*", "NotResource": "arn:aws:s3:::b/x*"}, True),
        ({"Action": "*", "NotResource": "arn:aws:s3:::b/*"}, False),
    ],
)
def test_what_is_left_out_is_the_rest(statement, is_allowed):
    decided = policies([{"Effect": "Allow", **statement}]).decide("r", GET)
    assert decided.is_allowed == is_allowed


TABLE = [  # operator, values, value of the request, whether it holds
    ("StringEquals", ["a", "b"], "b", True),
    ("StringEquals", ["a"], "A", False),
    ("StringEquals", ["a"], None, False),
    ("StringEqualsIgnoreCase", ["a"], "A", True),
    ("StringNotEquals", ["a", "b"], "b", False),
    ("StringNotEquals", ["a", "b"], "c", True),
    ("StringNotEquals", ["a"], None, True),
    ("StringNotEqualsIgnoreCase", ["a"], "A", False),
    ("StringLike", ["a/*"], "a/b/c", True),
    ("StringLike", ["a/*"], "a", False),
    ("StringLike", ["a?"], "ab", True),
    ("StringLike", ["*"], None, False),
    ("StringNotLike", ["a/*"], "a/b", False),
    ("StringNotLike", ["a/*"], None, True),
    ("ArnLike", ["arn:aws:iam::*:role/r*"], "arn:aws:iam::1:role/r2", True),
    ("ArnEquals", ["arn:aws:iam::*:role/r"], "arn:aws:iam::1:role/r", True),
    ("ArnLike", ["arn:aws:iam:*"], "arn:aws:iam::1:role/r", False),
    ("ArnNotLike", ["arn:aws:iam::1:*"], "arn:aws:iam::1:role/r", False),
    ("ArnNotEquals", ["arn:aws:iam::2:*"], "arn:aws:iam::1:role/r", True),
    ("Bool", ["true"], "True", True),
    ("Bool", ["false"], "true", False),
    ("Bool", ["false"], None, False),
    ("Null", ["true"], None, True),
    ("Null", ["true"], "a", False),
    ("Null", ["false"], "a", True),
    ("Null", ["false"], None, False),
    ("StringEqualsIfExists", ["a"], None, True),
    ("StringEqualsIfExists", ["a"], "b", False),
    ("BoolIfExists", ["true"], None, True),
    ("ForAllValues:StringEquals", ["a", "b"], ("a", "b"), True),
    ("ForAllValues:StringEquals", ["a", "b"], ("a", "c"), False),
    ("ForAllValues:StringEquals", ["a"], None, True),
    ("ForAnyValue:StringEquals", ["a"], ("a", "c"), True),
    ("ForAnyValue:StringEquals", ["a"], ("c",), False),
    ("ForAnyValue:StringEquals", ["a"], None, False),
    ("ForAnyValue:StringLike", ["a*"], ("ab", "c"), True),
]


@pytest.mark.parametrize("operator, values, value, holds", TABLE)
def test_operators_are_those_of_iam(operator, values, value, holds):
    context = {} if value is None else {"k": value}
    assert condition(operator, "K", values).holds(context) == holds


@pytest.mark.parametrize(
    "change, named",
    [
        ({"Condition": {"NumericLessThan": {"s3:prefix": "1"}}}, "NumericLessThan"),
        ({"Condition": {"IpAddress": {"aws:SecureTransport": "1"}}}, "IpAddress"),
        ({"Condition": {"Null": {"s3:prefix": "yes"}}}, "Null"),
        ({"Condition": {"StringEquals": {"s3:max-keys": "1"}}}, "s3:max-keys"),
        ({"Condition": {"StringEquals": {"aws:SourceIp": "1"}}}, "aws:SourceIp"),
        (
            {"Condition": {"StringEquals": {"aws:ResourceTag/a": "b"}}},
            "aws:ResourceTag/a on actions of s3",
        ),
        (
            {"Condition": {"StringEquals": {"cloudwatch:namespace": "b"}}},
            "cloudwatch:namespace",
        ),
        ({"Condition": {"StringLike": {"s3:prefix": "${aws:username}"}}}, "${aws:user"),
        ({"Resource": "arn:aws:s3:::b/${aws:PrincipalTag/x}"}, "${aws:PrincipalTag/x}"),
        ({"Resource": "b/*"}, "resource 'b/*'"),
        ({"Action": "GetObject"}, "action 'GetObject'"),
        ({"Effect": "Perhaps"}, "effect 'Perhaps'"),
        ({"NotPrincipal": "*"}, "member NotPrincipal"),
        ({"NotAction": "*"}, "one of Action and NotAction"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_is_not_known_is_refused_by_its_name(change, named):
    with pytest.raises(PolicyError) as refused:
        statements({"Statement": [{**allow(), "Sid": "S", **change}]}, "role r")
    assert named in str(refused.value)
    assert str(refused.value).startswith("role r, statement S: ")


@pytest.mark.parametrize(
    "statement",
    [
        allow("logs:PutLogEvents", "*", Condition={"Odd": {"logs:x": "y"}}),
        allow(
            "kms:*",
            "*",
            Principal={"Service": "logs.amazonaws.com"},
            Condition={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": "y"}},
        ),
    ],
    ids=["service-that-is-not-judged", "principal-that-calls-nothing"],
)
def test_statements_that_no_judged_call_meets_are_not_read(statement):
    kind = Kind.RESOURCE if "Principal" in statement else Kind.ROLE
    assert statements({"Statement": statement}, "r", kind) == ()


@pytest.mark.parametrize(
    "kind, principal, named",
    [
        (Kind.ROLE, "*", "no Principal: it speaks to its role"),
        (Kind.RESOURCE, None, "principal None where it has a Principal"),
        (Kind.RESOURCE, {}, "principal {}"),
        (Kind.RESOURCE, ROLE, f"principal '{ROLE}'"),
        (Kind.RESOURCE, {"AWS": f"{ROLE}*"}, f"principal '{ROLE}*'"),
        (Kind.RESOURCE, {"AWS": "AROAEXAMPLE"}, "principal 'AROAEXAMPLE'"),
        (Kind.RESOURCE, {"Federated": "x"}, "principal Federated"),
        (Kind.GATEWAY, {"AWS": ROLE}, 'has the Principal "*", and names others by a'),
        (Kind.GATEWAY, {"AWS": ROOT}, "condition on aws:PrincipalArn"),
    ],
)
def test_principals_that_aws_would_not_take_are_refused(kind, principal, named):
    raw = {} if principal is None else {"Principal": principal}
    with pytest.raises(PolicyError) as refused:
        statements({"Statement": [{**deny(), **raw}]}, "it", kind)
    assert named in str(refused.value)


OTHERS_MAY_READ = {
    "Effect": "Deny",
    "Principal": "*",
    "Action": ["s3:PutObject", "s3:DeleteObject*"],
    "Resource": "arn:aws:s3:::b/tables/*",
    "Condition": {
        "ArnNotLike": {
            "aws:PrincipalArn": [
                f"arn:aws:iam::{ACCOUNT}:role/lake-*-steps",
                f"arn:aws:iam::{ACCOUNT}:role/break-glass",
            ]
        }
    },
}
"""What protects tables from whoever may do all."""


@pytest.mark.parametrize(
    "role, action, key, is_allowed",
    [
        ("admin", "s3:PutObject", "tables/t", False),
        ("admin", "s3:DeleteObject", "tables/t", False),
        ("admin", "s3:DeleteObjectVersion", "tables/t", False),
        ("admin", "s3:GetObject", "tables/t", True),
        ("admin", "s3:PutObject", "other/t", True),
        ("lake-prod-steps", "s3:DeleteObject", "tables/t", True),
        ("break-glass", "s3:DeleteObject", "tables/t", True),
        ("break-glass-too", "s3:DeleteObject", "tables/t", False),
        ("x-lake-prod-steps", "s3:DeleteObject", "tables/t", False),
    ],
)
def test_a_bucket_denies_writes_to_all_but_named_roles(role, action, key, is_allowed):
    known = policies([allow("*", "*")], {BUCKET: [OTHERS_MAY_READ]})
    known = replace(known, roles={role: known.roles["r"]})
    decision = known.decide(role, Asked.of(action, f"{BUCKET}/{key}"))
    assert decision.is_allowed == is_allowed
    if not is_allowed:
        assert decision.why == "with an explicit deny in a resource-based policy"


SESSION = f"arn:aws:sts::{ACCOUNT}:assumed-role/r/s-1"


@pytest.mark.parametrize(
    "principal, session, is_denied",
    [
        (ROLE, "s-1", True),
        (f"{ROLE}x", "s-1", False),
        (SESSION, "s-1", True),
        (SESSION, "s-2", False),
        (ROOT, "s-1", True),
        (ACCOUNT, "s-1", True),
        ("210987654321", "s-1", False),
    ],
)
@pytest.mark.parametrize("of_endpoint", [True, False])
def test_principals_are_roles_and_their_sessions(
    principal, session, is_denied, of_endpoint
):
    """By the policy of an endpoint as by that of a key."""
    no = deny(action="kms:Decrypt", resource="*", Principal={"AWS": principal})
    yes = allow("kms:*", "*", Principal="*")
    known = policies(
        resources={KEY: [yes] if of_endpoint else [yes, no]},
        endpoints={"kms": [yes, no] if of_endpoint else [yes]},
    )
    asked = Asked.of("kms:Decrypt", KEY)
    named = known.session_of("r", session)
    assert named == ("s-1" if (principal, session) == (SESSION, "s-1") else "")
    decision = known.decide("r", asked, session=named)
    assert decision.is_allowed != is_denied


def test_an_endpoint_lets_through_whom_it_names():
    yes = allow("kms:*", "*", Principal="*")
    of_role = allow("kms:*", "*", Principal={"AWS": ROLE})
    known = policies(resources={KEY: [yes]}, endpoints={"kms": [of_role]})
    asked = Asked.of("kms:Decrypt", KEY)
    assert known.decide("r", asked).is_allowed
    assert "VPC endpoint" in known.decide("other", asked).why


@pytest.mark.parametrize(
    "operator, key, value, is_denied",
    [
        ("StringNotEquals", "aws:PrincipalAccount", ACCOUNT, False),
        ("StringNotEquals", "aws:PrincipalAccount", "210987654321", True),
        ("StringNotEquals", "aws:SourceVpce", "vpce-1", False),
        ("StringNotEqualsIfExists", "aws:SourceVpce", "vpce-2", True),
        ("Null", "aws:SourceVpce", "true", False),
        ("Bool", "aws:PrincipalIsAWSService", "false", True),
        ("Bool", "aws:PrincipalIsAWSService", "true", False),
        ("BoolIfExists", "aws:ViaAWSService", "false", True),
        ("Bool", "aws:ViaAWSService", "true", False),
        ("ForAnyValue:ArnLike", "aws:PrincipalArn", f"{ROLE}*", True),
        ("ForAllValues:ArnNotLike", "aws:PrincipalArn", ROLE, False),
    ],
)
def test_a_deny_by_where_a_call_comes_from(operator, key, value, is_denied):
    no = deny(Principal="*", Condition={operator: {key: value}})
    known = policies([allow()], {BUCKET: [no]}, {"s3": [allow(Principal="*")]})
    assert known.decide("r", GET).is_allowed != is_denied


def test_who_calls_from_outside_of_the_network_has_no_endpoint():
    no = deny(
        Principal="*", Condition={"StringNotEquals": {"aws:SourceVpce": "vpce-1"}}
    )
    known = policies([allow()], {BUCKET: [no]}, {"s3": [allow(Principal="*")]})
    assert known.decide("r", GET).is_allowed
    assert not known.decide("r", GET, is_inside=False).is_allowed
    known = policies([allow()], endpoints={"s3": []})
    assert known.decide("r", GET, is_inside=False).is_allowed


def test_a_service_that_uses_a_key_for_a_caller_says_so():
    via = {"Bool": {"aws:ViaAWSService": "true"}}
    key = [allow("kms:Decrypt", KEY, Principal={"AWS": ROLE}, Condition=via)]
    assert policies(resources={KEY: key}).decide("r", DECRYPT).is_allowed
    asked = Asked.of("kms:Decrypt", KEY)
    assert not policies(resources={KEY: key}).decide("r", asked).is_allowed


@pytest.mark.parametrize("missing", ["account", "roles", "endpoints"])
def test_a_file_of_another_form_is_refused(missing):
    raw = {
        **{"account": ACCOUNT, "region": "r", "airflow": "a", "roles": {}},
        **{"resources": {}, "endpoints": {}, "encryption": {}},
    }
    Policies.of(copy.deepcopy(raw))
    del raw[missing]
    with pytest.raises(PolicyError, match=missing):
        Policies.of(raw)
