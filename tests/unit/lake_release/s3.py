"""S3 as boto3's client sees it: requests are checked by AWS's model, replies are ours."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from datetime import datetime, timezone
from functools import lru_cache
from io import BytesIO
from types import SimpleNamespace
from typing import Any, Dict, List, Optional, Tuple

import boto3

from tests.unit.lake_release.buckets import BUCKET, REGION, WORK_BUCKET

PAGE = 10
"""Keys of a reply, fewer than S3's thousand: whoever lists must ask for the next ones."""


class S3:
    """The versions of every object, the newest last; None where it was deleted."""

    def __init__(self) -> None:
        self.versions: Dict[Tuple[str, str], List[Optional[Dict[str, Any]]]] = {}
        self.read: List[str] = []  # keys whose content was asked for

    def answer(self, operation: str, asked: Dict[str, Any]) -> tuple:
        """The reply to a request, as a client's event `before-call` may give it."""
        if asked["Bucket"] not in (BUCKET, WORK_BUCKET):
            return _error(404, "NoSuchBucket")
        if operation == "ListObjectsV2":
            return self._list(asked)
        versions = self.versions.setdefault((asked["Bucket"], asked["Key"]), [None])
        return getattr(self, f"_{operation[:-len('Object')].lower()}")(asked, versions)

    def _put(self, asked: Dict[str, Any], versions: list) -> tuple:
        there = versions[-1]
        if "IfMatch" in asked and there is None:
            return _error(404, "NoSuchKey")
        if "IfMatch" in asked and asked["IfMatch"] != there["ETag"]:
            return _error(412, "PreconditionFailed")
        if "IfNoneMatch" in asked and there is not None:
            return _error(412, "PreconditionFailed")
        content = asked["Body"]
        checksum = asked.get("ChecksumSHA256")
        if checksum not in (None, b64encode(hashlib.sha256(content).digest()).decode()):
            return _error(400, "BadDigest")
        made = {
            "ETag": f'"{hashlib.md5(content).hexdigest()}"',
            "VersionId": f"v{len(versions)}",
        }
        now = datetime.now(timezone.utc).replace(microsecond=0)
        kept = {"LastModified": now, "Content": content, "Checksum": checksum}
        kept["Metadata"] = asked.get("Metadata", {})
        versions.append({**made, **kept})
        return _reply(made)

    def _delete(self, asked: Dict[str, Any], versions: list) -> tuple:
        etag = (versions[-1] or {}).get("ETag")
        if asked.get("IfMatch", etag) != etag:
            return _error(412, "PreconditionFailed")
        versions.append(None)
        return _reply({})

    def _get(self, asked: Dict[str, Any], versions: list) -> tuple:
        wanted = asked.get("VersionId")
        found = [each for each in versions if each and each["VersionId"] == wanted]
        there = found[0] if found else versions[-1]
        if there is None or (wanted and not found):
            return _error(404, "NoSuchVersion" if wanted else "NoSuchKey")
        self.read.append(asked["Key"])
        size = len(there["Content"])
        body = BytesIO(there["Content"])
        return _reply({**there, "Body": body, "ContentLength": size})

    def _head(self, asked: Dict[str, Any], versions: list) -> tuple:
        if versions[-1] is None:
            return _error(404, "404")  # a HEAD has no body that could name the error
        status, found = self._get(asked, versions)
        self.read.pop()
        checksum = found["Checksum"] if asked.get("ChecksumMode") == "ENABLED" else None
        del found["Body"]
        return status, {**found, **({"ChecksumSHA256": checksum} if checksum else {})}

    def _list(self, asked: Dict[str, Any]) -> tuple:
        after = asked.get("ContinuationToken", "")
        found = sorted(
            (key, versions[-1])
            for (bucket, key), versions in self.versions.items()
            if bucket == asked["Bucket"] and versions[-1]
            if key.startswith(asked.get("Prefix", "")) and key > after
        )
        reply: Dict[str, Any] = {"IsTruncated": len(found) > PAGE}
        if reply["IsTruncated"]:
            reply["NextContinuationToken"] = found[PAGE - 1][0]
        listed = [
            {"Key": key, "Size": len(there["Content"]), **there}
            for key, there in found[:PAGE]
        ]
        return _reply({**reply, **({"Contents": listed} if listed else {})})


def client_of(s3: S3) -> Any:
    """The client of all tests, which asks this one from now on."""
    client, asked = _client()
    asked.clear()
    asked.append(s3)
    return client


@lru_cache(maxsize=None)
def _client() -> Tuple[Any, List[S3]]:
    """Making one takes longer than a deploy's calls."""
    client, of_now = boto3.client("s3", region_name=REGION), []
    wanted: Dict[str, Any] = {}

    def note(params: Dict[str, Any], **_: Any) -> None:
        wanted.clear()
        wanted.update(params)

    def answer(model: Any, **_: Any) -> tuple:
        return of_now[0].answer(model.name, dict(wanted))

    client.meta.events.register("provide-client-params.s3.*", note)
    client.meta.events.register("before-call.s3.*", answer)
    return client, of_now


def _reply(content: Dict[str, Any]) -> tuple:
    return SimpleNamespace(status_code=200), content


def _error(status: int, code: str) -> tuple:
    error = {"Error": {"Code": code, "Message": "refused"}}
    return SimpleNamespace(status_code=status), {
        **error,
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
