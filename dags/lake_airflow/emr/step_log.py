"""Why a step failed that left no report: the exception that its log ends with.

EMR puts the log of a step on S3 some minutes after it was written, and when the
cluster ends: it may not be there yet. `spark-submit` in client mode writes what Python
says of an error to stdout (PythonRunner of Spark), so both logs are read.
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

_LOGS = ("stderr", "stdout")
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
    r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?:DEBUG|INFO|WARN) |\s+(?:at|File) |LAKE |\s*$"
)


def last_exception(
    address: str, *, region: str, aws_conn_id: Optional[str]
) -> Optional[str]:
    """Return the last exception of a step's packed logs on S3, masked; None without one.

    Args:
        address: that of `stderr.gz`; `stdout.gz` lies next to it.
    """
    if not address.startswith("s3://"):
        return None
    hook = S3Hook(aws_conn_id=aws_conn_id, region_name=region)
    texts = [
        _text_at(hook, f"{address.rpartition('/')[0]}/{name}.gz") for name in _LOGS
    ]
    exception = exception_in(*texts)
    return masked(exception)[:LONGEST] if exception else None


def _text_at(hook: S3Hook, address: str) -> str:
    """Return the end of a packed log; nothing if it cannot be read.

    S3 answers 403 for a log that is not there yet where listing is not granted.
    """
    bucket, key = hook.parse_s3_url(address)
    try:
        found = hook.conn.get_object(Bucket=bucket, Key=key)
        if found["ContentLength"] > LARGEST:
            return ""
        return _tail(found["Body"]).decode("utf-8", "replace")
    except (BotoCoreError, ClientError, zlib.error) as error:
        if _may_come(error):
            log.info("%s is not there yet, or must not be read.", address)
        else:
            log.info("%s cannot be read: %s", address, error)
        return ""


def exception_in(stderr: str, stdout: str = "") -> Optional[str]:
    """Return the line of the logs that best explains their end; None without one."""
    logs = [list(map(str.rstrip, text.splitlines()[::-1])) for text in (stderr, stdout)]
    lines = [line for each in logs for line in each]
    for line in lines:
        if _LOST_TO.fullmatch(line):
            return line.strip()
    for line in lines:
        if found := _EXCEPTION.fullmatch(line):
            return found.group(1)
    # Without an exception, what ended Python says more than what Java printed beside it.
    words = [line for each in reversed(logs) for line in each]
    return next((line for line in words if not _CHATTER.match(line)), None)


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
