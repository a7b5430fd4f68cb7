"""What an erase asks of S3: nothing old is left, and the secret by its name."""

from __future__ import annotations

import hashlib
import os
import time

import boto3
import pytest
from moto import mock_aws

from lake_spark.storage import object_store
from lake_spark.storage.object_store import FolderStore, S3Store
from lake_spec.model.choices import SecretStore

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
    store = S3Store(REGION)
    for name in ("a/1", "a/2", "b/1"):
        store.write(f"s3://lake/{name}", b"old")
        store.write(f"s3://lake/{name}", b"new")
    store.delete("s3://lake/a/2")
    old = store.old_versions("s3://lake/a/")
    keys = [uri.partition("?versionId=")[0] for uri in old]
    assert keys == ["s3://lake/a/1", *["s3://lake/a/2"] * 3]
    assert store.delete_old_versions("s3://lake/a/") == 4
    found = s3.list_object_versions(Bucket="lake")
    assert "DeleteMarkers" not in found
    assert [(v["Key"], v["IsLatest"]) for v in found["Versions"]] == [
        ("a/1", True),
        ("b/1", True),
        ("b/1", False),
    ]
    assert store.old_versions("s3://lake/a/") == []
    assert store.read("s3://lake/a/1") == b"new"


def test_the_end_of_an_object_can_be_read_alone(s3):
    store = S3Store(REGION)
    store.write("s3://lake/a", b"0123456789")
    assert store.read_end("s3://lake/a", 3) == b"789"
    assert store.read("s3://lake/a", limit=3) == b"012"
    with pytest.raises(KeyError):
        store.read_end("s3://lake/none", 3)


def test_a_folders_files_are_hashed_once_until_they_change(tmp_path, monkeypatch):
    file = tmp_path / "rows.csv"
    hashed = []
    hash_of = object_store.content_hash
    monkeypatch.setattr(
        object_store, "content_hash", lambda p: hashed.append(p) or hash_of(p)
    )
    monkeypatch.setattr(object_store, "SETTLED_AFTER", -1.0)

    def etag():
        (found,) = FolderStore().list(f"file://{tmp_path}/")
        return found.etag

    file.write_bytes(b"one")
    first = etag()
    assert (etag(), hashed) == (first, [file])
    facts = file.stat()
    time.sleep(0.05)
    file.write_bytes(b"two")
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert etag() != first, "another content of the same size and time"
    file.write_bytes(b"three")
    assert etag() == hashlib.md5(b"three").hexdigest()


