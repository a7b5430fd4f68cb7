"""A bucket that keeps versions: nothing is lost by a write or a delete, until it is told so."""

from __future__ import annotations

import random
import sqlite3
from collections import defaultdict

import pytest
from botocore.exceptions import ClientError

from lake_emulator.s3.index import Index


def by_night(*values):
    return [pytest.param(each, marks=pytest.mark.nightly) for each in values]


@pytest.fixture
def versioned(s3, bucket):
    set_to(s3, bucket, "Enabled")
    return bucket


def set_to(s3, bucket, status):
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": status})


def put(s3, bucket, key, body):
    return s3.put_object(Bucket=bucket, Key=key, Body=body)["VersionId"]


def read(s3, bucket, key, **version):
    return s3.get_object(Bucket=bucket, Key=key, **version)["Body"].read()


def listed(s3, bucket, size=1000, **asked):
    """Key, version, whether it is the newest, whether it is a marker: page by page."""
    pages = s3.get_paginator("list_object_versions").paginate(
        Bucket=bucket, PaginationConfig={"PageSize": size}, **asked
    )
    found = []
    for page in pages:
        for name in ("Versions", "DeleteMarkers"):
            found += [
                (v["Key"], v["VersionId"], v["IsLatest"], name == "DeleteMarkers")
                for v in page.get(name, ())
            ]
        found += [each["Prefix"] for each in page.get("CommonPrefixes", ())]
    return found


def refused(call, **asked):
    with pytest.raises(ClientError) as raised:
        call(**asked)
    reply = raised.value.response
    return reply["Error"]["Code"], reply["ResponseMetadata"]["HTTPHeaders"]


def test_an_overwrite_and_a_delete_keep_what_was_there(s3, versioned):
    first = put(s3, versioned, "k", b"1")
    second = put(s3, versioned, "k", b"2")
    assert s3.get_bucket_versioning(Bucket=versioned)["Status"] == "Enabled"
    assert read(s3, versioned, "k") == b"2"
    assert read(s3, versioned, "k", VersionId=first) == b"1"
    gone = s3.delete_object(Bucket=versioned, Key="k")
    assert gone["DeleteMarker"] is True
    code, headers = refused(s3.get_object, Bucket=versioned, Key="k")
    assert (code, headers["x-amz-delete-marker"]) == ("NoSuchKey", "true")
    assert "Contents" not in s3.list_objects_v2(Bucket=versioned)
    assert read(s3, versioned, "k", VersionId=second) == b"2"
    assert listed(s3, versioned) == [
        ("k", second, False, False),
        ("k", first, False, False),
        ("k", gone["VersionId"], True, True),
    ]
    head = s3.head_object(Bucket=versioned, Key="k", VersionId=first)
    assert (head["VersionId"], head["ContentLength"]) == (first, 1)


def test_without_its_marker_an_object_is_there_again(s3, versioned):
    first = put(s3, versioned, "k", b"1")
    marker = s3.delete_object(Bucket=versioned, Key="k")["VersionId"]
    where = {"Bucket": versioned, "Key": "k"}
    code, headers = refused(s3.get_object, **where, VersionId=marker)
    assert (code, headers["x-amz-delete-marker"]) == ("MethodNotAllowed", "true")
    gone = s3.delete_object(**where, VersionId=marker)
    assert (gone["VersionId"], gone["DeleteMarker"]) == (marker, True)
    assert read(s3, versioned, "k") == b"1"
    assert listed(s3, versioned) == [("k", first, True, False)]


def test_a_version_that_is_deleted_is_gone_from_disk(emulator, s3, versioned):
    first = put(s3, versioned, "k", b"told to go by an erase")
    put(s3, versioned, "k", b"2")
    assert copies_on_disk(emulator) == 1
    s3.delete_object(Bucket=versioned, Key="k", VersionId=first)
    assert copies_on_disk(emulator) == 0
    code, _ = refused(s3.get_object, Bucket=versioned, Key="k", VersionId=first)
    assert code == "NoSuchVersion"
    s3.delete_object(Bucket=versioned, Key="k", VersionId=first)  # as S3: no error


def copies_on_disk(emulator):
    blobs = (emulator.home / "s3" / "objects").glob("*/*")
    return sum(b"told to go" in blob.read_bytes() for blob in blobs)


def test_the_newest_version_that_is_deleted_leaves_the_one_before(s3, versioned):
    first, second = (put(s3, versioned, "k", body) for body in (b"1", b"2"))
    s3.delete_object(Bucket=versioned, Key="k", VersionId=second)
    assert read(s3, versioned, "k") == b"1"
    assert listed(s3, versioned) == [("k", first, True, False)]


def test_versions_and_keys_are_deleted_in_one_call(s3, versioned):
    first, second = (put(s3, versioned, "k", body) for body in (b"1", b"2"))
    put(s3, versioned, "other", b"3")
    asked = [{"Key": "k", "VersionId": first}, {"Key": "other"}]
    reply = s3.delete_objects(Bucket=versioned, Delete={"Objects": asked})
    of_version, of_key = reply["Deleted"]
    assert of_version == {"Key": "k", "VersionId": first}
    assert of_key["DeleteMarker"] is True and of_key["DeleteMarkerVersionId"]
    assert listed(s3, versioned, Prefix="k") == [("k", second, True, False)]


