"""Writes an object of S3 that several may want to write at the same moment.

S3 takes a write under a condition: that the object is as it was read, or not there. A
write whose reply is lost is sent again, by botocore too, and then refused because of
itself. So what is there is read: the same content is this write.
"""

from __future__ import annotations

import time
from typing import Any, Callable, Mapping, Optional, Tuple, Type

_OTHERS = ("PreconditionFailed", "NoSuchKey")
"""S3's error codes for an object that changed since it was read."""

_BUSY = "ConditionalRequestConflict"
"""S3's error code for a conflict with another write: send the write again."""

_TRIES, _PAUSE = 3, 1  # seconds


def write_if_unchanged(
    body: bytes,
    etag: Optional[str],
    *,
    put: Callable[..., str],
    read: Callable[[], Tuple[Optional[bytes], Optional[str]]],
    errors: Tuple[Type[Exception], ...],
) -> Optional[str]:
    """Write the object if it is unchanged since it was read.

    Args:
        body: its content; no two writers have the same one to write.
        etag: that of the object as it was read; None where there was none.
        put: sends the write with `IfMatch` or `IfNoneMatch`; gives its ETag.
        read: gives what is there and its ETag; None for both where there is nothing.
        errors: what `put` raises where S3 refuses, or where no reply comes.

    Returns:
        Its ETag now; None where somebody else wrote it.

    Raises:
        The error of `put` that says nothing of others.
    """
    condition = {"IfMatch": etag} if etag else {"IfNoneMatch": "*"}
    for tries_left in reversed(range(_TRIES)):
        try:
            return put(**condition)
        except errors as error:
            code = _code(error)
            if not _is_open(error) and code not in (*_OTHERS, _BUSY):
                raise
            there, its_etag = read()
            if there == body:
                return its_etag
            if code in _OTHERS:
                return None
            if code != _BUSY or not tries_left:
                raise
            time.sleep(_PAUSE)
    raise AssertionError("the last try returns or raises")


def _reply(error: Exception) -> Optional[Mapping[str, Any]]:
    """Return S3's response, as botocore's ClientError has it; None without one."""
    found = getattr(error, "response", None)
    return found if isinstance(found, dict) else None


def _code(error: Exception) -> str:
    reply = _reply(error)
    return reply["Error"]["Code"] if reply else ""


def _is_open(error: Exception) -> bool:
    """Return whether the write may have happened: no response, or an error of S3."""
    reply = _reply(error)
    if reply is None:
        return True
    status = reply.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= 500 or _code(error) == "InternalError"
