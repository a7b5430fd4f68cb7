"""Any key that S3 takes is put, read, listed, copied and deleted, signed, by its own name."""

from __future__ import annotations

import os
import random
from http.client import HTTPConnection
from typing import Iterator
from urllib.parse import quote, urlsplit

import pytest
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

PIECES = (
    *("a", "b=c", "/", "//", "..", ".", " ", "  ", "+", "%", "%2F", "%20", "%zz"),
    *("?", "#", "&", "=", ":", ";", ",", "'", '"', "<", ">", "\\", "|", "^", "`", "~"),
    *(
        "*",
        "[",
        "]",
        "{",
        "}",
        "(",
        ")",
        "!",
        "@",
        "$",
        "é",
        "e\u0301",
        "ß",
        "中",
        "🙂",
    ),
    *("\t", "\n", "\r", "\r\n", "\u0085", "\u2028", "\u00a0", "\ufeff", "\uffff"),
    *("\U0010ffff", "\0", "\x01", "\x1f", "\x7f"),
)
LONGEST = 1024
"""Bytes of a key."""


def random_keys(dice: random.Random, count: int) -> Iterator[str]:
    """Keys with at least one byte that a client has to write in another way."""
    for _ in range(count):
        pieces = dice.choices(PIECES, k=dice.randint(1, 12))
        key = "".join(pieces)
        if key.strip("/") not in ("", ".", ".."):
            yield key


WHOLE = [
    *(
        "/",
        "//",
        "/a",
        "a/",
        "a//b",
        " ",
        " a",
        "a ",
        "..",
        ".",
        "../a",
        "a/../b",
        "a/./b",
    ),
    *("changes/a b.csv", "region=a%2Fb c/x", "a+b", "%", "%25", "?", "a?b=c", "#", ";"),
    *("é" * 512, "a" * LONGEST, "a\U0010ffff", "\U0010ffff\U0010ffffb"),
]


def checked(s3, bucket, key):
    body = key.encode()
    where = {"Bucket": bucket, "Key": key}
    s3.put_object(**where, Body=body)
    assert s3.get_object(**where)["Body"].read() == body
    assert s3.head_object(**where)["ContentLength"] == len(body)
    for call in ("list_objects", "list_objects_v2", "list_object_versions"):
        found = getattr(s3, call)(Bucket=bucket, Prefix=key)
        name = "Versions" if call == "list_object_versions" else "Contents"
        assert key in [each["Key"] for each in found[name]], call
    link = s3.generate_presigned_url("get_object", Params=where)
    assert fetched(link) == body


def fetched(link):
    """What a link leads to, by a client that leaves `..` where it is."""
    parts = urlsplit(link)
    connection = HTTPConnection(parts.netloc)
    connection.request("GET", f"{parts.path}?{parts.query}")
    with connection.getresponse() as reply:
        return reply.read()


@pytest.mark.parametrize("key", WHOLE, ids=[ascii(key)[:20] for key in WHOLE])
def test_a_key_of_any_form_is_put_read_and_listed(s3, bucket, key):
    checked(s3, bucket, key)
    name = f"copies/{key}".encode()[:LONGEST].decode(errors="ignore")
    copied = {"Bucket": bucket, "Key": name}
    s3.copy_object(**copied, CopySource={"Bucket": bucket, "Key": key})
    assert s3.get_object(**copied)["Body"].read() == key.encode()
    upload = s3.create_multipart_upload(Bucket=bucket, Key=key)
    assert upload["Key"] == key
    listed = s3.list_multipart_uploads(Bucket=bucket)["Uploads"]
    assert [each["Key"] for each in listed] == [key]
    where = {"Bucket": bucket, "Key": key, "UploadId": upload["UploadId"]}
    etag = s3.upload_part(**where, PartNumber=1, Body=b"in parts")["ETag"]
    assert len(s3.list_parts(**where)["Parts"]) == 1
    parts = {"Parts": [{"PartNumber": 1, "ETag": etag}]}
    made = s3.complete_multipart_upload(**where, MultipartUpload=parts)
    assert made["Key"] == key
    assert s3.get_object(Bucket=bucket, Key=key)["Body"].read() == b"in parts"
    s3.delete_object(Bucket=bucket, Key=key)
    assert key not in keys_of(s3, bucket)


