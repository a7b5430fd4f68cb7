"""The bytes of objects, one file each, named by nothing but a random id.

A file is complete before the index names it, and is removed after the index
has forgotten it; what a crash leaves in between is swept at the next start.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Iterable, Iterator

CHUNK = 1024 * 1024


@dataclass(frozen=True)
class Blob:
    """A file that was just written and the MD5 of its bytes."""

    name: str
    size: int
    md5: str


class Blobs:
    """A folder of blobs in 256 subfolders."""

    def __init__(self, root: Path) -> None:
        self._root = root
        for number in range(256):
            (root / f"{number:02x}").mkdir(parents=True, exist_ok=True)

    def path(self, name: str) -> Path:
        return path_of(self._root, name)

    def write(self, chunks: Iterable[bytes]) -> Blob:
        """Write a new blob; half a file never stays behind a failed upload."""
        name = uuid.uuid4().hex
        digest, size = hashlib.md5(usedforsecurity=False), 0
        try:
            with open(self.path(name), "wb", buffering=0) as file:
                for chunk in chunks:
                    file.write(chunk)
                    digest.update(chunk)
                    size += len(chunk)
        except BaseException:
            self.remove(name)
            raise
        return Blob(name, size, digest.hexdigest())

    def link(self, name: str) -> str:
        """Return a second name for the same bytes: blobs are never changed."""
        copy = uuid.uuid4().hex
        try:
            os.link(self.path(name), self.path(copy))
        except OSError:
            shutil.copyfile(self.path(name), self.path(copy))
        return copy

    def open(self, name: str) -> BinaryIO:
        return open(self.path(name), "rb")

    def remove(self, name: str) -> None:
        self.path(name).unlink(missing_ok=True)

    def sweep(self, known: set[str]) -> int:
        """Remove the files that the index does not name; how many."""
        strays = [
            file.name
            for folder in os.scandir(self._root)
            if folder.is_dir()
            for file in os.scandir(folder.path)
            if file.name not in known
        ]
        for name in strays:
            self.remove(name)
        return len(strays)


def path_of(root: Path, name: str) -> Path:
    """Return the file of a blob, by the folder of all."""
    return root / name[:2] / name


def read_range(file: BinaryIO, start: int, length: int) -> Iterator[bytes]:
    """Return the bytes of one range, then the file is closed."""
    with file:
        file.seek(start)
        while length > 0:
            chunk = file.read(min(CHUNK, length))
            if not chunk:
                return
            length -= len(chunk)
            yield chunk
