"""Objects of the acceptance run, below `s3://bucket/folder` addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Iterator, List

from lake_infra.resource_names import Root

MOST_AT_ONCE = 1000
"""What S3 deletes by one request."""


def put(s3: Any, uri: str, name: str, body: bytes) -> None:
    """Write an object below an address."""
    root = Root.of(uri)
    s3.put_object(Bucket=root.bucket, Key=f"{root.prefix}{name}", Body=body)


def put_folder(s3: Any, folder: Path, uri: str) -> int:
    """Write every file of a folder below an address; return how many."""
    files = sorted(each for each in folder.rglob("*") if each.is_file())
    for file in files:
        put(s3, uri, file.relative_to(folder).as_posix(), file.read_bytes())
    return len(files)


def keys(s3: Any, uri: str) -> List[str]:
    """List the keys below an address, of which the address itself is left out."""
    root = Root.of(uri)
    pages = s3.get_paginator("list_objects_v2").paginate(
        Bucket=root.bucket, Prefix=root.prefix
    )
    return [
        each["Key"][len(root.prefix) :]
        for page in pages
        for each in page.get("Contents", ())
    ]


def stored(s3: Any, uri: str) -> List[Dict[str, str]]:
    """List what is stored below an address: every version where the bucket keeps any."""
    root = Root.of(uri)
    if "Status" in s3.get_bucket_versioning(Bucket=root.bucket):
        return list(_versions(s3, root))
    return [{"Key": f"{root.prefix}{name}"} for name in keys(s3, uri)]


def delete_below(s3: Any, uri: str, *, but: str = "") -> int:
    """Delete every object below an address with all of its versions, `but` one; return
    how many."""
    kept = f"{Root.of(uri).prefix}{but}"
    return _delete(s3, uri, [each for each in stored(s3, uri) if each["Key"] != kept])


def delete(s3: Any, uri: str, name: str) -> int:
    """Delete one object below an address with all of its versions."""
    key = f"{Root.of(uri).prefix}{name}"
    return _delete(s3, uri, [each for each in stored(s3, uri) if each["Key"] == key])


def _delete(s3: Any, uri: str, versions: List[Dict[str, str]]) -> int:
    bucket = Root.of(uri).bucket
    for start in range(0, len(versions), MOST_AT_ONCE):
        part = versions[start : start + MOST_AT_ONCE]
        s3.delete_objects(Bucket=bucket, Delete={"Objects": part, "Quiet": True})
    return len(versions)


def _versions(s3: Any, root: Root) -> Iterator[Dict[str, str]]:
    pages = s3.get_paginator("list_object_versions").paginate(
        Bucket=root.bucket, Prefix=root.prefix
    )
    for page in pages:
        for each in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
            yield {"Key": each["Key"], "VersionId": each["VersionId"]}
