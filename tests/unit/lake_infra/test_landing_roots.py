"""Landing files in buckets of others: who may read what, and nothing more."""

from __future__ import annotations

import json

import pytest
from lake_infra.domains import domains_template
from lake_infra.policies import policies
from lake_infra.resource_names import NotDeployable
from lake_infra.runtime_role import role_statements
from lake_infra.shared_airflow import layer_template
from lake_infra.template import load_template
from lake_infra.terraform import terraform_files
from lake_spec.model import LandingRoot

from tests.unit.lake_infra.lakes import domain, environment

KEY = "arn:aws:kms:eu-central-1:999988887777:key/01234567-89ab-cdef-0123-456789abcdef"
PARTNER = LandingRoot("s3://partner/out", ("sales.t0",), KEY)
SALES = domain("sales", "sales/orders", "sales/items")
STOCK = domain("stock", "stock/levels")
PLACE = environment(landing_roots=(("partner", PARTNER),), erase_secret="/lake/erase")


def resources(domains, place=PLACE):
    """What the role of these domains may do on which thing."""
    found = {}
    for each in role_statements(place, domains, [SALES, STOCK]):
        things = each["Resource"]
        for thing in things if isinstance(things, list) else [things]:
            thing = thing.get("Fn::Sub", "") if isinstance(thing, dict) else thing
            for action in (
                each["Action"] if isinstance(each["Action"], list) else [each["Action"]]
            ):
                found.setdefault(thing.replace("${AWS::Partition}", "aws"), set()).add(
                    action
                )
    return found


def test_the_role_of_the_table_reads_its_folder_there_and_nothing_else_of_the_bucket():
    found = {k: v for k, v in resources([SALES]).items() if "partner" in k}
    assert found == {
        "arn:aws:s3:::partner/out/orders/*": {"s3:GetObject"},
        "arn:aws:s3:::partner": {"s3:ListBucket"},
    }
    (listing,) = [
        each
        for each in role_statements(PLACE, [SALES], [SALES])
        if each["Sid"] == "FindLandingRoot1"
    ]
    assert listing["Condition"] == {"StringLike": {"s3:prefix": ["out/orders/*"]}}


def test_the_key_decrypts_by_way_of_s3_and_makes_nothing():
    (key,) = [
        each
        for each in role_statements(PLACE, [SALES], [SALES])
        if each["Sid"] == "KeysOfLandingRoots"
    ]
    assert (key["Action"], key["Resource"]) == (["kms:Decrypt"], [KEY])
    assert "s3." in json.dumps(key["Condition"])


def test_the_other_tables_and_domains_are_as_they_were():
    plain = environment(erase_secret="/lake/erase")
    assert resources([STOCK]) == resources([STOCK], plain)
    before, after = resources([SALES], plain), resources([SALES])
    gone = {"arn:aws:s3:::land/files/sales/orders/*"}
    assert set(before) - set(after) == gone
    assert all(after[each] == before[each] for each in set(before) - gone)


@pytest.mark.parametrize("count", [1, 5, 50])
def test_the_roles_still_fit_into_iam(count):
    paths = [f"sales/t{number}" for number in range(count)]
    sales = domain("sales", *paths)
    roots = (("partner", LandingRoot("s3://partner/out", ("sales",), KEY)),)
    domains_template(environment(landing_roots=roots), [sales])  # or NotDeployable


def test_the_network_opens_a_way_to_read_there_and_to_no_other_bucket():
    network = layer_template(PLACE, "network")
    added = network["Resources"]["S3Endpoint"]["Properties"]["PolicyDocument"][
        "Statement"
    ][-2:]
    before = load_template("network")["Resources"]["S3Endpoint"]["Properties"]
    assert network != load_template("network")
    assert [each["Action"] for each in added] == [["s3:GetObject"], ["s3:ListBucket"]]
    assert "partner/out/*" in json.dumps(added[0]["Resource"])
    assert len(before["PolicyDocument"]["Statement"]) + 2 == len(
        network["Resources"]["S3Endpoint"]["Properties"]["PolicyDocument"]["Statement"]
    )
    assert layer_template(environment(), "network") == load_template("network")
    assert "arn:aws:s3:::partner/out/*" in json.dumps(
        policies(PLACE, [SALES])["endpoints"]["s3"]
    )


def test_terraform_which_has_no_such_way_is_refused():
    with pytest.raises(NotDeployable, match="landing_roots: the module takes"):
        terraform_files(PLACE, [SALES])
