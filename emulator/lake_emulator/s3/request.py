"""An S3 request taken apart, and a reply."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import BinaryIO, Iterable, Mapping, Optional, Tuple, Union

from lake_emulator.s3.body import UploadBody
from lake_emulator.s3.errors import S3Error

LONGEST_KEY = 1024
"""Bytes of a key in UTF-8."""

Deleted = Tuple[str, Optional[str]]
"""A key that is to be deleted, and the version of it, if it is one of them."""


@dataclass(frozen=True)
class Reply:
    """Status, headers and body; bytes or an iterable of them."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Union[bytes, Iterable[bytes]] = b""


@dataclass(frozen=True)
class Request:
    """One S3 request; header names are in lower case."""

    method: str
    bucket: str
    key: str
    query: dict[str, str]
    headers: dict[str, str]
    stream: BinaryIO
    length: Optional[int]
    denied: Mapping[Deleted, str] = field(default_factory=dict)
    """Of a request to delete many: why policies refuse a key or a version of it."""

    @property
    def version(self) -> Optional[str]:
        """The version of the object that is asked for, if it is one of them."""
        return self.query.get("versionId")

    def body(self) -> UploadBody:
        return UploadBody(self.stream, self.headers, self.length)

    def read(self) -> bytes:
        return b"".join(self.body())

    def number(self, name: str, default: int) -> int:
        value = self.query.get(name, str(default))
        if not value.isdigit():
            message = f"Provided {name} not an integer or within integer range"
            raise S3Error(400, "InvalidArgument", message)
        return int(value)


def check_key(key: str) -> None:
    """Raise S3Error for a key that S3 does not take."""
    try:
        size = len(key.encode())
    except UnicodeEncodeError:
        raise S3Error(400, "InvalidURI", "Couldn't parse the specified URI.") from None
    if size > LONGEST_KEY:
        raise S3Error(400, "KeyTooLongError", "Your key is too long")