def test_the_hash_of_a_file_that_may_change_unseen_is_not_kept(tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr(object_store, "cached_hash", lambda *of: kept.append(of) or "")
    (tmp_path / "rows.csv").write_bytes(b"one")
    (found,) = FolderStore().list(f"file://{tmp_path}/")
    assert (found.etag, kept) == (hashlib.md5(b"one").hexdigest(), [])
    later = time.time() + object_store.SETTLED_AFTER + 1
    monkeypatch.setattr(object_store.time, "time", lambda: later)
    FolderStore().list(f"file://{tmp_path}/")
    assert len(kept) == 1


def test_the_end_of_a_file_can_be_read_alone(tmp_path):
    store = FolderStore()
    store.write(f"file://{tmp_path}/a", b"0123456789")
    assert store.read_end(f"file://{tmp_path}/a", 3) == b"789"
    assert store.read_end(f"file://{tmp_path}/a", 30) == b"0123456789"
    with pytest.raises(KeyError):
        store.read_end(f"file://{tmp_path}/none", 3)


class Answers:
    """An S3 client that lists one version a page and notes what it is to delete."""

    def __init__(self, errors=()):
        self.asked = []
        self._errors = list(errors)

    def get_bucket_versioning(self, Bucket):
        return {"Status": "Enabled"}

    def get_paginator(self, name):
        return self

    def paginate(self, Bucket, Prefix):
        found = [("DeleteMarkers", "gone", "3", True), ("Versions", "gone", "2", False)]
        found += [("Versions", "kept", "9", True), ("Versions", "kept", "8", False)]
        for kind, key, version, latest in found:
            yield {kind: [{"Key": key, "VersionId": version, "IsLatest": latest}]}

    def delete_objects(self, Bucket, Delete):
        self.asked.append([(e["Key"], e.get("VersionId")) for e in Delete["Objects"]])
        return {"Errors": self._errors}


def store_of(client, monkeypatch):
    monkeypatch.setattr(boto3, "client", lambda name, region_name: client)
    return S3Store(REGION)


@pytest.mark.parametrize("most", [1, 1000])
def test_the_mark_of_a_delete_goes_after_all_that_it_hides(most, monkeypatch):
    client = Answers()
    monkeypatch.setattr(object_store, "MOST_AT_ONCE", most)
    assert store_of(client, monkeypatch).delete_old_versions("s3://lake/") == 3
    assert [each for asked in client.asked for each in asked] == [
        ("gone", "2"),
        ("kept", "8"),
        ("gone", "3"),
    ]
    assert max(map(len, client.asked)) == min(most, 2)


def test_a_version_that_stays_is_an_error_and_no_mark_goes(monkeypatch):
    denied = {"Key": "gone", "VersionId": "2", "Code": "AccessDenied", "Message": "no"}
    client = Answers([denied])
    told = "s3://lake/gone: its old version 2 cannot be deleted \\(AccessDenied: no"
    with pytest.raises(OSError, match=told):
        store_of(client, monkeypatch).delete_old_versions("s3://lake/")
    assert len(client.asked) == 1


def test_objects_are_removed_many_by_one_request(monkeypatch):
    client = Answers()
    monkeypatch.setattr(object_store, "MOST_AT_ONCE", 2)
    store_of(client, monkeypatch).delete_all([f"s3://lake/{n}" for n in range(3)])
    assert client.asked == [[("0", None), ("1", None)], [("2", None)]]
    client = Answers([{"Key": "1", "Code": "AccessDenied", "Message": "no"}])
    told = "s3://lake/1: it cannot be deleted \\(AccessDenied: no.*s3:DeleteObject on"
    with pytest.raises(OSError, match=told):
        store_of(client, monkeypatch).delete_all(["s3://lake/1"])


def test_a_bucket_without_versions_has_no_old_ones(s3):
    store = S3Store(REGION)
    store.write("s3://lake/a", b"new")
    assert store.delete_old_versions("s3://lake/a") == 0
    assert store.old_versions("s3://lake/a") == []
    store.delete("s3://lake/a")
    store.delete("s3://lake/a")
    assert store.list("s3://lake/") == []


def test_a_secret_is_read_by_its_name(s3):
    parameter = {"Name": "/lake/erase", "Value": "x", "Type": "SecureString"}
    boto3.client("ssm").put_parameter(**parameter)
    assert S3Store(REGION).secret("/lake/erase") == b"x"
    with pytest.raises(KeyError, match="/lake/other"):
        S3Store(REGION).secret("/lake/other")


def test_a_secret_of_the_secrets_manager_is_found_by_its_name(s3):
    manager = boto3.client("secretsmanager")
    manager.create_secret(Name="lake/shop", SecretString='{"username": "ä"}')
    manager.create_secret(Name="lake/bytes", SecretBinary=b"{}")
    kept_in = SecretStore.SECRETS_MANAGER
    assert S3Store(REGION).secret("lake/shop", kept_in) == '{"username": "ä"}'.encode()
    assert S3Store(REGION).secret("lake/bytes", kept_in) == b"{}"
    with pytest.raises(KeyError, match="lake/other"):
        S3Store(REGION).secret("lake/other", kept_in)


ODD = (
    *("[ab].csv", "{a,b}.csv", "*.csv", "?.csv", "a\\b.csv", "a b .csv", " a.csv"),
    *("100%.csv", "%41.csv", "A.csv", "a%20b.csv", "a+b.csv", "h#i.csv", "l,m:n.csv"),
    *("\u00e9.csv", "e\u0301.csv", "n\nl.csv", "t\tb.csv", "x\ny/\u2028.csv"),
    *("a.csv", "a/b.csv", "a-b.csv", "\U0001f600.csv", "\ufb01.csv"),
)


def test_s3_and_a_folder_list_the_same_names_in_the_same_order(s3, tmp_path):
    places = (
        (S3Store(REGION), "s3://lake/t/"),
        (FolderStore(), f"file://{tmp_path}/t/"),
    )
    listed = []
    for store, root in places:
        for name in ODD:
            store.write(f"{root}{name}", b"x")
        listed.append([each.uri[len(root) :] for each in store.list(root)])
        assert store.read(f"{root}%41.csv") == b"x"
    assert listed[0] == listed[1] == sorted(ODD, key=str.encode)


def stores(s3, tmp_path):
    """Each kind of store, with an address in it."""
    return [
        (S3Store("eu-central-1"), "s3://lake/log/1.json"),
        (FolderStore(), f"file://{tmp_path}/log/1.json"),
    ]


def test_an_object_is_created_once_and_never_replaced(s3, tmp_path):
    for store, uri in stores(s3, tmp_path):
        assert store.create(uri, b"first") is True
        assert store.create(uri, b"second") is False
        assert store.create(uri, b"first") is True, "a reply was lost: it is ours"
        assert store.read(uri) == b"first"
        folder = uri.rpartition("/")[0]
        assert [each.uri for each in store.list(f"{folder}/")] == [uri]
