"""Without any statement of a role of ours, a call that we make is refused by name.

The calls are those of runs, as the emulator recorded them, with those of versions, jars
and connections that only an account has.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from lake_check.parsing.loader import load_environment, load_lake
from lake_emulator.policies.enforcer import PolicyEnforcer
from lake_emulator.policies.evaluator import Policies
from lake_infra.policies import policies
from lake_spec.model import Feed, FeedTable, JdbcTable, Parquet, PostgreSql
from lake_spec.model.choices import SecretStore
from lake_spec.platform.deployment import DEPLOYMENT_TAG, deployment

DAGS = Path(__file__).resolve().parents[4] / "dags"
WAREHOUSE, LANDING = (f"lake-prod-{n}-111122223333" for n in ("warehouse", "landing"))
WORK = "lake-prod-work-111122223333"
ROLE = "lake-prod-steps-moma"
ARN = f"arn:aws:iam::111122223333:role/{ROLE}"
TAGS = {
    "lake:environment": "prod",
    DEPLOYMENT_TAG: deployment(load_environment("prod", DAGS / "environments")),
    "lake:domain": "moma",
    "lake:run": "r",
}
NEW = {
    "Tags": [{"Key": name, "Value": value} for name, value in TAGS.items()],
    "ServiceRole": "lake-prod-emr",
    "JobFlowRole": "lake-prod-nodes",
    "AutoTerminationPolicy": {"IdleTimeout": 600},
    "ManagedScalingPolicy": {"ComputeLimits": {"UnitType": "Instances"}},
}
STEP = [
    ("s3", "GetObject", f"{WAREHOUSE}/tables/moma/artists/current/f.parquet", {}),
    ("s3", "UploadPart", f"{WAREHOUSE}/tables/moma/artists/current/f.parquet", {}),
    ("s3", "ListObjectsV2", WAREHOUSE, {"prefix": "tables/moma/a/", "delimiter": "/"}),
    ("s3", "ListObjectsV2", WAREHOUSE, {"prefix": "tables/", "delimiter": "/"}),
    ("s3", "ListObjectVersions", WAREHOUSE, {"prefix": "tables/moma/artists/"}),
    ("s3", "DeleteObjectVersion", f"{WAREHOUSE}/tables/moma/artists/f", {}),
    ("s3", "GetBucketVersioning", WAREHOUSE, {}),
    ("s3", "GetObject", f"{LANDING}/files/moma/artists/a.csv.gz", {}),
    ("s3", "ListObjectsV2", LANDING, {"prefix": "files/moma/artists/"}),
    ("s3", "ListObjectVersions", LANDING, {"prefix": "files/moma/artists/"}),
    ("s3", "PutObject", f"{LANDING}/files/pulled/a.parquet", {}),
    ("s3", "ListObjectsV2", LANDING, {"prefix": "files/pulled/"}),
    ("s3", "GetObject", f"{LANDING}/files/_erased/moma/artists.json", {}),
    ("s3", "ListObjectsV2", LANDING, {"prefix": "files/_erased/moma/"}),
    ("s3", "PutObject", f"{WORK}/runs/moma_incremental/r/scd2/artists.json", {}),
    ("s3", "ListObjectsV2", WORK, {"prefix": "runs/moma_incremental/r/"}),
    ("s3", "DeleteObject", f"{WORK}/runs/profiles/moma/artists.json", {}),
    ("s3", "ListObjectVersions", WORK, {"prefix": "runs/moma_erase/r/"}),
    ("s3", "GetObject", f"{WORK}/runs/leases/moma.json", {}),
    ("s3", "PutObject", f"{WORK}/runs/timings/moma.json", {}),
    ("s3", "PutObject", f"{WORK}/runs/checks/moma/artists.json", {}),
    ("s3", "PutObject", f"{WORK}/runs/erase/moma/gdpr-7.json", {}),
    ("s3", "ListObjectsV2", WORK, {"prefix": "runs/erase/moma/"}),
    ("s3", "GetObject", f"{WORK}/artifacts/releases/1/lake.zip", {}),
    ("s3", "GetObject", f"{WORK}/artifacts/jars/driver.jar", {}),
    ("s3", "GetObject", f"{WORK}/artifacts/certificates/rds.pem", {}),
    ("glue", "GetTable", "moma/artists", {}),
    ("glue", "DeleteTable", "moma_iceberg/artists", {}),
    ("glue", "UpdateTableOptimizer", "moma_iceberg/artists", {}),
    ("ssm", "GetParameter", "/lake/prod/erase", {}),
    ("ssm", "GetParameter", "lake/prod/kept", {}),
    ("secretsmanager", "GetSecretValue", "lake/prod/shop", {}),
]
AIRFLOW = [
    ("elasticmapreduce", "RunJobFlow", "", {"request": NEW}),
    ("elasticmapreduce", "ListClusters", "", {}),
    ("elasticmapreduce", "DescribeCluster", "j-1", {}),
    ("elasticmapreduce", "TerminateJobFlows", "j-1", {}),
    (
        "elasticmapreduce",
        "AddJobFlowSteps",
        "j-1",
        {"request": {"ExecutionRoleArn": ARN}},
    ),
    ("s3", "PutObject", f"{WORK}/runs/leases/moma.json", {}),
    ("s3", "GetObject", f"{WORK}/logs/j-1/steps/s-1/stdout.gz", {}),
    ("s3", "ListObjectsV2", WORK, {"prefix": "runs/costs/"}),
    ("sns", "Publish", "arn:aws:sns:eu-central-1:111122223333:lake-prod-alarms", {}),
]
OF_MWAA = {"CodeOfTheDags", "BucketOfTheDags", "IsTheAccountClosed"}
"""What MWAA itself calls, which the emulator is no part of."""


def made() -> dict:
    """Policies of prod with connections, jars and a table that is pulled."""
    environment = load_environment("prod", DAGS / "environments")
    ca = f"s3://{WORK}/artifacts/certificates/rds.pem"
    shop = PostgreSql("shop", "shop", "lake/prod/shop", ("moma",), ca=ca)
    kept = replace(shop, secret="lake/prod/kept", secret_store=SecretStore.SSM)
    environment = replace(
        environment,
        connections=(("shop", shop), ("kept", kept)),
        jars=(f"s3://{WORK}/artifacts/jars/driver.jar",),
    )
    domain = load_lake(DAGS / "tables").domains["moma"]
    pulled = [
        FeedTable(
            *(name, domain.name, "Pulled", "museum-data"),
            Feed(
                path="pulled", format=Parquet(), load_from=JdbcTable(name, "public.a")
            ),
            key=("id",),
        )
        for name in ("shop", "kept")
    ]
    return policies(environment, [replace(domain, tables=(*domain.tables, *pulled))])


MADE = made()


def judge(home, raw) -> PolicyEnforcer:
    step = SimpleNamespace(id="s-1", role=ARN)
    cluster = SimpleNamespace(id="j-1", tags=TAGS, described={}, steps=[step])
    found = PolicyEnforcer(home, SimpleNamespace(clusters=lambda: [cluster]))
    found.replace(raw)
    return found


def refused(judge: PolicyEnforcer, caller: str, calls: list) -> list:
    return [
        denial
        for service, operation, thing, more in calls
        for _, denial in judge.denials(
            caller, service, operation, [{"thing": thing, **more}]
        )
    ]


CALLERS = {ROLE: ("s-1", STEP), "lake-prod-airflow": ("airflow", AIRFLOW)}


def sids() -> list:
    """The statements of both roles on services that the emulator answers."""
    known = Policies.of(MADE)
    found = {(role, each.sid) for role in CALLERS for each in known.roles[role]}
    return sorted(each for each in found if each[1] not in OF_MWAA)


def without(role: str, sid: str) -> dict:
    less = copy.deepcopy(MADE)
    for document in less["roles"][role]:
        kept = [each for each in document["Statement"] if each["Sid"] != sid]
        document["Statement"] = kept
    return less


@pytest.mark.parametrize("role", CALLERS)
def test_with_all_statements_every_call_is_allowed(tmp_path, role):
    caller, calls = CALLERS[role]
    assert refused(judge(tmp_path, MADE), caller, calls) == []


@pytest.mark.parametrize("role, sid", sids())
def test_without_one_a_call_is_refused_that_names_its_action(tmp_path, role, sid):
    caller, calls = CALLERS[role]
    denials = refused(judge(tmp_path, without(role, sid)), caller, calls)
    (actions,) = {
        each.actions for each in Policies.of(MADE).roles[role] if each.sid == sid
    }
    assert denials, f"add a call to {role}'s that needs the statement {sid}"
    for denial in denials:
        assert denial.action in actions
        assert f"is not authorized to perform: {denial.action} on" in denial.message
        assert f"assumed-role/{role}/{caller}" in denial.message
