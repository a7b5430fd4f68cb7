"""The lake's bucket in memory, for commands that read what runs left there."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import boto3
import pytest
from moto import mock_aws

from lake_local.stack import session


@pytest.fixture
def s3(monkeypatch):
    """S3 with the bucket `lake`, which commands find as if the emulator had it."""
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket="lake")

        @contextmanager
        def observed(home, specs, *, who):
            yield SimpleNamespace(aws=lambda service: client)

        monkeypatch.setattr(session, "observed", observed)
        yield client
