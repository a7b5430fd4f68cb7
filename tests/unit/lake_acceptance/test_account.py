"""What an account can lack before a deploy, planted one by one; requests are by AWS's models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import boto3
import pytest
from botocore.exceptions import ClientError

from lake_acceptance import account
from lake_acceptance.__main__ import main
from lake_acceptance.check import CheckFailed, Outcome, play
from lake_acceptance.subject import load
from lake_infra.endpoints import endpoint_services
from lake_infra.resource_names import last_part
from lake_spec.model.aws import OwnNetwork, SecurityGroups
from lake_spec.model.instances import TaskGroup

from tests.acceptance.emulator import emulator

NUMBER = "111122223333"
ZONES = ("eu-central-1a", "eu-central-1b", "eu-central-1c")
HOUSE = "s3://lake-prod-warehouse-111122223333/tables"


class Account:
    """What AWS answers, by operation: a function of what was asked; an error is raised."""

    def __init__(self, services: list[str]) -> None:
        self.stacks: set[str] = set()
        self.buckets: dict[str, int] = {}
        self.databases: dict[str, list[str]] = {}
        self.roles = set(account.LINKED_ROLES)
        self.services = [f"com.amazonaws.eu-central-1.{each}" for each in services]
        self.zones = {zone: {"m7g.xlarge"} for zone in ZONES}
        self.vcpus, self.untagged = 32.0, ""
        self.outputs: dict[str, str] = {}
        self.on: dict[str, Any] = {}

    def answer(self, operation: str, asked: dict[str, Any]) -> Any:
        return getattr(self, f"_{operation}")(**asked)

    def _GetCallerIdentity(self):
        return {"Account": NUMBER, "Arn": "arn:aws:iam::111122223333:user/somebody"}

    def _HeadBucket(self, Bucket):
        if Bucket not in self.buckets:
            raise error("404", "HeadBucket")
        if self.buckets[Bucket] != 200:
            raise error(str(self.buckets[Bucket]), "HeadBucket")
        return {}

    def _GetDatabase(self, Name):
        if Name not in self.databases:
            raise error("EntityNotFoundException", "GetDatabase")
        return {"Database": {"Name": Name}}

    def _GetTables(self, DatabaseName):
        return {
            "TableList": [
                {"Name": "artists", "StorageDescriptor": {"Location": place}}
                for place in self.databases[DatabaseName]
            ]
        }

    def _GetRole(self, RoleName):
        if RoleName not in self.roles:
            raise error("NoSuchEntity", "GetRole")
        return {"Role": {"RoleName": RoleName}}

    def _DescribeStacks(self):
        made = [{"OutputKey": k, "OutputValue": v} for k, v in self.outputs.items()]
        return {"Stacks": [{"StackName": e, "Outputs": made} for e in self.stacks]}

    def _DescribeVpcEndpointServices(self):
        return {"ServiceNames": self.services}

    def _DescribeAvailabilityZones(self):
        return {"AvailabilityZones": [{"ZoneName": each} for each in ZONES]}

    def _DescribeInstanceTypeOfferings(self, LocationType, Filters):
        assert LocationType == "availability-zone"
        return {
            "InstanceTypeOfferings": [
                {"InstanceType": kind, "Location": zone}
                for zone, kinds in self.zones.items()
                for kind in kinds & set(Filters[0]["Values"])
            ]
        }

    def _DescribeSubnets(self, SubnetIds):
        return {
            "Subnets": [
                {
                    "SubnetId": id,
                    "VpcId": "vpc-01234567",
                    "AvailabilityZone": zone,
                    "Tags": self._tags(id),
                }
                for id, zone in zip(SubnetIds, (*ZONES[1:], ZONES[0]))
            ]
        }

    def _DescribeVpcs(self, VpcIds):
        return {"Vpcs": [{"VpcId": id, "Tags": self._tags(id)} for id in VpcIds]}

    def _DescribeSecurityGroups(self, GroupIds):
        found = [{"GroupId": id, "Tags": self._tags(id)} for id in GroupIds]
        return {"SecurityGroups": found}

    def _tags(self, id: str) -> list[dict[str, str]]:
        value = "false" if id == self.untagged else "true"
        return [{"Key": account.EMR_TAG, "Value": value}]

    def _DescribeInstanceTypes(self, InstanceTypes):
        return {
            "InstanceTypes": [
                {
                    "InstanceType": each,
                    "VCpuInfo": {"DefaultVCpus": 8 if ".2x" in each else 4},
                }
                for each in InstanceTypes
            ]
        }

    def _GetServiceQuota(self, ServiceCode, QuotaCode):
        assert (ServiceCode, QuotaCode) == ("ec2", "L-1216C47A")
        return {"Quota": {"Value": self.vcpus}}

    def _GetCatalog(self, CatalogId):
        assert CatalogId == NUMBER
        of_iceberg = {"IcebergOptimizationProperties": self.on}
        return {"Catalog": {"Name": "c", "CatalogProperties": of_iceberg}}


def error(code: str, operation: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}}, operation)


@pytest.fixture
def subject():
    """An environment whose file has nothing yet that AWS chooses."""
    found = load("prod", cluster="standard", emulated=False, say=print)
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
    return replace(
        found,
        session=boto3.Session(region_name="eu-central-1", **keys),
        deployed=replace(found.deployed, subnets=(), security_groups=None),
    )


class Answered(NamedTuple):
    """What botocore looks at in the reply of a server."""

    status_code: int


@pytest.fixture
def aws(subject):
    """An account in which nothing is deployed and nothing lacks.

    Requests are checked by botocore as any other; none leaves.
    """
    answering = Account(endpoint_services(subject.deployed, account.lake(subject)))
    asked: dict[str, Any] = {}

    def note(params, model, **others):
        asked.clear()
        asked.update(params)

    def answer(model, **others):
        try:
            return Answered(200), answering.answer(model.name, dict(asked))
        except ClientError as wrong:
            return Answered(400), wrong.response

    subject.session.events.register("before-parameter-build", note)
    subject.session.events.register("before-call", answer)
    return answering


def test_an_account_in_which_nothing_lacks(subject, aws):
    results = play(account.CHECKS, subject, emulated=False, say=print)
    assert [e.check.name for e in results if e.outcome is not Outcome.PASSED] == []
    said = {each.check.name: each.evidence for each in results}
    assert said["vcpus"] == "12 of 32 for standard: 2 clusters at once"
    assert said["zones"] == "m7g.xlarge of standard in eu-central-1a, eu-central-1b"
    assert "moma is free" in said["databases"]
    assert said["optimizers"] == "none is on"


def test_an_account_to_which_it_is_deployed_is_well_too(subject, aws):
    aws.stacks = {
        f"lake-prod-{each}" for each in ("data", "domains", "emr", "mwaa", "deploy")
    }
    aws.buckets = dict.fromkeys(account._buckets(subject, NUMBER), 200)
    aws.databases = {"moma": [f"{HOUSE}/moma/artists/current"]}
    aws.roles |= {"lake-prod-emr", "lake-prod-nodes", "lake-prod-airflow"}
    results = play(account.CHECKS, subject, emulated=False, say=print)
    assert [e.check.name for e in results if e.outcome is not Outcome.PASSED] == []


LANDING = "lake-prod-landing-111122223333"
OWN = OwnNetwork("vpc-01234567", "10.7.0.0/16", "subnet-01234567", "subnet-12345678")


@pytest.mark.parametrize(
    "check, plant, says",
    [
        ("buckets", {"buckets": {LANDING: 403}}, f"bucket {LANDING}: "),
        ("buckets", {"buckets": {LANDING: 200}}, "and no stack lake-prod-data."),
        (
            "databases",
            {"databases": {"moma": ["s3://lake-dev-warehouse/tables/moma/artists"]}},
            "the database moma of the catalogue has the table artists at s3://lake-dev",
        ),
        ("databases", {"databases": {"moma": []}}, "and no stack lake-prod-domains."),
        ("roles", {"roles": {"lake-prod-emr"}}, "the role lake-prod-emr is there"),
        (
            "buckets",
            {"buckets": {f"lake-prod-airflow-{NUMBER}": 200}},
            "and no stack lake-prod-data.",
        ),
        ("roles", {"roles": {"lake-prod-readers"}}, "and no stack lake-prod-readers."),
        ("roles", {"roles": {"lake-prod-deploy"}}, "and no stack lake-prod-deploy."),
        ("linked-roles", {"roles": set()}, "missing: AWSServiceRoleForEMRCleanup"),
        (
            "services",
            {"services": []},
            "has no endpoint of com.amazonaws.eu-central-1.air",
        ),
        (
            "zones",
            {"zones": {ZONES[0]: {"m7g.xlarge"}}},
            "eu-central-1b lacks m7g.xlarge of the cluster standard, and is one",
        ),
        (
            "zones",
            {"zones": dict.fromkeys(ZONES[1:], {"m7g.xlarge"})},
            "eu-central-1a lacks m7g.xlarge of the cluster standard, and is one of the",
        ),
        ("vcpus", {"vcpus": 5.0}, "up to 12 vCPUs on demand; the account may run 5"),
    ],
)
def test_what_lacks_is_named_with_what_to_do(subject, aws, check, plant, says):
    vars(aws).update(plant)
    (chosen,) = (each for each in account.CHECKS if each.name == check)
    with pytest.raises(CheckFailed) as failed:
        chosen.answer(subject)
    assert says in failed.value.cause and failed.value.fix


def test_the_zones_of_a_network_that_is_there_are_those_of_its_subnets(subject, aws):
    own = replace(subject, deployed=replace(subject.deployed, network=OWN))
    good = "m7g.xlarge of standard in eu-central-1b, eu-central-1c"
    assert account.zones(own) == good
    for aws.untagged in (OWN.subnet_b, OWN.vpc):
        with pytest.raises(CheckFailed, match=f"{aws.untagged} lacks the tag"):
            account.zones(own)
    aws.untagged = "subnet-89abcdef"  # of the clusters, beside Airflow's two
    own.deployed = replace(own.deployed, subnets=(OWN.subnet_a, aws.untagged))
    with pytest.raises(CheckFailed, match="subnet-89abcdef lacks the tag"):
        account.zones(own)
    other = replace(OWN, vpc="vpc-89abcdef")
    moved = replace(subject, deployed=replace(subject.deployed, network=other))
    with pytest.raises(CheckFailed, match="is of vpc-01234567, not of vpc-89abcdef"):
        account.zones(moved)


@pytest.mark.parametrize("told_by", ["the stack", "the file"])
def test_what_it_says_to_do_about_zones_makes_it_pass(subject, aws, told_by):
    """The first zone lacks the type; the network is then made in the other two."""
    aws.zones = dict.fromkeys(ZONES[1:], {"m7g.xlarge"})
    with pytest.raises(CheckFailed) as failed:
        account.zones(subject)
    assert "ZoneA=eu-central-1b ZoneB=eu-central-1c" in failed.value.fix
    made = ("subnet-01234567", "subnet-12345678")
    if told_by == "the stack":
        aws.stacks = {"lake-prod-network"}
        aws.outputs = dict(zip(("SubnetA", "SubnetB"), made))
    else:
        subject.deployed = replace(subject.deployed, subnets=made)
    assert account.zones(subject).endswith("in eu-central-1b, eu-central-1c")
    aws.zones = {ZONES[0]: {"m7g.xlarge"}}
    with pytest.raises(CheckFailed, match="eu-central-1b, eu-central-1c lacks") as bad:
        account.zones(subject)
    assert "or subnets in eu-central-1a" in bad.value.fix


def test_every_security_group_of_the_nodes_has_the_tag(subject, aws):
    assert account.groups(subject) == "none is named yet"
    named = SecurityGroups("sg-1", "sg-2", "sg-3", ("sg-4",), ("sg-5",))
    subject.deployed = replace(subject.deployed, security_groups=named)
    assert account.groups(subject) == "sg-1, sg-2, sg-3, sg-4, sg-5"
    for aws.untagged in account.groups(subject).split(", "):
        with pytest.raises(CheckFailed, match=f"group {aws.untagged} lacks the tag"):
            account.groups(subject)


def test_clusters_that_domains_name_are_looked_at(subject, aws, monkeypatch):
    """One cluster for the acceptance run, and another for the domains of the lake."""
    big = [replace(each, cluster="large") for each in account.lake(subject)]
    monkeypatch.setattr(account, "lake", lambda subject: big)
    assert set(account.clusters(subject)) == {"standard", "large"}
    of_large = {"m6g.2xlarge", "r6g.2xlarge", "r7g.4xlarge"}
    with pytest.raises(
        CheckFailed, match="m7g.2xlarge or m6g.2xlarge, .*cluster large"
    ):
        account.zones(subject)
    aws.zones = dict.fromkeys(ZONES, {"m7g.xlarge", *of_large})
    assert account.zones(subject).endswith("of large in eu-central-1a, eu-central-1b")
    assert account.vcpus(subject) == "24 of 32 for large: 1 clusters at once"
    one = replace(subject.deployed, cluster="standard")
    assert set(account.clusters(replace(subject, deployed=one))) == {"standard"}


def test_types_of_task_nodes_on_spot_are_looked_for_too(subject, aws):
    nodes = replace(subject.cluster.instances, task=TaskGroup("r8g.xlarge"))
    subject.cluster = replace(subject.cluster, instances=nodes)
    with pytest.raises(CheckFailed, match="lacks m7g.xlarge, r8g.xlarge of the"):
        account.zones(subject)


def test_optimizers_that_the_catalogue_has_on_are_said(subject, aws):
    aws.on = {"Compaction": {"enabled": "true", "roleArn": "r"}}
    assert account.optimizers(subject).startswith(
        "compaction: on; each published table"
    )


def test_more_dags_than_the_default_class_takes(subject, monkeypatch):
    one, *_ = account.lake(subject)
    monkeypatch.setattr(account, "lake", lambda subject: [one] * 20)
    with pytest.raises(CheckFailed, match="mw1.small takes 50") as failed:
        account.dags(subject)
    assert "EnvironmentClass=mw1." in failed.value.fix


def test_every_role_of_the_templates_is_asked_for(subject, aws):
    asked: list[str] = []
    aws._GetRole = lambda RoleName: asked.append(RoleName) or {"Role": {}}
    aws.stacks = {f"lake-prod-{each}" for each in ("emr", "mwaa", "deploy", "domains")}
    aws.stacks.add("lake-prod-readers")
    account.roles(subject)
    deployed = subject.deployed
    steps = {last_part(arn) for arn in dict(deployed.runtime_roles).values()}
    assert set(asked) >= steps | {"lake-prod-airflow", "lake-prod-deploy"}
    assert "lake-prod-readers" in asked


def test_on_the_emulator_it_says_what_only_an_account_answers(tmp_path, capsys):
    with emulator(tmp_path):
        assert main(["local", "--preflight"]) == 0
    said = capsys.readouterr().out
    assert "4 checks, 0 failed" in said
    assert "not emulated vcpus" in said and "passed       databases" in said
