"""Conditional reads and writes: the ground that leases and commits stand on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.exceptions import ClientError


def test_if_none_match_writes_what_is_not_there(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"first", IfNoneMatch="*")
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"first"


def test_if_none_match_refuses_what_is_there(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"first")
    code = refused(
        lambda: s3.put_object(Bucket=bucket, Key="k", Body=b"second", IfNoneMatch="*")
    )
    assert code == "PreconditionFailed"
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"first"


def test_of_20_writers_at_once_exactly_one_creates_the_object(s3, bucket):
    def write(number: int) -> int:
        body = str(number).encode()
        try:
            s3.put_object(Bucket=bucket, Key="k", Body=body, IfNoneMatch="*")
        except ClientError as error:
            assert error.response["Error"]["Code"] == "PreconditionFailed"
            return -1
        return number

    with ThreadPoolExecutor(20) as pool:
        winners = [n for n in pool.map(write, range(20)) if n >= 0]
    assert len(winners) == 1
    body = s3.get_object(Bucket=bucket, Key="k")["Body"].read()
    assert body == str(winners[0]).encode()


def test_of_20_writers_at_once_exactly_one_replaces_an_etag(s3, bucket):
    etag = s3.put_object(Bucket=bucket, Key="k", Body=b"start")["ETag"]

    def write(number: int) -> bool:
        try:
            s3.put_object(
                Bucket=bucket, Key="k", Body=f"n{number}".encode(), IfMatch=etag
            )
        except ClientError:
            return False
        return True

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(write, range(20))) == 1


def test_if_match_refuses_another_etag_and_a_missing_object(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"x")
    write = {"Bucket": bucket, "Body": b"y", "IfMatch": '"00"'}
    assert refused(lambda: s3.put_object(Key="k", **write)) == "PreconditionFailed"
    assert refused(lambda: s3.put_object(Key="other", **write)) == "NoSuchKey"


def test_a_refused_write_leaves_no_bytes_on_disk(emulator, s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"x")
    refused(lambda: s3.put_object(Bucket=bucket, Key="k", Body=b"y", IfNoneMatch="*"))
    assert emulator.store.blobs.sweep(emulator.store.index.blobs()) == 0


def test_a_multipart_upload_can_be_conditional(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"x")
    upload = s3.create_multipart_upload(Bucket=bucket, Key="k")["UploadId"]
    where = {"Bucket": bucket, "Key": "k", "UploadId": upload}
    etag = s3.upload_part(**where, PartNumber=1, Body=b"y")["ETag"]
    parts = {"Parts": [{"PartNumber": 1, "ETag": etag}]}
    code = refused(
        lambda: s3.complete_multipart_upload(
            **where, MultipartUpload=parts, IfNoneMatch="*"
        )
    )
    assert code == "PreconditionFailed"
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"x"


def test_a_read_can_ask_for_one_etag_or_for_any_other(s3, bucket):
    etag = s3.put_object(Bucket=bucket, Key="k", Body=b"x")["ETag"]
    assert s3.get_object(Bucket=bucket, Key="k", IfMatch=etag)["ETag"] == etag
    read = {"Bucket": bucket, "Key": "k"}
    assert refused(lambda: s3.get_object(**read, IfMatch='"0"')) == "PreconditionFailed"
    assert refused(lambda: s3.get_object(**read, IfNoneMatch=etag)) == "304"


def refused(call) -> str:
    with pytest.raises(ClientError) as raised:
        call()
    return raised.value.response["Error"]["Code"]
