"""Landing files of a folder or of S3: their names, and how they begin."""

from __future__ import annotations

import bz2
import gzip
import io
import re
import zlib
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Dict, Iterator, List, Protocol, Tuple, cast

from botocore.exceptions import BotoCoreError, ClientError

from lake_spec.layout.hidden_paths import is_hidden

HEAD_BYTES = 1 << 18
BUFFER_BYTES = 1 << 18
MOST_FILES = 100_000
_URL = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?")


class NoFiles(Exception):
    """A folder of landing files does not exist, cannot be read, or has no folders of files.

    Fix: Correct the path after --files; it must contain one folder with files for each
    table.
    """


class Store(Protocol):
    """A folder whose sub-folders are tables."""

    def paths(self) -> Iterator[str]:
        """Return the files below it."""

    def head(self, path: str) -> bytes:
        """Return the first bytes of a file."""

    def stream(self, path: str) -> BinaryIO:
        """Return the bytes of a file, to be closed. Raises OSError."""


@dataclass(frozen=True)
class LocalFolder:
    """A folder on this machine."""

    root: Path

    def __str__(self) -> str:
        return str(self.root)

    def paths(self) -> Iterator[str]:
        """Return the files below it, by their paths."""
        if not self.root.is_dir():
            raise NoFiles(
                f"{self.root}: no such folder. Write the path of a folder with one folder of"
                " files for each table."
            )
        for path in sorted(self.root.rglob("*")):
            if path.is_file():
                yield path.relative_to(self.root).as_posix()

    def head(self, path: str) -> bytes:
        """Return the first bytes of a file."""
        with (self.root / path).open("rb") as stream:
            return stream.read(HEAD_BYTES)

    def stream(self, path: str) -> BinaryIO:
        """Return the bytes of a file, to be closed. Raises OSError."""
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
        """Return the files below it, by their keys."""
        pages = self.client.get_paginator("list_objects_v2")
        try:
            for page in pages.paginate(Bucket=self.bucket, Prefix=self.prefix):
                for each in page.get("Contents", ()):
                    yield each["Key"][len(self.prefix) :]
        except (BotoCoreError, ClientError) as error:
            raise NoFiles(
                f"s3://{self.bucket}/{self.prefix} cannot be listed: {error}. Check the bucket's"
                " name and the AWS credentials."
            ) from None

    def head(self, path: str) -> bytes:
        """Return the first bytes of an object."""
        found = self.client.get_object(
            Bucket=self.bucket,
            Key=self.prefix + path,
            Range=f"bytes=0-{HEAD_BYTES - 1}",
        )
        head: bytes = found["Body"].read()
        return head

    def stream(self, path: str) -> BinaryIO:
        """Return the bytes of an object, to be closed. Raises OSError."""
        try:
            found = self.client.get_object(Bucket=self.bucket, Key=self.prefix + path)
            return io.BufferedReader(found["Body"], BUFFER_BYTES)
        except (BotoCoreError, ClientError) as error:
            raise OSError(str(error)) from None


def s3_folder(client: Any, url: str) -> S3Folder:
    """Return the folder at an s3:// address. Raises NoFiles for a wrong address."""
    found = _URL.fullmatch(url)
    if not found:
        raise NoFiles(f"not an address of a folder: {url!r}. Write s3://bucket/folder.")
    prefix = (found[2] or "").strip("/")
    return S3Folder(client, found[1], f"{prefix}/" if prefix else "")


SIGN = re.compile(
    r"_SUCCESS|[._]?manifest(?:[._-].*)?|.*[._-]manifest(?:[.][a-z]+)?"
    r"|.*[.](?:done|ok|complete|finished|ready|eof)",
    re.IGNORECASE,
)
"""Names that markers and manifests of complete snapshots have."""


def by_folder(store: Store) -> Dict[str, List[str]]:
    """Return the files of each sub-folder, by their paths in it.

    Hidden ones are left out, but for what may say that a snapshot is complete.
    """
    found: Dict[str, List[str]] = {}
    for number, path in enumerate(store.paths()):
        folder, _, rest = path.partition("/")
        *folders, name = path.split("/")
        hidden = is_hidden("/".join(folders))
        hidden |= is_hidden(name) and not SIGN.fullmatch(name)
        if rest and not hidden and not rest.endswith("/"):
            found.setdefault(folder, []).append(rest)
        if number >= MOST_FILES:
            break
    return found


def unpacked(path: str, head: bytes) -> Tuple[str, bytes]:
    """Return the path without the ending of its compression, and the bytes inside."""
    try:
        if path.endswith(".gz"):
            return path[:-3], zlib.decompressobj(wbits=31).decompress(head)
        if path.endswith(".bz2"):
            return path[:-4], bz2.BZ2Decompressor().decompress(head)
    except (zlib.error, OSError) as error:
        raise ValueError(
            f"{path} cannot be decompressed ({error}): replace the file"
        ) from None
    return path, head


@contextmanager
def opened(store: Store, path: str) -> Iterator[BinaryIO]:
    """Return the bytes of a file as they were before it was compressed.

    Raises OSError, EOFError or ValueError while they are read, if they cannot be.
    """
    with closing(store.stream(path)) as packed:
        try:
            if path.endswith(".gz"):
                with gzip.GzipFile(fileobj=packed) as plain:
                    yield cast(BinaryIO, plain)
            elif path.endswith(".bz2"):
                with bz2.BZ2File(packed) as unpacked:
                    yield cast(BinaryIO, unpacked)
            else:
                yield packed
        except (zlib.error, BotoCoreError) as error:
            raise OSError(str(error)) from None
