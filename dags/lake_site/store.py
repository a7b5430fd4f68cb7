"""Reads and writes the small files of a lake by their paths: on S3, or in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional, Protocol

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}


def type_of(path: str) -> str:
    """Return the content type of a file of the site."""
    return _TYPES.get(Path(path).suffix, "application/octet-stream")


class Store(Protocol):
    """Files below one root; paths have no leading slash."""

    def folders(self, path: str) -> Iterator[str]:
        """List the names of the folders in a folder, which ends with a slash."""

    def files(self, path: str) -> Iterator[str]:
        """List the paths of the files that begin with a path: a folder with its slash,
        or one and the start of a name in it."""

    def read(self, path: str) -> Optional[bytes]:
        """Return the content of a file; None if it does not exist."""

    def write(self, path: str, body: bytes) -> None:
        """Write a file, over the one before."""


class S3Store:
    """Objects below `s3://bucket/prefix`, by a client of boto3."""

    def __init__(self, client: Any, root: str) -> None:
        self._client = client
        self._bucket, _, prefix = root.removeprefix("s3://").partition("/")
        self._prefix = f"{prefix.rstrip('/')}/" if prefix else ""

    def folders(self, path: str) -> Iterator[str]:
        """List folders, a thousand a request, without the objects below them."""
        for page in self._pages(path, Delimiter="/"):
            for each in page.get("CommonPrefixes", ()):
                yield each["Prefix"].rstrip("/").rpartition("/")[2]

    def files(self, path: str) -> Iterator[str]:
        """List objects, a thousand a request."""
        for page in self._pages(path):
            for each in page.get("Contents", ()):
                yield each["Key"][len(self._prefix) :]

    def read(self, path: str) -> Optional[bytes]:
        """Return the bytes of an object; None if it does not exist."""
        try:
            found = self._client.get_object(
                Bucket=self._bucket, Key=self._prefix + path
            )
        except (
            self._client.exceptions.NoSuchKey,
            self._client.exceptions.NoSuchBucket,
        ):
            return None
        body: bytes = found["Body"].read()
        return body

    def write(self, path: str, body: bytes) -> None:
        """Write an object with its content type; browsers ask for a newer one each time."""
        self._client.put_object(
            Bucket=self._bucket,
            Key=self._prefix + path,
            Body=body,
            ContentType=type_of(path),
            CacheControl="no-cache",
        )

    def _pages(self, path: str, **more: str) -> Iterator[dict[str, Any]]:
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=self._prefix + path, **more
        )
        try:
            yield from pages
        except self._client.exceptions.NoSuchBucket:
            return


class FolderStore:
    """Files below a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def folders(self, path: str) -> Iterator[str]:
        """List the folders in a folder by name."""
        folder = self._root / path
        if folder.is_dir():
            yield from sorted(each.name for each in folder.iterdir() if each.is_dir())

    def files(self, path: str) -> Iterator[str]:
        """List the files by path."""
        folder = self._root / path.rpartition("/")[0]
        for each in sorted(folder.rglob("*")):
            found = each.relative_to(self._root).as_posix()
            if found.startswith(path) and each.is_file():
                yield found

    def read(self, path: str) -> Optional[bytes]:
        """Return the bytes of a file; None if it does not exist."""
        try:
            return (self._root / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def write(self, path: str, body: bytes) -> None:
        """Write a file and the folders that it lies in."""
        file = self._root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
