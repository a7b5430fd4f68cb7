"""One small JSON object on S3 that several may want to write at the same moment."""

from __future__ import annotations

import json
from typing import Any

from airflow.providers.amazon.aws.hooks.s3 import S3Hook
from botocore.exceptions import ClientError

_LOST = {"PreconditionFailed", "ConditionalRequestConflict", "NoSuchKey"}


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
        """Write it if nobody did since it was read; whether that was so."""
        condition = {"IfMatch": etag} if etag else {"IfNoneMatch": "*"}
        try:
            self.replace(content, **condition)
        except ClientError as error:
            if error.response["Error"]["Code"] not in _LOST:
                raise
            return False
        return True

    def replace(self, content: Any, **condition: str) -> None:
        """Write it, whatever is there."""
        self._client.put_object(
            Bucket=self._bucket,
            Key=self._key,
            Body=json.dumps(content, indent=1).encode(),
            ContentType="application/json",
            **condition,
        )