def test_a_copy_takes_the_version_that_it_names(s3, versioned):
    first = put(s3, versioned, "k", b"1")
    put(s3, versioned, "k", b"2")
    source = {"Bucket": versioned, "Key": "k", "VersionId": first}
    made = s3.copy_object(Bucket=versioned, Key="copy", CopySource=source)
    assert made["CopySourceVersionId"] == first
    assert read(s3, versioned, "copy", VersionId=made["VersionId"]) == b"1"
    brought_back = s3.copy_object(Bucket=versioned, Key="k", CopySource=source)
    assert read(s3, versioned, "k") == b"1"
    assert brought_back["VersionId"] != first


def test_an_upload_in_parts_is_a_version(s3, versioned):
    first = put(s3, versioned, "k", b"1")
    upload = s3.create_multipart_upload(Bucket=versioned, Key="k")["UploadId"]
    where = {"Bucket": versioned, "Key": "k", "UploadId": upload}
    etag = s3.upload_part(**where, PartNumber=1, Body=b"2")["ETag"]
    parts = {"Parts": [{"PartNumber": 1, "ETag": etag}]}
    made = s3.complete_multipart_upload(**where, MultipartUpload=parts)["VersionId"]
    assert [version for _, version, _, _ in listed(s3, versioned)] == [made, first]


def test_suspended_versions_replace_the_one_without_an_id(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"0")
    set_to(s3, bucket, "Enabled")
    kept = put(s3, bucket, "k", b"1")
    assert read(s3, bucket, "k", VersionId="null") == b"0"
    set_to(s3, bucket, "Suspended")
    s3.put_object(Bucket=bucket, Key="k", Body=b"2")
    assert listed(s3, bucket) == [
        ("k", "null", True, False),
        ("k", kept, False, False),
    ]
    assert read(s3, bucket, "k", VersionId="null") == b"2"
    s3.delete_object(Bucket=bucket, Key="k")
    assert listed(s3, bucket) == [("k", kept, False, False), ("k", "null", True, True)]


def test_a_bucket_with_past_versions_is_not_empty(s3, versioned):
    first = put(s3, versioned, "k", b"1")
    marker = s3.delete_object(Bucket=versioned, Key="k")["VersionId"]
    assert refused(s3.delete_bucket, Bucket=versioned)[0] == "BucketNotEmpty"
    for version in (first, marker):
        s3.delete_object(Bucket=versioned, Key="k", VersionId=version)
    s3.delete_bucket(Bucket=versioned)


@pytest.mark.parametrize("size", [2, *by_night(1, 3, 1000)])
def test_pages_of_any_size_show_each_version_once(s3, versioned, size):
    expected = []
    for key in ("a/1", "a/2", "b", "c/1"):
        made = [put(s3, versioned, key, body) for body in (b"1", b"2", b"3")]
        expected += [(key, each, each == made[-1], False) for each in reversed(made)]
    assert listed(s3, versioned, size) == expected
    assert listed(s3, versioned, size, Prefix="a/") == expected[:6]
    assert [
        each if isinstance(each, str) else each[0]
        for each in sorted(listed(s3, versioned, size, Delimiter="/"), key=str)
    ] == ["b", "b", "b", "a/", "c/"]


@pytest.mark.parametrize("seed", [0, *by_night(1, 2)])
def test_random_work_leaves_what_a_list_of_versions_says(emulator, s3, versioned, seed):
    """Every version by a model of S3: the newest last, None for a delete marker."""
    drawn, model = random.Random(seed), defaultdict(list)
    store = emulator.store
    for _ in range(300):
        key = drawn.choice("abc")
        versions = model[key]
        kind = drawn.choice(("put", "put", "delete", "remove"))
        if kind == "put":
            body = drawn.randbytes(4)
            versions.append((store.put(versioned, key, [body]).version, body))
        elif kind == "delete":
            versions.append((store.delete(versioned, key).version, None))
        elif versions:
            gone = versions.pop(drawn.randrange(len(versions)))
            assert store.delete(versioned, key, gone[0]).version == gone[0]
    wanted = [
        (key, version, (version, body) == versions[-1], body is None)
        for key, versions in sorted(model.items())
        for version, body in reversed(versions)
    ]
    assert sorted(listed(s3, versioned, 7)) == sorted(wanted)
    for key, versions in model.items():
        if versions and versions[-1][1] is not None:
            assert read(s3, versioned, key) == versions[-1][1]
        for version, body in versions:
            if body is not None:
                assert read(s3, versioned, key, VersionId=version) == body


def test_an_index_of_an_earlier_emulator_is_read(tmp_path):
    file = tmp_path / "index.sqlite"
    with sqlite3.connect(file) as before:
        before.execute(
            "create table objects (bucket text, key text, blob text, size integer, etag"
            " text, modified integer, headers text, primary key (bucket, key))"
            " without rowid"
        )
        before.execute("insert into objects values ('b','k','x',1,'e',2,'{}')")
    before.close()
    for _ in range(2):
        index = Index(file)
        assert index.find("b", "k").version == "null"
        index.close()