@pytest.mark.parametrize("prefix", ["changes/a b", "a%2Fb c+d", "ü é"])
def test_a_blank_may_come_as_a_plus_sign(emulator, s3, bucket, prefix):
    """As Hadoop's S3A and delta-rs ask for a list, which they sign with `%20`."""
    s3.put_object(Bucket=bucket, Key=f"{prefix}.csv", Body=b"1")
    signed = f"{emulator.url}/{bucket}?list-type=2&prefix={quote(prefix, safe='')}"
    asked = AWSRequest("GET", signed)
    SigV4Auth(Credentials("local", emulator.secret), "s3", "x-1").add_auth(asked)
    connection = HTTPConnection(urlsplit(emulator.url).netloc)
    path = signed.partition(emulator.url)[2].replace("%20", "+")
    connection.request("GET", path, headers=dict(asked.headers))
    with connection.getresponse() as reply:
        assert f"<Key>{prefix}.csv</Key>" in reply.read().decode()


@pytest.mark.parametrize("call", ["put_object", "create_multipart_upload"])
def test_a_key_is_no_longer_than_s3_lets_it_be(s3, bucket, call):
    key = "é" * (LONGEST // 2) + "a"
    with pytest.raises(ClientError) as refused:
        getattr(s3, call)(Bucket=bucket, Key=key)
    assert refused.value.response["Error"]["Code"] == "KeyTooLongError"


def test_a_key_that_is_no_utf_8_is_refused(emulator, bucket):
    asked = AWSRequest("GET", f"{emulator.url}/{bucket}/%FF")
    S3SigV4Auth(Credentials("local", emulator.secret), "s3", "x-1").add_auth(asked)
    connection = HTTPConnection(urlsplit(emulator.url).netloc)
    connection.request("GET", f"/{bucket}/%FF", headers=dict(asked.headers))
    with connection.getresponse() as reply:
        assert (reply.status, b"InvalidURI" in reply.read()) == (400, True)


def keys_of(s3, bucket, **asked):
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, **asked)
    return [each["Key"] for page in pages for each in page.get("Contents", ())]


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(each, marks=pytest.mark.nightly) for each in (1, 2))]
)
def test_random_keys_are_told_apart(s3, bucket, seed):
    tell_apart(s3, bucket, random.Random(seed), 60)


@pytest.mark.nightly
def test_many_random_keys_are_told_apart(s3, bucket):
    seed = int(os.environ.get("KEYS_SEED") or random.SystemRandom().randrange(10**9))
    print(f"seed {seed}; KEYS_SEED={seed} repeats it")
    tell_apart(s3, bucket, random.Random(seed), 2_000)


def tell_apart(s3, bucket, dice, count):
    keys = set(random_keys(dice, count))
    for key in keys:
        checked(s3, bucket, key)
    in_order = sorted(keys, key=str.encode)
    assert keys_of(s3, bucket) == in_order
    assert keys_of(s3, bucket, PaginationConfig={"PageSize": 7}) == in_order
    assert set(by_folder(s3, bucket)) == keys
    for key in dice.sample(in_order, 10):
        after = keys_of(s3, bucket, StartAfter=key)
        assert after == in_order[in_order.index(key) + 1 :]
    gone = {key for key in keys if dice.random() < 0.5 and fits_xml(key)}
    in_turn = sorted(gone)
    for first in range(0, len(in_turn), 1000):
        some = in_turn[first : first + 1000]
        asked = {"Objects": [{"Key": key} for key in some]}
        reply = s3.delete_objects(Bucket=bucket, Delete=asked)
        assert [each["Key"] for each in reply["Deleted"]] == some
    assert set(keys_of(s3, bucket)) == keys - gone


def fits_xml(key):
    """Whether a request to delete many can name it: some are no characters of XML."""
    return not {"\uffff", "\0", "\x01", "\x1f"} & {*key}


def by_folder(s3, bucket, prefix=""):
    """All keys, by walking through the folders."""
    pages = s3.get_paginator("list_objects_v2").paginate(
        Bucket=bucket, Prefix=prefix, Delimiter="/", PaginationConfig={"PageSize": 3}
    )
    for page in pages:
        yield from (each["Key"] for each in page.get("Contents", ()))
        for each in page.get("CommonPrefixes", ()):
            yield from by_folder(s3, bucket, each["Prefix"])
