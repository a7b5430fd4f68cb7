"""Random policies and requests are decided as a second evaluator decides them.

It shares no code with the first: it matches texts letter by letter, asks what a policy
lets through and what it stops, and puts both together at the end.
"""

from __future__ import annotations

import random
from functools import lru_cache

import pytest

from lake_emulator.policies.evaluator import Asked, Policies

ACCOUNT = "123456789012"
ACTIONS = ("s3:GetObject", "s3:PutObject", "s3:ListBucket", "s3:DeleteObject")
ARNS = tuple(f"arn:aws:s3:::{b}{k}" for b in ("a", "ab") for k in ("", "/x", "/x/y"))
PREFIXES = ("", "x", "x/", "x/y", "X/")
OPERATORS = (
    *("StringEquals", "StringNotEquals", "StringLike", "StringNotLike"),
    *("StringEqualsIgnoreCase", "StringEqualsIfExists", "StringNotLikeIfExists"),
    "Null",
)
ROLE = f"arn:aws:iam::{ACCOUNT}:role/r"
SESSION = f"arn:aws:sts::{ACCOUNT}:assumed-role/r/s"
MEANT = ("*", ACCOUNT, f"arn:aws:iam::{ACCOUNT}:root", ROLE, SESSION)
PRINCIPALS = (
    *("*", {"AWS": "*"}, {"AWS": ACCOUNT}, {"AWS": ROLE}, {"AWS": SESSION}),
    *({"AWS": f"{ROLE}x"}, {"AWS": [f"{SESSION}x", MEANT[2]]}),
)
NOT_LIKE = {"ArnNotLike": {"aws:PrincipalArn": [f"{ROLE}x", "arn:aws:iam::*:role/?"]}}
OTHERS = {"ArnNotLike": {"aws:PrincipalArn": f"{ROLE}x"}}
"""Conditions of a Deny for all but some roles: the first spares the caller."""
SHARE_ALLOWED = (0.1, 0.9)


@lru_cache(maxsize=None)  # a few patterns and texts, again and again
def fits(pattern: str, text: str) -> bool:
    """Wildcards by trying every way."""
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(fits(pattern[1:], text[n:]) for n in range(len(text) + 1))
    if not text or pattern[0] not in ("?", text[0]):
        return False
    return fits(pattern[1:], text[1:])


def holds(operator: str, wanted: list, value: str | None) -> bool:
    if operator == "Null":
        return (value is None) in [each == "true" for each in wanted]
    optional = operator.endswith("IfExists")
    name = operator.removesuffix("IfExists")
    if value is None:
        return optional or "Not" in name
    one = {
        "Equals": lambda w: w == value,
        "Like": lambda w: fits(w, value),
        "EqualsIgnoreCase": lambda w: w.lower() == value.lower(),
    }[name.removeprefix("String").removeprefix("Not")]
    hits = [w for w in wanted if one(w)]
    return not hits if "Not" in name else bool(hits)


def speaks(statement: dict, action: str, arn: str, prefix: str | None) -> bool:
    principal = statement.get("Principal", "*")
    named = principal["AWS"] if isinstance(principal, dict) else principal
    if not set(MEANT) & set([named] if isinstance(named, str) else named):
        return False
    if statement.get("Condition") in (NOT_LIKE, OTHERS):
        return statement["Condition"] == OTHERS and lies(statement, action, arn)
    if not lies(statement, action, arn):
        return False
    return all(
        holds(operator, tests["s3:prefix"], prefix)
        for operator, tests in statement.get("Condition", {}).items()
    )


def lies(statement: dict, action: str, arn: str) -> bool:
    """By what a statement names, or by all but that."""
    of_actions = statement.get("Action", statement.get("NotAction"))
    acts = any(fits(a.lower(), action.lower()) for a in of_actions)
    of_arns = statement.get("Resource", statement.get("NotResource"))
    is_there = any(fits(r, arn) for r in of_arns)
    return acts == ("Action" in statement) and is_there == ("Resource" in statement)


