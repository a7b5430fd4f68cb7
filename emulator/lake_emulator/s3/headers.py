"""Which headers of an upload are kept, and the headers of a read."""

from __future__ import annotations

import re
from typing import BinaryIO, Mapping, Optional

from lake_emulator.s3.blobs import CHUNK
from lake_emulator.s3.body import CHECKSUM, crc64nvme
from lake_emulator.s3.errors import S3Error, precondition_failed
from lake_emulator.s3.index import ObjectEntry
from lake_emulator.s3.replies import http_time

KEPT = (
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-type",
    "expires",
    "x-amz-server-side-encryption",
    "x-amz-server-side-encryption-aws-kms-key-id",
    "x-amz-storage-class",
)
RANGE = re.compile(r"bytes=(\d*)-(\d*)$")


class NotModified(Exception):
    """The reader has these bytes already."""


def kept(headers: Mapping[str, str]) -> dict[str, str]:
    """Return what a later read shows of this upload."""
    found = {
        name: value
        for name, value in headers.items()
        if name in KEPT or name.startswith("x-amz-meta-")
    }
    codings = [c.strip() for c in found.pop("content-encoding", "").split(",")]
    codings = [coding for coding in codings if coding not in ("", "aws-chunked")]
    if codings:
        found["content-encoding"] = ",".join(codings)
    found.setdefault("content-type", "binary/octet-stream")
    return found


def of_read(entry: ObjectEntry, *, checksums: bool) -> dict[str, str]:
    """Return all that S3 says about an object, but for the length."""
    shown = {
        name: value
        for name, value in entry.headers.items()
        if checksums or not name.startswith(CHECKSUM)
    }
    shown["etag"] = f'"{entry.etag}"'
    shown["last-modified"] = http_time(entry.modified)
    shown["accept-ranges"] = "bytes"
    return shown


def of_marker(marker: ObjectEntry) -> dict[str, str]:
    """Return what is said of a delete marker where an object is asked for."""
    modified = {"last-modified": http_time(marker.modified)}
    return {**of_deleted(marker), **modified}


def of_deleted(gone: ObjectEntry) -> dict[str, str]:
    """Return what is said of a version that was deleted, or of the marker of a delete."""
    marked = {"x-amz-delete-marker": "true"} if gone.is_marker else {}
    return {"x-amz-version-id": gone.version, **marked}


def checksum_of(shown: Mapping[str, str], file: BinaryIO) -> dict[str, str]:
    """Return the checksum that S3 makes of an object that was put without one."""
    if any(name.startswith(CHECKSUM) for name in shown):
        return {}
    value = crc64nvme(iter(lambda: file.read(CHUNK), b""))
    return {CHECKSUM + "crc64nvme": value, CHECKSUM + "type": "FULL_OBJECT"}


def check_read_conditions(entry: ObjectEntry, headers: Mapping[str, str]) -> None:
    """Raise `NotModified` or 412 as the request's conditions demand."""
    match, none_match = headers.get("if-match"), headers.get("if-none-match")
    if match is not None and not _names(match, entry.etag):
        raise precondition_failed("If-Match")
    if none_match is not None and _names(none_match, entry.etag):
        raise NotModified


def span(header: Optional[str], size: int) -> Optional[tuple[int, int]]:
    """Return first and last byte that are asked for; nothing for the whole object."""
    found = RANGE.match(header or "")
    if not found or found.groups() == ("", ""):
        return None
    first, last = found.groups()
    if first == "":
        start, end = max(0, size - int(last)), size - 1
    else:
        start, end = int(first), min(int(last) if last else size - 1, size - 1)
    if start >= size or (first == "" and int(last) == 0):
        raise S3Error(416, "InvalidRange", "The requested range is not satisfiable")
    return (start, end) if start <= end else None


def _names(condition: str, etag: str) -> bool:
    named = [name.strip().strip('"') for name in condition.split(",")]
    return "*" in named or etag in named
