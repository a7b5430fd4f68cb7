"""Clients of the stand-in for AWS, and what it says of clusters."""

from __future__ import annotations

from typing import Any

import boto3
from botocore.config import Config

from lake_local.airflow.settings import aws_environment
from lake_local.stack.state import Stack

LIVE = ("STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING", "TERMINATING")
_CONFIG = Config(
    retries={"max_attempts": 2},
    connect_timeout=5,
    read_timeout=60,
    proxies={},
    s3={"addressing_style": "path"},
)


def client(service: str, stack: Stack, region: str) -> Any:
    """A boto3 client that can only reach the stand-in."""
    keys = aws_environment(stack.aws_url, region, stack.aws_secret)
    return boto3.client(
        service,
        endpoint_url=stack.aws_url,
        region_name=region,
        aws_access_key_id=keys["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=keys["AWS_SECRET_ACCESS_KEY"],
        config=_CONFIG,
    )


def live(emr: Any) -> list[dict[str, Any]]:
    """Clusters that are not ended: id, name and state."""
    pages = emr.get_paginator("list_clusters").paginate(ClusterStates=list(LIVE))
    return [each for page in pages for each in page["Clusters"]]


def end_all(emr: Any) -> list[str]:
    """Terminate every live cluster, with its steps; their ids."""
    ids = [each["Id"] for each in live(emr)]
    for each in ids:
        emr.set_termination_protection(JobFlowIds=[each], TerminationProtected=False)
        emr.terminate_job_flows(JobFlowIds=[each])
    return ids
