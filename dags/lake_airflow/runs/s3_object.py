"""One small JSON object on S3 that several may want to write at the same moment."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from airflow.providers.amazon.aws.hooks.s3 import S3Hook
from botocore.exceptions import BotoCoreError, ClientError

from lake_spec.state.conditional_write import write_if_unchanged


class S3Object:
    """An object by its address; of two writers at once one gets it."""

    def __init__(self, address: str, *, region: str, aws_conn_id: str | None) -> None:
        hook = S3Hook(aws_conn_id=aws_conn_id, region_name=region)
        self.address = address
        self._bucket, self._key = hook.parse_s3_url(address)
        self._client = hook.conn

    def read(self) -> tuple[bytes | None, str | None]:
        """Return its content and ETag; None for both if it does not exist."""
        try:
            found = self._client.get_object(Bucket=self._bucket, Key=self._key)
        except ClientError as error:
            if error.response["Error"]["Code"] != "NoSuchKey":
                raise
            return None, None
        return found["Body"].read(), found["ETag"]

    def write(self, content: Any, etag: str | None) -> bool:
        """Write it if it is unchanged since it was read; return whether it was
        written, also if the reply was lost. No two writers have the same content
        to write."""
        written = write_if_unchanged(
            _body(content),
            etag,
            put=partial(self.replace, content),
            read=self.read,
            errors=(BotoCoreError, ClientError),
        )
        return written is not None

    def replace(self, content: Any, **condition: str) -> str:
        """Overwrite it; return its ETag."""
        done = self._client.put_object(
            Bucket=self._bucket,
            Key=self._key,
            Body=_body(content),
            ContentType="application/json",
            **condition,
        )
        etag: str = done["ETag"]
        return etag


def _body(content: Any) -> bytes:
    return json.dumps(content, indent=1).encode()
