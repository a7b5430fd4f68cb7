"""Objects: what is put is what is read, with all that was said of it."""

from __future__ import annotations

import hashlib
import io

import pytest
import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError


@pytest.mark.parametrize(
    "key",
    ["a", "a/b/c.txt", "a//b", "folder/", "a b+c%20d", "ü/é=1/x", "&<>\"'", "a?b#c"],
)
def test_a_key_comes_back_as_it_was_put(s3, bucket, key):
    s3.put_object(Bucket=bucket, Key=key, Body=b"bytes")
    assert s3.get_object(Bucket=bucket, Key=key)["Body"].read() == b"bytes"
    listed = s3.list_objects_v2(Bucket=bucket)["Contents"]
    assert [entry["Key"] for entry in listed] == [key]


def test_an_etag_is_the_md5_of_the_bytes(s3, bucket):
    put = s3.put_object(Bucket=bucket, Key="k", Body=b"some bytes")
    md5 = f'"{hashlib.md5(b"some bytes").hexdigest()}"'
    assert put["ETag"] == md5
    assert s3.head_object(Bucket=bucket, Key="k")["ETag"] == md5


def test_an_etag_is_no_hash_where_kms_encrypts(s3, bucket):
    """By the upload itself, or by the bucket's settings; a copy has its own."""
    md5 = hashlib.md5(b"some bytes").hexdigest()
    kms = {"ServerSideEncryption": "aws:kms"}
    etags = [s3.put_object(Bucket=bucket, Key="k", Body=b"some bytes", **kms)["ETag"]]
    rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms"}}
    s3.put_bucket_encryption(
        Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": [rule]}
    )
    etags.append(s3.put_object(Bucket=bucket, Key="k", Body=b"some bytes")["ETag"])
    source = {"Bucket": bucket, "Key": "k"}
    copied = s3.copy_object(Bucket=bucket, Key="copy", CopySource=source)
    etags.append(copied["CopyObjectResult"]["ETag"])
    assert len({*etags, f'"{md5}"'}) == 4
    s3.upload_fileobj(io.BytesIO(bytes(9 << 20)), bucket, "big")
    assert s3.head_object(Bucket=bucket, Key="big")["ETag"].endswith('-2"')


def test_a_checksum_is_there_also_for_what_was_put_without_one(emulator, s3, bucket):
    url = s3.generate_presigned_url("put_object", {"Bucket": bucket, "Key": "k"})
    urllib3.request("PUT", url, body=b"123456789")
    head = s3.head_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED")
    assert head["ChecksumCRC64NVME"] == "rosUhgp5mIg="
    assert head["ChecksumType"] == "FULL_OBJECT"
    assert "ChecksumCRC64NVME" not in s3.head_object(Bucket=bucket, Key="k")


def test_headers_and_metadata_of_an_upload_are_kept(s3, bucket):
    said = {
        "ContentType": "text/csv",
        "CacheControl": "no-cache",
        "ContentEncoding": "gzip",
        "Metadata": {"release_id": "r1"},
    }
    s3.put_object(Bucket=bucket, Key="k", Body=b"x", **said)
    head = s3.head_object(Bucket=bucket, Key="k")
    assert {name: head[name] for name in said} == said


def test_an_overwrite_replaces_bytes_and_headers(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"long old bytes", Metadata={"a": "1"})
    s3.put_object(Bucket=bucket, Key="k", Body=b"new")
    found = s3.get_object(Bucket=bucket, Key="k")
    assert (found["Body"].read(), found["Metadata"]) == (b"new", {})


def test_a_reader_is_not_disturbed_by_an_overwrite(emulator, s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"old")
    _, reader = emulator.store.open(bucket, "k")
    s3.put_object(Bucket=bucket, Key="k", Body=b"new")
    with reader:
        assert reader.read() == b"old"


def test_an_empty_object_is_an_object(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"")
    assert s3.get_object(Bucket=bucket, Key="k")["ContentLength"] == 0


@pytest.mark.parametrize(
    "asked, got, shown",
    [
        ("bytes=0-3", b"0123", "bytes 0-3/10"),
        ("bytes=8-", b"89", "bytes 8-9/10"),
        ("bytes=-3", b"789", "bytes 7-9/10"),
        ("bytes=5-99", b"56789", "bytes 5-9/10"),
    ],
)
def test_a_range_is_read_alone(s3, bucket, asked, got, shown):
    s3.put_object(Bucket=bucket, Key="k", Body=b"0123456789")
    found = s3.get_object(Bucket=bucket, Key="k", Range=asked)
    assert (found["Body"].read(), found["ContentRange"]) == (got, shown)
    assert found["ResponseMetadata"]["HTTPStatusCode"] == 206


