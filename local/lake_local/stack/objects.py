"""Objects on the emulator's S3, by their `s3://bucket/key` addresses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Iterator

from botocore.exceptions import ClientError

from lake_local.errors import BadRequest

_URL = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(?P<key>.*))?")


def split(url: str) -> tuple[str, str]:
    """Return bucket and key of an address. Raises BadRequest for a wrong one."""
    found = _URL.fullmatch(url)
    key = (found["key"] or "") if found else ""
    if not found or ".." in key.split("/") or "//" in key:
        raise BadRequest(
            f"not an address of an object: {url!r}. Write one such as s3://bucket/key."
        )
    return found["bucket"], key


def put_file(s3: Any, file: Path, url: str) -> bool:
    """Upload a file; return False if the object has the same bytes already."""
    bucket, key = split(url)
    ensure_bucket(s3, bucket)
    body = file.read_bytes()
    if _same(s3, bucket, key, body):
        return False
    s3.put_object(Bucket=bucket, Key=key, Body=body)
    return True


def ensure_bucket(s3: Any, bucket: str) -> None:
    """Create the bucket if it does not exist."""
    try:
        s3.head_bucket(Bucket=bucket)
    except ClientError:
        region = s3.meta.region_name
        s3.create_bucket(
            Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": region}
        )


def under(s3: Any, url: str) -> Iterator[str]:
    """List the keys of all objects below an address; none without the bucket."""
    bucket, prefix = split(url)
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    try:
        for page in pages:
            yield from (each["Key"] for each in page.get("Contents", ()))
    except s3.exceptions.NoSuchBucket:
        return


def exists_under(s3: Any, url: str) -> bool:
    """Return whether there is any object below an address."""
    return next(under(s3, url), None) is not None


def read(s3: Any, url: str) -> bytes | None:
    """Return an object's bytes; None if it does not exist."""
    bucket, key = split(url)
    try:
        body: bytes = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        return body
    except (s3.exceptions.NoSuchKey, s3.exceptions.NoSuchBucket):
        return None


def read_json(s3: Any, url: str) -> Any:
    """Return an object's JSON; None if it does not exist."""
    body = read(s3, url)
    return None if body is None else json.loads(body)


def _same(s3: Any, bucket: str, key: str, body: bytes) -> bool:
    try:
        there = s3.head_object(Bucket=bucket, Key=key)
    except ClientError:
        return False
    if there["ContentLength"] != len(body):
        return False
    return bool(s3.get_object(Bucket=bucket, Key=key)["Body"].read() == body)
