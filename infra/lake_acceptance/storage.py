"""Objects of the acceptance run, by their `s3://bucket/key` addresses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

MOST_AT_ONCE = 1000
"""What S3 deletes by one request."""


def split(uri: str) -> Tuple[str, str]:
    """Return bucket and key of an address."""
    bucket, _, key = uri[len("s3://") :].partition("/")
    return bucket, key


def put(s3: Any, uri: str, body: bytes) -> None:
    """Write an object."""
    bucket, key = split(uri)
    s3.put_object(Bucket=bucket, Key=key, Body=body)


def put_folder(s3: Any, folder: Path, uri: str) -> int:
    """Write every file of a folder below an address; return how many."""
    files = sorted(each for each in folder.rglob("*") if each.is_file())
    for file in files:
        put(s3, f"{uri}/{file.relative_to(folder).as_posix()}", file.read_bytes())
    return len(files)


def read_json(s3: Any, uri: str) -> Any:
    """Return the content of an object. Raises ClientError if it is not there."""
    bucket, key = split(uri)
    return json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read())


def keys(s3: Any, uri: str) -> List[str]:
    """List the keys below an address, of which the address itself is left out."""
    bucket, prefix = split(uri)
    pages = s3.get_paginator("list_objects_v2").paginate(
        Bucket=bucket, Prefix=f"{prefix}/"
    )
    return [
        each["Key"][len(prefix) + 1 :]
        for page in pages
        for each in page.get("Contents", ())
    ]


def delete_below(s3: Any, uri: str) -> int:
    """Delete every object below an address with all of its versions; return how many."""
    bucket, prefix = split(uri)
    if "Status" in s3.get_bucket_versioning(Bucket=bucket):
        versions = list(_versions(s3, bucket, f"{prefix}/"))
    else:  # it never had any
        versions = [{"Key": f"{prefix}/{name}"} for name in keys(s3, uri)]
    for start in range(0, len(versions), MOST_AT_ONCE):
        part = versions[start : start + MOST_AT_ONCE]
        s3.delete_objects(Bucket=bucket, Delete={"Objects": part, "Quiet": True})
    return len(versions)


def _versions(s3: Any, bucket: str, prefix: str) -> Iterator[Dict[str, str]]:
    pages = s3.get_paginator("list_object_versions").paginate(
        Bucket=bucket, Prefix=prefix
    )
    for page in pages:
        for each in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
            yield {"Key": each["Key"], "VersionId": each["VersionId"]}