def test_a_range_behind_the_end_is_refused(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"x")
    code, _ = refused(lambda: s3.get_object(Bucket=bucket, Key="k", Range="bytes=5-"))
    assert code == "InvalidRange"


def test_a_missing_key_and_a_missing_bucket_are_told_apart(s3, bucket):
    code, message = refused(lambda: s3.get_object(Bucket=bucket, Key="no"))
    assert (code, message) == ("NoSuchKey", "The specified key does not exist: no")
    code, _ = refused(lambda: s3.get_object(Bucket="no-such", Key="no"))
    assert code == "NoSuchBucket"
    assert refused(lambda: s3.head_object(Bucket=bucket, Key="no"))[0] == "404"


def test_a_put_into_a_missing_bucket_is_refused(s3):
    code, _ = refused(lambda: s3.put_object(Bucket="no-such", Key="k", Body=b"x"))
    assert code == "NoSuchBucket"


def test_a_delete_is_no_error_twice(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"x")
    s3.delete_object(Bucket=bucket, Key="k")
    s3.delete_object(Bucket=bucket, Key="k")
    assert refused(lambda: s3.get_object(Bucket=bucket, Key="k"))[0] == "NoSuchKey"


def test_many_keys_are_deleted_in_one_call(s3, bucket):
    for key in ("a", "b", "c"):
        s3.put_object(Bucket=bucket, Key=key, Body=b"x")
    objects = [{"Key": "a"}, {"Key": "c"}, {"Key": "never there"}]
    reply = s3.delete_objects(Bucket=bucket, Delete={"Objects": objects})
    assert len(reply["Deleted"]) == 3
    left = s3.list_objects_v2(Bucket=bucket)["Contents"]
    assert [entry["Key"] for entry in left] == ["b"]


def test_a_deleted_objects_bytes_leave_the_disk(emulator, s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"x")
    entry = emulator.store.head(bucket, "k")
    assert emulator.store.blobs.path(entry.blob).exists()
    s3.delete_object(Bucket=bucket, Key="k")
    assert not emulator.store.blobs.path(entry.blob).exists()


def test_a_copy_keeps_bytes_and_metadata(s3, bucket):
    s3.put_object(Bucket=bucket, Key="from ü", Body=b"x", Metadata={"a": "1"})
    source = {"Bucket": bucket, "Key": "from ü"}
    s3.copy_object(Bucket=bucket, Key="to", CopySource=source)
    s3.delete_object(Bucket=bucket, Key="from ü")
    found = s3.get_object(Bucket=bucket, Key="to")
    assert (found["Body"].read(), found["Metadata"]) == (b"x", {"a": "1"})


def test_a_copy_can_replace_the_metadata(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"x", Metadata={"a": "1"})
    s3.copy_object(
        Bucket=bucket,
        Key="k",
        CopySource={"Bucket": bucket, "Key": "k"},
        MetadataDirective="REPLACE",
        Metadata={"b": "2"},
    )
    assert s3.head_object(Bucket=bucket, Key="k")["Metadata"] == {"b": "2"}


def test_a_big_file_goes_up_in_parts_and_comes_down_whole(s3, bucket):
    data = bytes(range(256)) * 80_000  # 20 MB: three parts of boto3's transfer
    s3.upload_fileobj(io.BytesIO(data), bucket, "big")
    back = io.BytesIO()
    s3.download_fileobj(bucket, "big", back)
    assert back.getvalue() == data
    assert s3.head_object(Bucket=bucket, Key="big")["ETag"].endswith('-3"')
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=bucket)


def test_an_aborted_upload_leaves_nothing(emulator, s3, bucket):
    upload = s3.create_multipart_upload(Bucket=bucket, Key="k")["UploadId"]
    where = {"Bucket": bucket, "Key": "k", "UploadId": upload}
    s3.upload_part(**where, PartNumber=1, Body=b"x")
    assert len(s3.list_parts(**where)["Parts"]) == 1
    s3.abort_multipart_upload(**where)
    assert emulator.store.index.parts(upload) == []
    assert refused(lambda: s3.list_parts(**where))[0] == "NoSuchUpload"
    assert refused(lambda: s3.get_object(Bucket=bucket, Key="k"))[0] == "NoSuchKey"


