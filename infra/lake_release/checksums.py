"""SHA-256 of objects on S3: kept by S3 from the upload on, else of what is read."""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from typing import Any, Optional

from botocore.exceptions import ClientError


def digest(content: bytes) -> str:
    """Return the SHA-256 of some bytes, in hex."""
    return hashlib.sha256(content).hexdigest()


def put(s3: Any, bucket: str, key: str, body: bytes) -> Any:
    """Upload an object with its SHA-256, by which S3 refuses other bytes."""
    checksum = b64encode(bytes.fromhex(digest(body))).decode()
    return s3.put_object(Bucket=bucket, Key=key, Body=body, ChecksumSHA256=checksum)


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
