"""What an erase asks of S3: nothing old is left, and the secret by its name."""

from __future__ import annotations

import boto3
import pytest
from moto import mock_aws

from lake_spark.object_store import S3Store

REGION = "eu-central-1"


@pytest.fixture
def s3(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with mock_aws():
        client = boto3.client("s3")
        where = {"LocationConstraint": REGION}
        client.create_bucket(Bucket="lake", CreateBucketConfiguration=where)
        yield client


def test_old_versions_and_marks_of_deletes_go_below_a_prefix_alone(s3):
    versioning = {"Status": "Enabled"}
    s3.put_bucket_versioning(Bucket="lake", VersioningConfiguration=versioning)
    store = S3Store()
    for name in ("a/1", "a/2", "b/1"):
        store.write(f"s3://lake/{name}", b"old")
        store.write(f"s3://lake/{name}", b"new")
    store.delete("s3://lake/a/2")
    assert store.delete_old_versions("s3://lake/a/") == 4
    found = s3.list_object_versions(Bucket="lake")
    assert "DeleteMarkers" not in found
    assert [(v["Key"], v["IsLatest"]) for v in found["Versions"]] == [
        ("a/1", True),
        ("b/1", True),
        ("b/1", False),
    ]
    assert store.read("s3://lake/a/1") == b"new"


def test_a_bucket_without_versions_has_no_old_ones(s3):
    store = S3Store()
    store.write("s3://lake/a", b"new")
    assert store.delete_old_versions("s3://lake/a") == 0
    store.delete("s3://lake/a")
    store.delete("s3://lake/a")
    assert store.list("s3://lake/") == []


def test_a_secret_is_read_by_its_name(s3):
    parameter = {"Name": "/lake/erase", "Value": "x", "Type": "SecureString"}
    boto3.client("ssm").put_parameter(**parameter)
    assert S3Store().secret("/lake/erase") == b"x"
    with pytest.raises(KeyError, match="/lake/other"):
        S3Store().secret("/lake/other")
