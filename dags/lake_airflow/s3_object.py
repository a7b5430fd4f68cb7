"""One small JSON object on S3 that several may want to write at the same moment."""

from __future__ import annotations

import json
import time
from typing import Any

from airflow.providers.amazon.aws.hooks.s3 import S3Hook
from botocore.exceptions import BotoCoreError, ClientError

_OTHERS = {"PreconditionFailed", "NoSuchKey"}
"""S3's words for an object that is not as it was read."""

_BUSY = "ConditionalRequestConflict"
"""S3's word for a write that meets another: it asks for the write to be sent again."""

_TRIES, _PAUSE = 3, 1  # seconds


class S3Object:
    """An object by its address; of two writers at once one gets it."""

    def __init__(self, address: str, *, region: str, aws_conn_id: str | None) -> None:
        hook = S3Hook(aws_conn_id=aws_conn_id, region_name=region)
        self.address = address
        self._bucket, self._key = hook.parse_s3_url(address)
        self._client = hook.conn

    def read(self) -> tuple[bytes | None, str | None]:
        """Its content and its ETag; None for both where there is none."""
        try:
            found = self._client.get_object(Bucket=self._bucket, Key=self._key)
        except ClientError as error:
            if error.response["Error"]["Code"] != "NoSuchKey":
                raise
            return None, None
        return found["Body"].read(), found["ETag"]

    def write(self, content: Any, etag: str | None) -> bool:
        """Write it if nobody did since it was read; whether it is written.

        A write whose reply was lost is sent again, by botocore too, and then refused
        because of itself. So what is there is read: this content is this write, where
        no two writers have the same content to write.
        """
        condition = {"IfMatch": etag} if etag else {"IfNoneMatch": "*"}
        for tries_left in reversed(range(_TRIES)):
            try:
                self.replace(content, **condition)
                return True
            except (BotoCoreError, ClientError) as error:
                code = _code(error)
                if not _is_open(error) and code not in {*_OTHERS, _BUSY}:
                    raise
                if self.read()[0] == _body(content):
                    return True
                if code in _OTHERS:
                    return False
                if code != _BUSY or not tries_left:
                    raise
                time.sleep(_PAUSE)
        raise AssertionError("the last try returns or raises")

    def replace(self, content: Any, **condition: str) -> None:
        """Write it, whatever is there."""
        self._client.put_object(
            Bucket=self._bucket,
            Key=self._key,
            Body=_body(content),
            ContentType="application/json",
            **condition,
        )


def _body(content: Any) -> bytes:
    return json.dumps(content, indent=1).encode()


def _code(error: BotoCoreError | ClientError) -> str:
    return error.response["Error"]["Code"] if isinstance(error, ClientError) else ""


def _is_open(error: BotoCoreError | ClientError) -> bool:
    """Whether the write may have been done: no reply came, or one of S3's own fault."""
    if not isinstance(error, ClientError):
        return True
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= 500 or _code(error) == "InternalError"
