"""The bytes of an upload as they were meant: unwrapped and checked.

SDKs may wrap a body in `aws-chunked` frames with a checksum behind it. What
a client says about its bytes (length, MD5, CRC32, SHA) is checked; a body
that does not keep its word is refused and leaves nothing.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from typing import Any, BinaryIO, Callable, Iterable, Iterator, Mapping, Optional

from lake_emulator.s3.blobs import CHUNK
from lake_emulator.s3.errors import S3Error

CHECKSUM = "x-amz-checksum-"


class _Crc32:
    def __init__(self) -> None:
        self._value = 0

    def update(self, chunk: bytes) -> None:
        self._value = zlib.crc32(chunk, self._value)

    def digest(self) -> bytes:
        return self._value.to_bytes(4, "big")


DIGESTS: dict[str, Callable[[], Any]] = {
    CHECKSUM + "crc32": _Crc32,
    CHECKSUM + "sha1": lambda: hashlib.sha1(usedforsecurity=False),
    CHECKSUM + "sha256": hashlib.sha256,
    "content-md5": lambda: hashlib.md5(usedforsecurity=False),
}


def crc64nvme(chunks: Iterable[bytes]) -> str:
    """Return the checksum that S3 computes if a client sends none; some 10 MB a second."""
    value = (1 << 64) - 1
    for chunk in chunks:
        for byte in chunk:
            value = _TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    return base64.b64encode((~value & ((1 << 64) - 1)).to_bytes(8, "big")).decode()


def _entry(value: int) -> int:
    for _ in range(8):
        value = (value >> 1) ^ (0x9A6C9329AC4BC9B5 if value & 1 else 0)
    return value


_TABLE = [_entry(value) for value in range(256)]


class UploadBody:
    """Iterate it once for the bytes; afterwards `checksums` has what the client sent."""

    def __init__(
        self, stream: BinaryIO, headers: Mapping[str, str], length: Optional[int]
    ) -> None:
        self._stream = stream
        self._length = length
        self._framed = "aws-chunked" in headers.get(
            "content-encoding", ""
        ) or headers.get("x-amz-content-sha256", "").startswith("STREAMING-")
        self._expected_size = headers.get("x-amz-decoded-content-length")
        self._claims = {
            name: value
            for name, value in headers.items()
            if name == "content-md5" or name.startswith(CHECKSUM)
        }
        trailer = headers.get("x-amz-trailer", "").strip().lower()
        self._names = set(self._claims) | ({trailer} if trailer else set())

    @property
    def checksums(self) -> dict[str, str]:
        return {
            name: value
            for name, value in self._claims.items()
            if name.startswith(CHECKSUM)
            and name not in (CHECKSUM + "algorithm", CHECKSUM + "type")
        }

    def __iter__(self) -> Iterator[bytes]:
        digests = {name: DIGESTS[name]() for name in self._names if name in DIGESTS}
        size = 0
        for chunk in self._frames() if self._framed else self._plain():
            for digest in digests.values():
                digest.update(chunk)
            size += len(chunk)
            yield chunk
        self._check_size(size)
        for name, digest in digests.items():
            self._check_digest(name, digest.digest())

    def _check_size(self, size: int) -> None:
        expected = self._expected_size if self._framed else self._length
        if expected is not None and size != int(expected):
            message = f"The body has {size} bytes, its headers promised {expected}"
            raise S3Error(400, "IncompleteBody", message)

    def _check_digest(self, name: str, digest: bytes) -> None:
        claim = self._claims.get(name)
        if claim is not None and base64.b64encode(digest).decode() != claim:
            message = f"The {name} you specified did not match what we received"
            raise S3Error(400, "BadDigest", message)

    def _plain(self) -> Iterator[bytes]:
        left = self._length
        while left is None or left > 0:
            chunk = self._stream.read(CHUNK if left is None else min(CHUNK, left))
            if not chunk:
                return
            left = None if left is None else left - len(chunk)
            yield chunk

    def _frames(self) -> Iterator[bytes]:
        """Parse frames of `size[;signature]`, bytes, line end; then trailer lines."""
        while True:
            size = int(self._line().split(b";")[0] or b"0", 16)
            if size == 0:
                break
            while size > 0:
                chunk = self._stream.read(min(CHUNK, size))
                if not chunk:
                    return
                size -= len(chunk)
                yield chunk
            self._line()
        while line := self._line():
            name, _, value = line.decode("latin-1").partition(":")
            if name.lower().startswith(CHECKSUM):
                self._claims[name.lower()] = value.strip()

    def _line(self) -> bytes:
        return self._stream.readline().rstrip(b"\r\n")