def is_allowed(raw: dict, action: str, arn: str, prefix: str | None) -> bool:
    """Nothing denies, the endpoint allows, and the role or the bucket allows."""
    bucket = "arn:aws:s3:::" + arn.split(":::")[1].split("/")[0]
    (of_role,) = raw["roles"]["r"]
    groups = {
        "role": of_role["Statement"],
        "bucket": raw["resources"].get(bucket, {"Statement": []})["Statement"],
        "endpoint": raw["endpoints"]["s3"]["policy"]["Statement"],
    }
    said = [
        (group, each)
        for group, of_group in groups.items()
        for each in of_group
        if speaks(each, action, arn, prefix)
    ]
    denied = {group for group, each in said if each["Effect"] == "Deny"}
    allowed = {
        group
        for group, each in said
        if each["Effect"] == "Allow"
        and not (group == "bucket" and is_of_the_account(each["Principal"]))
    }
    return not denied and "endpoint" in allowed and bool(allowed - {"endpoint"})


def is_of_the_account(principal: str | dict) -> bool:
    named = principal["AWS"] if isinstance(principal, dict) else principal
    mine = set(MEANT) & set([named] if isinstance(named, str) else named)
    return mine <= {ACCOUNT, MEANT[2]}


def random_statement(dice: random.Random, **more) -> dict:
    resources = [*ARNS, "*", "arn:aws:s3:::a*", "arn:aws:s3:::?/*", "arn:aws:s3:::a/?"]
    made = {
        "Effect": dice.choice(["Allow"] * 5 + ["Deny"]),
        "Action": dice.sample([*ACTIONS, "s3:*", "s3:Get*", "S3:?utObject"], 2),
        "Resource": dice.sample(resources, 3),
        **more,
    }
    if dice.random() < 0.5:
        operator = dice.choice(OPERATORS)
        values = [*PREFIXES, "x*", "?", "*/y"]
        wanted = [dice.choice(["true", "false"])]
        wanted = wanted if operator == "Null" else dice.sample(values, 2)
        made["Condition"] = {operator: {"s3:prefix": wanted}}
    for name in ("Action", "Resource"):
        if dice.random() < 0.1:
            made[f"Not{name}"] = made.pop(name)
    if made["Effect"] == "Deny" and dice.random() < 0.5:
        made["Condition"] = dice.choice([NOT_LIKE, OTHERS])
    return made


def allow_all() -> dict:
    return {"Effect": "Allow", "Principal": "*", "Action": ["*"], "Resource": ["*"]}


def random_policies(dice: random.Random) -> dict:
    of_buckets = {
        f"arn:aws:s3:::{bucket}": {
            "Statement": [
                random_statement(dice, Principal=dice.choice(PRINCIPALS))
                for _ in range(dice.randint(0, 2))
            ]
        }
        for bucket in ("a", "ab")
    }
    endpoint = [random_statement(dice, Principal="*", Effect="Allow")]
    everything = allow_all()
    endpoint += [everything] if dice.random() < 0.7 else []
    role = [random_statement(dice) for _ in range(dice.randint(0, 4))]
    return {
        "account": ACCOUNT,
        "region": "eu-central-1",
        "airflow": "airflow",
        "roles": {"r": [{"Statement": role}]},
        "resources": of_buckets,
        "endpoints": {"s3": {"id": "vpce-1", "policy": {"Statement": endpoint}}},
        "encryption": {},
    }


@pytest.mark.parametrize(
    "seed",
    [0, *(pytest.param(each, marks=pytest.mark.nightly) for each in range(1, 10))],
)
def test_two_evaluators_decide_alike(seed):
    dice, decided = random.Random(seed), []
    for _ in range(100):
        raw = random_policies(dice)
        policies = Policies.of(raw)
        for action in ACTIONS:
            for arn in ARNS:
                prefix = dice.choice([None, *PREFIXES])
                context = {} if prefix is None else {"s3:prefix": prefix}
                asked = Asked.of(action, arn, context)
                found = policies.decide("r", asked, session="s")
                expected = is_allowed(raw, action, arn, prefix)
                assert found.is_allowed == expected, (raw, action, arn, prefix)
                decided.append(expected)
    low, high = SHARE_ALLOWED
    assert low < sum(decided) / len(decided) < high
