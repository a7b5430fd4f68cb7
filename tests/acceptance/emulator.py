"""An emulator in this process, which its clients of AWS use as they would use AWS."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import boto3
from lake_local.aws import DEFAULT_REGION
from lake_local.aws.keys import KEY_ID
from lake_local.aws.server import StandIn
from lake_local.stack.objects import ensure_bucket

SECRET = "/lake/local/erase"
"""The erase secret of dags/environments/local.yml."""


@contextmanager
def emulator(folder: Path) -> Iterator[StandIn]:
    """An emulator that this process's clients use, with the buckets of `local`."""
    served = StandIn(folder / "aws")
    settings = {
        "AWS_ENDPOINT_URL": served.url,
        "AWS_ACCESS_KEY_ID": KEY_ID,
        "AWS_SECRET_ACCESS_KEY": served.secret,
        "AIRFLOW_HOME": str(folder / "airflow"),
    }
    before = dict(os.environ)
    os.environ.update(settings)
    served.start()
    try:
        ensure_bucket(boto3.client("s3", region_name=DEFAULT_REGION), "lake")
        ssm = boto3.client("ssm", region_name=DEFAULT_REGION)
        ssm.put_parameter(Name=SECRET, Value="x" * 32, Type="SecureString")
        yield served
    finally:
        served.stop()
        os.environ.clear()
        os.environ.update(before)
