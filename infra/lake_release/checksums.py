"""SHA-256 of objects on S3: kept by S3 from the upload on, else of what is read."""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from typing import Any, Optional, Tuple

from botocore.exceptions import BotoCoreError, ClientError

from lake_release.errors import ReleaseError
from lake_spec.state.conditional_write import write_if_unchanged


def digest(content: bytes) -> str:
    """Return the SHA-256 of some bytes, in hex."""
    return hashlib.sha256(content).hexdigest()


def put(
    s3: Any, bucket: str, key: str, body: bytes, *, etag: Optional[str], **more: Any
) -> None:
    """Upload an object with its SHA-256, by which S3 refuses other bytes.

    Raises ReleaseError unless it is as it was seen: of this ETag, or absent for None.
    """
    where = {"Bucket": bucket, "Key": key}
    checksum = b64encode(bytes.fromhex(digest(body))).decode()

    def send(**condition: str) -> str:
        content = {"Body": body, "ChecksumSHA256": checksum, **more}
        etag: str = s3.put_object(**where, **content, **condition)["ETag"]
        return etag

    def read() -> Tuple[Optional[bytes], Optional[str]]:
        try:
            found = s3.get_object(**where)
        except s3.exceptions.NoSuchKey:
            return None, None
        return found["Body"].read(), found["ETag"]

    errors = (BotoCoreError, ClientError)
    if write_if_unchanged(body, etag, put=send, read=read, errors=errors) is None:
        raise ReleaseError(
            f"s3://{bucket}/{key} was written by somebody else at the same time, and "
            "stays as it is. Look who writes there; then run the command again."
        )


def digest_of(s3: Any, bucket: str, key: str) -> Optional[str]:
    """Return the SHA-256 of an object, in hex; None if it does not exist.

    S3 computes what it keeps from the bytes themselves. An object that was uploaded
    without one, or in parts, is read.
    """
    where = {"Bucket": bucket, "Key": key}
    try:
        kept = s3.head_object(**where, ChecksumMode="ENABLED").get("ChecksumSHA256")
    except ClientError as error:
        if error.response["Error"]["Code"] != "404":
            raise
        return None
    if kept and "-" not in kept:  # behind it: the number of parts
        return b64decode(kept).hex()
    return digest(s3.get_object(**where)["Body"].read())
