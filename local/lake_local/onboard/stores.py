"""Landing files of a folder or of S3: their names, and how they begin."""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Dict, Iterator, List, Protocol, Tuple

from botocore.exceptions import BotoCoreError, ClientError

HEAD_BYTES = 1 << 18
MOST_FILES = 100_000
_URL = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?")


class NoFiles(Exception):
    """A folder that is not there, cannot be read, or has no folders of files."""


class Store(Protocol):
    """A folder whose sub-folders are tables."""

    def paths(self) -> Iterator[str]:
        """The files below it."""

    def head(self, path: str) -> bytes:
        """The first bytes of a file."""

    def stream(self, path: str) -> BinaryIO:
        """The bytes of a file, to be closed. Raises OSError."""


@dataclass(frozen=True)
class LocalFolder:
    """A folder on this machine."""

    root: Path

    def __str__(self) -> str:
        return str(self.root)

    def paths(self) -> Iterator[str]:
        """The files below it, by their paths."""
        if not self.root.is_dir():
            raise NoFiles(f"{self.root}: there is no such folder.")
        for path in sorted(self.root.rglob("*")):
            if path.is_file():
                yield path.relative_to(self.root).as_posix()

    def head(self, path: str) -> bytes:
        """The first bytes of a file."""
        with (self.root / path).open("rb") as stream:
            return stream.read(HEAD_BYTES)

    def stream(self, path: str) -> BinaryIO:
        """The bytes of a file, to be closed. Raises OSError."""
        return (self.root / path).open("rb")


@dataclass(frozen=True)
class S3Folder:
    """A folder of S3; `prefix` ends with a slash, or is empty."""

    client: Any
    bucket: str
    prefix: str

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}"

    def paths(self) -> Iterator[str]:
        """The files below it, by their keys."""
        pages = self.client.get_paginator("list_objects_v2")
        try:
            for page in pages.paginate(Bucket=self.bucket, Prefix=self.prefix):
                for each in page.get("Contents", ()):
                    yield each["Key"][len(self.prefix) :]
        except (BotoCoreError, ClientError) as error:
            raise NoFiles(f"s3://{self.bucket}/{self.prefix}: {error}") from None

    def head(self, path: str) -> bytes:
        """The first bytes of an object."""
        found = self.client.get_object(
            Bucket=self.bucket,
            Key=self.prefix + path,
            Range=f"bytes=0-{HEAD_BYTES - 1}",
        )
        return found["Body"].read()

    def stream(self, path: str) -> BinaryIO:
        """The bytes of an object, to be closed. Raises OSError."""
        try:
            return self.client.get_object(Bucket=self.bucket, Key=self.prefix + path)[
                "Body"
            ]
        except (BotoCoreError, ClientError) as error:
            raise OSError(str(error)) from None


def s3_folder(client: Any, url: str) -> S3Folder:
    """The folder at an s3:// address. Raises NoFiles for what is none."""
    found = _URL.fullmatch(url)
    if not found:
        raise NoFiles(f"{url!r} is no address of a folder, such as s3://bucket/folder.")
    prefix = (found[2] or "").strip("/")
    return S3Folder(client, found[1], f"{prefix}/" if prefix else "")


SIGN = re.compile(
    r"_SUCCESS|[._]?manifest(?:[._-].*)?|.*[._-]manifest(?:[.][a-z]+)?"
    r"|.*[.](?:done|ok|complete|finished|ready|eof)",
    re.IGNORECASE,
)
"""Names that markers and manifests of complete snapshots have."""


def by_folder(store: Store) -> Dict[str, List[str]]:
    """The files of each sub-folder, by their paths in it.

    Hidden ones are left out, but for what may say that a snapshot is complete.
    """
    found: Dict[str, List[str]] = {}
    for number, path in enumerate(store.paths()):
        folder, _, rest = path.partition("/")
        *folders, name = path.split("/")
        hidden = any(part.startswith((".", "_")) for part in folders)
        hidden |= name.startswith((".", "_")) and not SIGN.fullmatch(name)
        if rest and not hidden and not rest.endswith("/"):
            found.setdefault(folder, []).append(rest)
        if number >= MOST_FILES:
            break
    return found


def unpacked(path: str, head: bytes) -> Tuple[str, bytes]:
    """The path without the ending of its compression, and the bytes inside."""
    try:
        if path.endswith(".gz"):
            return path[:-3], zlib.decompressobj(wbits=31).decompress(head)
        if path.endswith(".bz2"):
            return path[:-4], bz2.BZ2Decompressor().decompress(head)
    except (zlib.error, OSError) as error:
        raise ValueError(f"{path} cannot be unpacked: {error}") from None
    return path, head


@contextmanager
def opened(store: Store, path: str) -> Iterator[BinaryIO]:
    """The bytes of a file as they were before it was compressed.

    Raises OSError, EOFError or ValueError while they are read, if they cannot be.
    """
    with closing(store.stream(path)) as packed:
        try:
            if path.endswith(".gz"):
                with gzip.GzipFile(fileobj=packed) as plain:
                    yield plain
            elif path.endswith(".bz2"):
                with bz2.BZ2File(packed) as plain:
                    yield plain
            else:
                yield packed
        except (zlib.error, BotoCoreError) as error:
            raise OSError(str(error)) from None
