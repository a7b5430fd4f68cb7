"""What AWS documents, held against our templates; and each fact with a planted fault."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Callable

import pytest
from lake_infra.endpoints import endpoint_services
from lake_infra.policies import documents

from tests.deploy.facts import FACTS, GITHUB, Templates, endpoint_faults, wrong

TEMPLATES = Templates.of()


@pytest.mark.parametrize("name", FACTS)
def test_the_templates_are_as_aws_documents_it(name):
    assert wrong(FACTS[name]) == []
    assert {fact.is_allowed for fact in FACTS[name]()} == {True, False}


def test_every_service_that_is_called_has_an_endpoint_and_no_other():
    assert endpoint_faults() == []


def statement(document: dict, sid: str) -> dict:
    (found,) = (each for each in document["Statement"] if each["Sid"] == sid)
    return found


def policy(template: dict, role: str, nth: int = 0) -> dict:
    return template["Resources"][role]["Properties"]["Policies"][nth]["PolicyDocument"]


def drop(document: dict, sid: str) -> None:
    document["Statement"].remove(statement(document, sid))


def without(layer: str, role: str, sid: str) -> Callable[[dict], None]:
    return lambda layers: drop(policy(layers[layer], role), sid)


def trust(layers: dict, subjects: Any, operator: str = "StringEquals") -> None:
    role = layers["deploy"]["Resources"]["DeployRole"]["Properties"]
    condition = role["AssumeRolePolicyDocument"]["Statement"][0]["Condition"]
    del condition["StringEquals"][f"{GITHUB}:sub"]
    condition.setdefault(operator, {})[f"{GITHUB}:sub"] = subjects


def key(layers: dict) -> dict:
    return layers["data"]["Resources"]["Key"]["Properties"]["KeyPolicy"]


def way(layers: dict) -> dict:
    return layers["network"]["Resources"]["S3Endpoint"]["Properties"]["PolicyDocument"]


def endpoints(layers: dict) -> dict:
    _, _, repeated = layers["endpoints"]["Resources"]["Fn::ForEach::Endpoints"]
    (endpoint,) = repeated.values()
    return endpoint["Properties"]["PolicyDocument"]


def logs_without(layers: dict, action: str) -> None:
    statement(key(layers), "LogGroups")["Action"].remove(action)


def tags_without(layers: dict, kind: str) -> None:
    found = statement(policy(layers["mwaa"], "ExecutionRole"), "TagThemAsTheyAreMade")
    del found["Condition"]["StringEquals"][f"elasticmapreduce:{kind}/lake:environment"]


def bucket_without(layers: dict, action: str) -> None:
    found = statement(policy(layers["mwaa"], "ExecutionRole", 1), "BucketOfTheDags")
    found["Action"].remove(action)


def queue_of_any(found: dict) -> None:
    queue = "arn:${AWS::Partition}:sqs:${AWS::Region}:*:airflow-celery-*"
    found["Resource"] = {"Fn::Sub": queue}


def of_steps(layers: dict, sid: str) -> dict:
    roles = layers["domains"]["Resources"].items()
    (name,) = (n for n, each in roles if each["Type"] == "AWS::IAM::Role")
    found = documents(layers["domains"], name)
    (one,) = (e for document in found for e in document["Statement"] if e["Sid"] == sid)
    return one


def stores(layers: dict, change: Callable[[list], None]) -> None:
    condition = of_steps(layers, "KeyOfTheBuckets")["Condition"]
    change(condition["StringEquals"]["kms:ViaService"])


UPDATE, TRUST, KEY, WAY, ENDPOINTS, AIRFLOW, STEPS = FACTS
OLD, WITH_IDS = "repo:owner/name", "repo:owner@123/name@456"
PLANTED = [
    *(
        (UPDATE, f"role of the deploy: {says}", without("deploy", "DeployRole", sid))
        for sid, says in {
            "GiveAirflowItsRole": "iam:PassRole on",
            "HowTheBucketIsEncrypted": "s3:GetEncryptionConfiguration on",
            "NetworkOfTheEnvironment": "ec2:DescribeRouteTables on",
            "EndpointsOfTheEnvironment": "ec2:CreateVpcEndpoint on",
            "KeyOfTheEnvironment": "kms:CreateGrant on",
        }.items()
    ),
    (
        UPDATE,
        "role of the deploy: iam:PassRole on arn:aws:iam::123456789012:role/lake-prod-emr",
        lambda layers: statement(
            policy(layers["deploy"], "DeployRole"), "GiveAirflowItsRole"
        ).update(Resource="*"),
    ),
    (
        TRUST,
        f"{WITH_IDS}:environment:production",
        lambda layers: trust(layers, f"{OLD}:environment:production"),
    ),
    (
        TRUST,
        f"{OLD}:environment:production'",
        lambda layers: trust(layers, f"{WITH_IDS}:environment:production"),
    ),
    (
        TRUST,
        "repo:owner-2/name:environment:production",
        lambda layers: trust(
            layers, "repo:owner*:environment:production", "StringLike"
        ),
    ),
    (
        TRUST,
        "environment:development",
        lambda layers: trust(layers, [f"{OLD}:*", f"{WITH_IDS}:*"], "StringLike"),
    ),
    *(
        (KEY, f"key: kms:{says}", lambda layers, a=action: logs_without(layers, a))
        for action, says in {
            "kms:Decrypt*": "Decrypt on",
            "kms:Describe*": "DescribeKey on",
            "kms:Encrypt*": "Encrypt on",
            "kms:GenerateDataKey*": "GenerateDataKey on",
            "kms:ReEncrypt*": "ReEncryptFrom on",
        }.items()
    ),
    (KEY, "key: kms:Decrypt", lambda layers: drop(key(layers), "DisksOfFleetsAndSpot")),
    (
        KEY,
        "key: kms:CreateGrant",
        lambda layers: drop(key(layers), "LendTheKeyToTheirDisks"),
    ),
    (
        KEY,
        "key: kms:CreateGrant",
        lambda layers: statement(key(layers), "LendTheKeyToTheirDisks").pop(
            "Condition"
        ),
    ),
    (
        WAY,
        "aws157-logs-prod-eu-central-1/",
        lambda layers: drop(way(layers), "LogsForTheSupportOfEmr"),
    ),
    (
        WAY,
        "appinfo.src",
        lambda layers: drop(way(layers), "HistoryOfApplications"),
    ),
    (
        WAY,
        "aws157-instance-data-0",
        lambda layers: drop(way(layers), "PackagesAndImagesOfAws"),
    ),
    (
        WAY,
        "somebodys-bucket",
        lambda layers: statement(way(layers), "BucketsOfThisAccount").pop("Condition"),
    ),
    *(
        (ENDPOINTS, says, lambda layers, sid=sid: drop(endpoints(layers), sid))
        for sid, says in {
            "ThisAccountOnItsOwn": "sns:Publish on arn:aws:sns",
            "QueueOfAirflow": "airflow-celery-1",
            "ServicesOfAws": "logs:PutLogEvents",
        }.items()
    ),
    *(
        (
            ENDPOINTS,
            says,
            lambda layers, sid=sid, operator=operator: statement(
                endpoints(layers), sid
            )["Condition"].pop(operator),
        )
        for sid, operator, says in (
            ("ThisAccountOnItsOwn", "StringEquals", "GetSecretValue"),
            ("ThisAccountOnItsOwn", "StringEqualsIfExists", ":999999999999:topic"),
            ("QueueOfAirflow", "StringEquals", "airflow-celery-1"),
            ("ServicesOfAws", "Bool", "GetSecretValue"),
        )
    ),
    (
        ENDPOINTS,
        "888888888888:airflow-celery-1",
        lambda layers: queue_of_any(statement(endpoints(layers), "QueueOfAirflow")),
    ),
    (
        AIRFLOW,
        "888888888888:airflow-celery-1",
        lambda layers: queue_of_any(
            statement(policy(layers["mwaa"], "ExecutionRole", 1), "QueueOfTasks")
        ),
    ),
    (
        AIRFLOW,
        "s3:GetBucketLocation",
        lambda layers: bucket_without(layers, "s3:GetBucketLocation"),
    ),
    (
        AIRFLOW,
        "it makes a foreign cluster one of ours",
        lambda layers: tags_without(layers, "RequestTag"),
    ),
    (
        AIRFLOW,
        "it makes a foreign cluster one of ours",
        lambda layers: tags_without(layers, "ResourceTag"),
    ),
    *(
        (
            STEPS,
            f"glue:{action} on",
            lambda layers, a=action: of_steps(layers, "Catalogue")["Action"].remove(
                f"glue:{a}"
            ),
        )
        for action in ("BatchCreatePartition", "BatchDeletePartition", "GetPartitions")
    ),
    (
        STEPS,
        "secretsmanager.eu-central-1",
        lambda layers: stores(layers, lambda listed: listed.pop()),
    ),
    (
        STEPS,
        "ssm.eu-central-1",
        lambda layers: stores(
            layers, lambda listed: listed.append("ssm.eu-central-1.amazonaws.com")
        ),
    ),
]


@pytest.mark.parametrize("fact, says, plant", PLANTED)
def test_a_planted_fault_is_named(fact, says, plant):
    layers = copy.deepcopy(dict(TEMPLATES.layers))
    plant(layers)
    found = wrong(FACTS[fact], replace(TEMPLATES, layers=layers))
    assert any(says in each for each in found), found
    others = [name for name in FACTS if name != fact]
    assert all(wrong(FACTS[n], replace(TEMPLATES, layers=layers)) == [] for n in others)


@pytest.mark.parametrize("lost", ["airflow.ops", "secretsmanager", "ssm", "sqs"])
def test_a_service_without_an_endpoint_is_found(lost):
    found = endpoint_faults(lambda *a: set(endpoint_services(*a)) - {lost})
    assert found == [f"{lost}: no endpoint"] * len(found) and found


def test_an_endpoint_that_nobody_needs_is_found():
    found = endpoint_faults(lambda *a: [*endpoint_services(*a), "ecr.api"])
    assert found == ["ecr.api: an endpoint for nothing"] * 2


def test_an_endpoint_of_a_store_without_secrets_is_for_nothing():
    found = endpoint_faults(
        lambda *a: {*endpoint_services(*a), "ssm", "secretsmanager"}
    )
    assert found == [
        "ssm: an endpoint for nothing",
        "secretsmanager: an endpoint for nothing",
    ]
