"""The roles that our code works as, and what each is granted without a call of ours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Dict, List, NamedTuple, Set

from lake_check.parsing.loader import load_environment, load_lake
from lake_infra.domains import domains_template
from lake_infra.template import load_template
from lake_spec.model import DomainSpec, Feed, FeedTable, JdbcTable, Parquet, PostgreSql

from tests.deploy.calls import Calls, Unknown, calls_of, grants

ROOT = Path(__file__).resolve().parents[2]
DAGS = ROOT / "dags"

AIRFLOW_ITSELF = "MWAA's own work, as its page on execution roles lists it"
BUCKET_KEY = "S3 asks for the key of a bucket in the caller's name"
HADOOP = "Spark and Hudi by way of Hadoop's S3A, in no code of ours"

AIRFLOW = {
    "airflow:PublishMetrics": AIRFLOW_ITSELF,
    "cloudwatch:PutMetricData": AIRFLOW_ITSELF,
    "logs:CreateLogGroup": AIRFLOW_ITSELF,
    "logs:CreateLogStream": AIRFLOW_ITSELF,
    "logs:DescribeLogGroups": AIRFLOW_ITSELF,
    "logs:GetLogEvents": AIRFLOW_ITSELF,
    "logs:GetLogGroupFields": AIRFLOW_ITSELF,
    "logs:GetLogRecord": AIRFLOW_ITSELF,
    "logs:GetQueryResults": AIRFLOW_ITSELF,
    "logs:PutLogEvents": AIRFLOW_ITSELF,
    "s3:GetAccountPublicAccessBlock": AIRFLOW_ITSELF,
    "s3:GetBucketLocation": AIRFLOW_ITSELF,
    "s3:GetBucketPublicAccessBlock": AIRFLOW_ITSELF,
    "s3:GetBucketVersioning": AIRFLOW_ITSELF,
    "s3:GetEncryptionConfiguration": AIRFLOW_ITSELF,
    "s3:GetObjectVersion": AIRFLOW_ITSELF,
    "s3:ListBucketVersions": AIRFLOW_ITSELF,
    "sqs:ChangeMessageVisibility": AIRFLOW_ITSELF,
    "sqs:DeleteMessage": AIRFLOW_ITSELF,
    "sqs:GetQueueAttributes": AIRFLOW_ITSELF,
    "sqs:GetQueueUrl": AIRFLOW_ITSELF,
    "sqs:ReceiveMessage": AIRFLOW_ITSELF,
    "sqs:SendMessage": AIRFLOW_ITSELF,
    "kms:Decrypt": BUCKET_KEY,
    "kms:DescribeKey": AIRFLOW_ITSELF,
    "kms:Encrypt": AIRFLOW_ITSELF,
    "kms:GenerateDataKey": BUCKET_KEY,
}
STEPS = {
    "s3:DeleteObjectVersion": "DeleteObject with a version's id",
    "kms:Decrypt": BUCKET_KEY,
    "kms:GenerateDataKey": BUCKET_KEY,
    "s3:AbortMultipartUpload": HADOOP,
    "s3:ListMultipartUploadParts": HADOOP,
}
DEPLOY = {"kms:Decrypt": BUCKET_KEY, "kms:GenerateDataKey": BUCKET_KEY}


class Compared(NamedTuple):
    """A role: what is called as it, what it is granted, and the reasons for the rest."""

    calls: Calls
    granted: Set[str]
    reasons: Dict[str, str]
    unknown: List[Unknown]

    def faults(self) -> List[str]:
        """Calls without a grant, grants without a call or a reason, idle reasons."""
        lacking = sorted(set(self.calls) - self.granted)
        idle = sorted(self.granted - set(self.calls) - set(self.reasons))
        stale = sorted(set(self.reasons) - (self.granted - set(self.calls)))
        return [
            *(
                f"{each} is called ({self.calls[each]}) and not granted"
                for each in lacking
            ),
            *(f"{each} is granted, and nothing says what for" for each in idle),
            *(f"{each} has a reason that it does not need any more" for each in stale),
            *(
                f"{name} ({place}): say in calls.py what it calls"
                for name, place in self.unknown
            ),
        ]


def airflow() -> Compared:
    """The DAGs, as MWAA's execution role."""
    calls, unknown = calls_of(DAGS / "lake_airflow", ("emr", "s3", "sns"))
    granted = grants(load_template("mwaa"), "ExecutionRole")
    return Compared(calls, granted, AIRFLOW, unknown)


def steps() -> Compared:
    """The Spark jobs, as the role of their domain."""
    services = ("s3", "glue", "ssm", "secretsmanager")
    calls, unknown = calls_of(ROOT / "spark_jobs", services)
    lake = load_lake(DAGS / "tables")
    domains = [with_pulled_table(d) for d in lake.domains.values()]
    shop = PostgreSql("shop", "shop", "shop", tuple(lake.domains))
    environment = replace(
        load_environment("prod", DAGS / "environments"), connections=(("shop", shop),)
    )
    template = domains_template(environment, domains)
    (role,) = [
        n for n, r in template["Resources"].items() if r["Type"].endswith(":Role")
    ]
    return Compared(calls, grants(template, role), STEPS, unknown)


def with_pulled_table(domain: DomainSpec) -> DomainSpec:
    """Add a table that is pulled from the connection `shop`, as none of ours is."""
    source = Feed(
        path="shop", format=Parquet(), load_from=JdbcTable("shop", "public.orders")
    )
    about = ("pulled", domain.name, "Orders of the shop", "shop-data", source, ("id",))
    pulled = FeedTable(*about)
    return replace(domain, tables=(*domain.tables, pulled))


def deploy() -> Compared:
    """What deploys releases, as the role that GitHub has."""
    calls, unknown = calls_of(ROOT / "infra" / "lake_release", ("s3", "mwaa"))
    granted = grants(load_template("deploy"), "DeployRole")
    return Compared(calls, granted, DEPLOY, unknown)


ROLES = {"airflow": airflow, "steps": steps, "deploy": deploy}
