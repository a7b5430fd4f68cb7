"""Why a step failed that left no report: the exception that its log ends with.

EMR puts the log of a step on S3 some minutes after it was written, and when the
cluster ends: it may not be there yet.
"""

from __future__ import annotations

import logging
import re
import zlib
from typing import Any, Optional

from airflow.providers.amazon.aws.hooks.s3 import S3Hook
from botocore.exceptions import BotoCoreError, ClientError

from lake_airflow.redaction import masked

log = logging.getLogger(__name__)

LARGEST = 64 * 1024 * 1024  # bytes of a packed log that is read to its end
TAIL = 64 * 1024  # bytes of it that are looked at
LONGEST = 500  # characters of an exception

_CHUNK = 1024 * 1024
_LOST_TO = re.compile(r".*\b(java\.lang\.OutOfMemoryError|No space left on device)\b.*")
_EXCEPTION = re.compile(
    r"(?:Exception in thread \"[^\"]*\" |Caused by: )?"
    r"((?:(?:[a-z_][\w$]*\.)+[A-Z][\w$.]*|[A-Z]\w*(?:Error|Exception))(?:: .*)?)"
)
_CHATTER = re.compile(
    r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?:DEBUG|INFO|WARN) |\s+(?:at|File) |\s*$"
)


def last_exception(
    address: str, *, region: str, aws_conn_id: Optional[str]
) -> Optional[str]:
    """Return the last exception of a packed log on S3, masked; None if unreadable.

    S3 answers 403 for a log that is not there yet where listing is not granted.
    """
    if not address.startswith("s3://"):
        return None
    hook = S3Hook(aws_conn_id=aws_conn_id, region_name=region)
    bucket, key = hook.parse_s3_url(address)
    try:
        found = hook.conn.get_object(Bucket=bucket, Key=key)
        if found["ContentLength"] > LARGEST:
            return None
        text = _tail(found["Body"])
    except (BotoCoreError, ClientError, zlib.error) as error:
        if _may_come(error):
            log.info("%s is not there yet, or must not be read.", address)
        else:
            log.info("%s cannot be read: %s", address, error)
        return None
    exception = exception_in(text.decode("utf-8", "replace"))
    return masked(exception)[:LONGEST] if exception else None


def exception_in(text: str) -> Optional[str]:
    """Return the line of a log that best explains its end; None without one."""
    lines = [line.rstrip() for line in text.splitlines()]
    for line in reversed(lines):
        if _LOST_TO.fullmatch(line):
            return line.strip()
    for line in reversed(lines):
        if found := _EXCEPTION.fullmatch(line):
            return found.group(1)
    return next((line for line in reversed(lines) if not _CHATTER.match(line)), None)


def _may_come(error: Exception) -> bool:
    code = error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
    return code in ("NoSuchKey", "AccessDenied", "403", "404")


def _tail(body: Any) -> bytes:
    """Return the last bytes of a gzip stream, also of a truncated one."""
    unpack, tail = zlib.decompressobj(wbits=31), b""
    while packed := body.read(_CHUNK):
        while packed:
            tail = (tail + unpack.decompress(packed, _CHUNK))[-TAIL:]
            packed = unpack.unconsumed_tail
    return tail
