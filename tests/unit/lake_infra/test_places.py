"""Environments that the templates can make, and those that they cannot."""

from __future__ import annotations

import pytest
from lake_infra.resource_names import (
    NotDeployable,
    Root,
    check_catalogue,
    check_deployable,
    runtime_roles,
)

from tests.unit.lake_infra.lakes import domain, environment, role

SALES, STOCK, MOMA = domain("sales"), domain("stock"), domain("moma")


@pytest.mark.parametrize(
    "uri, bucket, prefix",
    [("s3://a/b/c", "a", "b/c/"), ("s3://a/b", "a", "b/"), ("s3://a", "a", "")],
)
def test_a_root_is_a_bucket_and_a_prefix(uri, bucket, prefix):
    assert Root.of(uri) == Root(bucket, prefix)


def test_domains_without_a_role_of_their_own_share_one():
    assert runtime_roles(environment(), [STOCK, SALES, MOMA]) == {
        role("lake/steps-sales"): [SALES],
        role("steps"): [MOMA, STOCK],
    }


def test_a_role_that_no_domain_has_is_not_made():
    assert runtime_roles(environment(), [SALES]) == {role("lake/steps-sales"): [SALES]}


def test_an_environment_that_fits_is_no_fault():
    check_deployable(environment(), [SALES, STOCK])


@pytest.mark.parametrize(
    "changes",
    [
        {"region": "eu-west-1"},
        {"runtime_role": role("steps").replace("111122223333", "444455556666")},
        {"runtime_role": None, "runtime_roles": ()},
    ],
)
def test_environments_of_other_places_have_other_databases(changes):
    other = environment(name="other", **changes)
    check_catalogue(environment(), [environment(), other])


@pytest.mark.parametrize(
    "changes", [{}, {"runtime_role": None}], ids=["shared role", "roles of domains"]
)
def test_a_second_environment_of_one_place_is_refused(changes):
    other = environment(name="other", **changes)
    told = "got 'eu-central-1'. In that region of the account 111122223333 is other too"
    with pytest.raises(NotDeployable, match=told):
        check_catalogue(environment(), [environment(), other])


@pytest.mark.parametrize(
    "changes, told",
    [
        ({"name": "a_b"}, "name: got 'a_b'. Stacks and buckets are named after it"),
        ({"security_configuration": None}, "security_configuration: missing."),
        (
            {"logs": "s3://other/logs"},
            "logs: got 's3://other/logs'. Artifacts, runs and logs share a bucket",
        ),
        (
            {"landing": "s3://work/files"},
            "landing: got 's3://work/files', in the bucket of artifacts.",
        ),
        (
            {"warehouse": "s3://land/tables"},
            "warehouse: got 's3://land/tables', in the bucket of landing.",
        ),
        (
            {"warehouse": "s3://house"},
            "warehouse: got 's3://house', a whole bucket. What its policy guards is a "
            "folder: write one, as in s3://house/tables.",
        ),
        (
            {"break_glass_role": "arn:aws:iam::444455556666:role/emergency"},
            "got the accounts 111122223333, 444455556666.",
        ),
        ({"runtime_role": None}, "runtime_roles does not name stock."),
        ({"alarm_topic": None}, "alarm_topic: missing."),
        ({"service_role": role("lake/emr")}, "service_role: got 'arn:aws:iam::11"),
        (
            {"alarm_topic": "arn:aws:sns:eu-central-1:444455556666:alarms"},
            "got the accounts 111122223333, 444455556666.",
        ),
    ],
    ids=[
        "name",
        "security",
        "work",
        "landing",
        "warehouse",
        "whole-bucket",
        "break-glass",
        "role",
        "topic",
        "path",
        "account",
    ],
)
def test_an_environment_that_does_not_fit_is_told_why(changes, told):
    with pytest.raises(NotDeployable) as refused:
        check_deployable(environment(**changes), [SALES, STOCK])
    (reason,) = refused.value.reasons
    assert told in reason
    assert str(refused.value).startswith("environments/")


def test_all_reasons_are_told_at_once():
    with pytest.raises(NotDeployable) as refused:
        check_deployable(environment(name="a_b", security_configuration=None), [SALES])
    assert len(str(refused.value).splitlines()) == 2