def test_a_part_can_be_copied_from_another_object(s3, bucket):
    s3.put_object(Bucket=bucket, Key="from", Body=b"0123456789")
    upload = s3.create_multipart_upload(Bucket=bucket, Key="to")["UploadId"]
    part = s3.upload_part_copy(
        Bucket=bucket,
        Key="to",
        UploadId=upload,
        PartNumber=1,
        CopySource={"Bucket": bucket, "Key": "from"},
        CopySourceRange="bytes=2-4",
    )["CopyPartResult"]
    complete(s3, bucket, "to", upload, [(1, part["ETag"])])
    assert s3.get_object(Bucket=bucket, Key="to")["Body"].read() == b"234"


def test_a_part_with_another_etag_is_refused(s3, bucket):
    upload = s3.create_multipart_upload(Bucket=bucket, Key="k")["UploadId"]
    where = {"Bucket": bucket, "Key": "k", "UploadId": upload}
    s3.upload_part(**where, PartNumber=1, Body=b"x")
    code, _ = refused(lambda: complete(s3, bucket, "k", upload, [(1, '"00"')]))
    assert code == "InvalidPart"


def test_a_small_part_before_the_last_is_refused(s3, bucket):
    upload = s3.create_multipart_upload(Bucket=bucket, Key="k")["UploadId"]
    where = {"Bucket": bucket, "Key": "k", "UploadId": upload}
    parts = [
        (n, s3.upload_part(**where, PartNumber=n, Body=b"x")["ETag"]) for n in (1, 2)
    ]
    code, _ = refused(lambda: complete(s3, bucket, "k", upload, parts))
    assert code == "EntityTooSmall"


@pytest.mark.parametrize(
    "algorithm", ["CRC32", "SHA1", "SHA256"], ids=lambda name: name.lower()
)
def test_bytes_that_do_not_match_their_checksum_are_refused(
    once, s3, bucket, algorithm
):
    wrong = {f"Checksum{algorithm}": "AAAAAA=="}
    code, _ = refused(
        lambda: once("s3").put_object(Bucket=bucket, Key="k", Body=b"x", **wrong)
    )
    assert code == "BadDigest"
    assert refused(lambda: s3.get_object(Bucket=bucket, Key="k"))[0] == "NoSuchKey"


def test_a_body_shorter_than_promised_leaves_no_object(emulator, s3, bucket):
    frames = b"5\r\nhello\r\n0\r\n\r\n"
    headers = {"Content-Encoding": "aws-chunked", "x-amz-decoded-content-length": "6"}
    asked = AWSRequest("PUT", f"{emulator.url}/{bucket}/k", headers, frames)
    SigV4Auth(Credentials("local", emulator.secret), "s3", "x-1").add_auth(asked)
    reply = urllib3.request("PUT", asked.url, body=frames, headers=dict(asked.headers))
    assert reply.status == 400
    assert b"<Code>IncompleteBody</Code>" in reply.data
    assert refused(lambda: s3.get_object(Bucket=bucket, Key="k"))[0] == "NoSuchKey"


def test_a_bucket_with_objects_is_not_deleted(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"x")
    assert refused(lambda: s3.delete_bucket(Bucket=bucket))[0] == "BucketNotEmpty"
    s3.delete_object(Bucket=bucket, Key="k")
    s3.delete_bucket(Bucket=bucket)
    assert refused(lambda: s3.list_objects_v2(Bucket=bucket))[0] == "NoSuchBucket"


@pytest.mark.parametrize(
    "call, request_",
    [
        ("get_object_tagging", {"Key": "k"}),
        ("get_object_acl", {"Key": "k"}),
    ],
)
def test_what_is_not_covered_of_s3_is_refused(s3, bucket, call, request_):
    s3.put_object(Bucket=bucket, Key="k", Body=b"x")
    code, message = refused(lambda: getattr(s3, call)(Bucket=bucket, **request_))
    assert code == "NotImplemented"
    assert message.endswith("see emulator/COVERAGE.md")


def complete(s3, bucket, key, upload, parts):
    listed = [{"PartNumber": number, "ETag": etag} for number, etag in parts]
    s3.complete_multipart_upload(
        Bucket=bucket, Key=key, UploadId=upload, MultipartUpload={"Parts": listed}
    )


def refused(call) -> tuple[str, str]:
    with pytest.raises(ClientError) as raised:
        call()
    error = raised.value.response["Error"]
    return error["Code"], error["Message"]
