"""Calls that were kept are judged as IAM would: by action, thing and conditions."""

from __future__ import annotations

from pathlib import Path

import pytest

from lake_check.parsing.loader import load_environment, load_lake
from lake_emulator.policies.evaluator import Asked
from lake_infra.policies import resolved
from lake_spec.platform.deployment import deployment
from tests.deploy import recorded
from tests.deploy.recorded import Cluster, Judge

DAGS = Path(__file__).resolve().parents[2] / "dags"
ROLE = "arn:aws:iam::111122223333:role/lake-prod-steps-moma"
WAREHOUSE = "lake-prod-warehouse-111122223333"
LANDING = "lake-prod-landing-111122223333"


@pytest.fixture(scope="module")
def judge():
    environment = load_environment("prod", DAGS / "environments")
    domains = list(load_lake(DAGS / "tables").domains.values())
    tags = {
        "lake:environment": "prod",
        "lake:domain": "moma",
        "lake:run": "r",
    }
    ours = Cluster(tags, "lake-prod-emr", "lake-prod-nodes", {"s-1": ROLE})
    clusters = {"j-1": ours, "j-2": Cluster({"lake:environment": "dev"})}
    return Judge(environment, domains, clusters)


def call(service, operation, thing, caller="s-1", **more):
    told = {"caller": caller, "service": service, "operation": operation}
    return {**told, "thing": thing, **more}


GRANTED = [
    call("s3", "GetObject", f"{LANDING}/files/moma/artists/a.csv.gz"),
    call("s3", "UploadPart", f"{WAREHOUSE}/tables/moma/artists/current/f.parquet"),
    call(
        "s3",
        "ListObjectsV2",
        WAREHOUSE,
        prefix="tables/moma/artists/",
        delimiter="/",
    ),
    call("s3", "HeadObject", f"{LANDING}/files/moma/artists/a.csv.gz"),
    call("s3", "GetObject", f"{LANDING}/files/_erased/moma/artists.json"),
    call("s3", "PutObject", f"{LANDING}/files/_erased/moma/artists.json"),
    call("glue", "CreateTable", "moma/artists"),
    call("glue", "CreateTable", "moma_iceberg/artists"),
    call("glue", "UpdateTable", "moma_delta/artists_history"),
    call("glue", "DeleteTable", "moma_delta/artists"),
    call("s3", "DeleteObjects", f"{WAREHOUSE}/tables/"),
    call("elasticmapreduce", "RunJobFlow", "", "airflow"),
    call("elasticmapreduce", "AddJobFlowSteps", "j-1", "airflow"),
    call("elasticmapreduce", "TerminateJobFlows", "j-1", "airflow"),
    call("elasticmapreduce", "DescribeCluster", "j-2", "airflow"),
    call("sts", "GetCallerIdentity", "", "airflow"),
    call("iam", "DeleteRole", "anything", "local"),
]
DENIED = [
    call("s3", "GetObject", f"{LANDING}/files/_erased/sales/orders.json"),
    call("s3", "DeleteObject", f"{LANDING}/files/_erased/moma/artists.json"),
    call("s3", "GetObject", f"{WAREHOUSE}/tables/sales/orders/f.parquet"),
    call("s3", "PutObject", f"{LANDING}/files/sales/orders/a.csv.gz"),
    call("s3", "DeleteObject", f"{WAREHOUSE}/tables/sales/"),
    call("s3", "ListObjectsV2", WAREHOUSE, prefix="", delimiter=""),
    call("s3", "ListObjectsV2", WAREHOUSE),
    call("s3", "HeadBucket", WAREHOUSE),
    call("s3", "PutBucketPolicy", WAREHOUSE),
    call("glue", "CreateTable", "sales/orders"),
    call("glue", "CreateTable", "sales_iceberg/orders"),
    call("glue", "DeleteTable", "sales_delta/orders"),
    call("glue", "CreateTable", "moma_other/artists"),
    call("glue", "DeleteTable", "moma_other/artists"),
    call("glue", "CreateDatabase", "moma_other"),
    call("glue", "DeleteTable", "moma/artists"),
    call("secretsmanager", "GetSecretValue", "lake/prod/shop"),
    call("elasticmapreduce", "TerminateJobFlows", "j-2", "airflow"),
    call("elasticmapreduce", "AddJobFlowSteps", "j-2", "airflow"),
    call("s3", "GetObject", f"{WAREHOUSE}/tables/moma/artists/f", "airflow"),
    call(
        "s3",
        "CopyObject",
        f"{WAREHOUSE}/tables/moma/a/f",
        source=f"{WAREHOUSE}/tables/sales/f",
    ),
]


@pytest.mark.parametrize("made", GRANTED, ids=lambda each: each["operation"])
def test_what_a_run_needs_is_granted(judge, made):
    assert judge.faults([made]) == []


@pytest.mark.parametrize("made", DENIED, ids=lambda each: each["operation"])
def test_what_is_another_domains_or_nobodys_is_denied(judge, made):
    assert len(judge.faults([made])) >= 1


def test_a_step_without_a_role_is_denied(judge):
    none = Cluster({"lake:environment": "prod"})
    alone = Judge(judge.environment, judge.domains, {"j-3": none})
    made = call("elasticmapreduce", "AddJobFlowSteps", "j-3", "airflow")
    assert alone.faults([made]) != []


def test_a_step_with_the_role_of_another_domain_is_told(judge):
    tags = judge.clusters["j-1"].tags
    other = Cluster(tags, steps={"s-2": ROLE.replace("-moma", "")})
    alone = Judge(judge.environment, judge.domains, {"j-4": other})
    read = call("s3", "GetObject", f"{WAREHOUSE}/tables/moma/artists/f", "s-2")
    (told,) = alone.faults([read])
    assert told.startswith(
        "a step of moma runs as 'arn:aws:iam::111122223333:role/lake-"
    )


@pytest.mark.parametrize("sid", ["KeyOfTheBuckets", "BoundThemAsTheyAreMade"])
def test_what_aws_asks_for_besides_is_asked_for(judge, monkeypatch, sid):
    made = recorded.policies(judge.environment, judge.domains)
    for documents in made["roles"].values():
        for each in documents:
            each["Statement"] = [s for s in each["Statement"] if s["Sid"] != sid]
    monkeypatch.setattr(recorded, "policies", lambda *_: made)
    assert Judge(judge.environment, judge.domains, judge.clusters).faults(GRANTED)


def test_a_caller_that_nobody_knows_is_an_error(judge):
    with pytest.raises(LookupError, match="s-9: no role is known"):
        judge.faults([call("s3", "GetObject", "a/b", "s-9")])


ON_CLUSTERS = [
    ("AddTags", {}, {"lake:environment": "prod"}, False),
    ("AddTags", {"lake:environment": "dev"}, {"lake:environment": "prod"}, False),
    ("AddTags", {"lake:environment": "prod"}, {"lake:environment": "dev"}, False),
    ("AddTags", {"lake:environment": "prod"}, {}, False),
    ("AddTags", {"lake:environment": "prod"}, {"lake:environment": "prod"}, True),
    ("PutAutoTerminationPolicy", {}, {}, False),
    ("PutAutoTerminationPolicy", {}, {"lake:environment": "prod"}, False),
    ("PutManagedScalingPolicy", {"lake:environment": "other"}, {}, False),
    ("PutManagedScalingPolicy", {"lake:environment": "prod"}, {}, True),
    ("RunJobFlow", {}, {"lake:environment": "prod"}, True),
    ("RunJobFlow", {}, {}, False),
    ("TerminateJobFlows", {"lake:environment": "prod"}, {}, True),
    ("TerminateJobFlows", {}, {}, False),
    ("CancelSteps", {"lake:environment": "other"}, {}, False),
    ("RemoveTags", {"lake:environment": "prod"}, {}, False),
]


@pytest.mark.parametrize("action, has, asks, is_allowed", ON_CLUSTERS)
def test_a_dag_reaches_clusters_of_its_environment_and_makes_no_other_one_of_them(
    judge, action, has, asks, is_allowed
):
    context = {
        **{f"elasticmapreduce:ResourceTag/{name}": of for name, of in has.items()},
        **{f"elasticmapreduce:RequestTag/{name}": of for name, of in asks.items()},
    }
    arn = "arn:aws:elasticmapreduce:eu-central-1:111122223333:cluster/j-1"
    asked = Asked.of(f"elasticmapreduce:{action}", arn, context)
    known = judge.policies
    assert known.decide(known.airflow, asked).is_allowed == is_allowed


OF_CLUSTERS = (
    *("AddJobFlowSteps", "AddTags", "CancelSteps", "DescribeStep", "ListInstances"),
    *("ListSteps", "PutAutoTerminationPolicy", "PutManagedScalingPolicy"),
    "TerminateJobFlows",
)


@pytest.mark.parametrize("action", OF_CLUSTERS)
@pytest.mark.parametrize(
    "of, is_allowed",
    [("ours", True), ("", True), ("0123456789abcdef", False), ("*", False)],
)
def test_a_dag_reaches_no_cluster_of_another_deployment_of_its_environments_name(
    judge, action, of, is_allowed
):
    has = {"lake:environment": "prod", "lake:deployment": of}
    if of == "ours":
        has["lake:deployment"] = deployment(judge.environment)
    if not of:  # a release before made it
        del has["lake:deployment"]
    context = {f"elasticmapreduce:ResourceTag/{name}": tag for name, tag in has.items()}
    context["elasticmapreduce:ExecutionRoleArn"] = ROLE
    context["elasticmapreduce:RequestTag/lake:environment"] = "prod"
    arn = "arn:aws:elasticmapreduce:eu-central-1:111122223333:cluster/j-1"
    asked = Asked.of(f"elasticmapreduce:{action}", arn, context)
    known = judge.policies
    assert known.decide(known.airflow, asked).is_allowed == is_allowed


@pytest.mark.parametrize("action", ["AddTags", "RunJobFlow"])
def test_a_dag_gives_no_cluster_the_tag_of_another_deployment(judge, action):
    known, ours = judge.policies, deployment(judge.environment)
    arn = "arn:aws:elasticmapreduce:eu-central-1:111122223333:cluster/j-1"
    for asks, is_allowed in ((ours, True), ("0123456789abcdef", False)):
        context = {
            f"elasticmapreduce:{kind}/lake:{name}": tag
            for kind, of in (("ResourceTag", ours), ("RequestTag", asks))
            for name, tag in (("environment", "prod"), ("deployment", of))
        }
        asked = Asked.of(f"elasticmapreduce:{action}", arn, context)
        assert known.decide(known.airflow, asked).is_allowed == is_allowed


def test_functions_of_templates_are_filled_in():
    value = {
        "a": {
            "Fn::Sub": ["${X}-${Y}", {"Y": {"Fn::ImportValue": {"Fn::Sub": "${X}e"}}}]
        },
        "b": [{"Ref": "Many"}],
    }
    values = {"X": "x", "Many": "one,two"}
    assert resolved(value, values) == {"a": "x-xe", "b": [["one", "two"]]}
    with pytest.raises(KeyError):
        resolved({"Ref": "Nothing"}, values)
    with pytest.raises(ValueError, match="Fn::Join in a policy"):
        resolved({"Fn::Join": ["", ["a"]]}, values)
