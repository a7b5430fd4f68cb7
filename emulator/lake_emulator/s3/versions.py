"""Which versions there are of an object, in a bucket that keeps them.

The newest version is the object, if it is no delete marker; all others are past. In a
bucket that never kept any, an object has one version, `null`, which a write replaces.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from typing import Callable, Iterable, Optional

from lake_emulator.s3.blobs import Blobs
from lake_emulator.s3.index import NULL, Index, ObjectEntry

ENABLED = "Enabled"


class Versions:
    """The versions of one store; `status_of` says what a bucket is set to, or nothing."""

    def __init__(
        self, index: Index, blobs: Blobs, status_of: Callable[[str], str]
    ) -> None:
        self._index = index
        self._blobs = blobs
        self._status_of = status_of
        self._last = 0

    def are_kept(self, bucket: str) -> bool:
        """Return whether the bucket keeps versions, or did."""
        return bool(self._status_of(bucket))

    def put(self, entry: ObjectEntry) -> ObjectEntry:
        """Make an entry the newest version, and return it as it is kept."""
        with self._index.transaction():
            made = self._made(entry)
            gone = self._retire(made)
            self._index.put(made)
        self._remove_bytes(gone)
        return made

    def delete(self, bucket: str, key: str) -> Optional[ObjectEntry]:
        """Delete the object; return the marker that stands for it from now on, if any."""
        marker = self._made(ObjectEntry(bucket, key, "", 0, "", _now(), {}))
        with self._index.transaction():
            gone = self._retire(marker)
            self._index.delete(bucket, key)
            if is_kept := self.are_kept(bucket):
                self._index.put_past(marker)
        self._remove_bytes(gone)
        return marker if is_kept else None

    def remove(self, bucket: str, key: str, version: str) -> Optional[ObjectEntry]:
        """Remove one version for good; the newest of the others is the object then."""
        with self._index.transaction():
            found = self.find(bucket, key, version)
            if found is None:
                return None
            current = self._index.find(bucket, key)
            if current == found:
                self._index.delete(bucket, key)
            else:
                self._index.delete_past(found)
            if current in (found, None):
                self._bring_back(bucket, key)
        self._remove_bytes([found])
        return found

    def find(self, bucket: str, key: str, version: str) -> Optional[ObjectEntry]:
        """Return one version, which may be a delete marker."""
        current = self._index.find(bucket, key)
        there = ([current] if current else []) + self._index.past(bucket, key)
        return next((each for each in there if each.version == version), None)

    def newest(self, bucket: str, key: str) -> Optional[ObjectEntry]:
        """Return the newest of the past versions: of a deleted object its marker."""
        return next(iter(self._index.past(bucket, key)), None)

    def _made(self, entry: ObjectEntry) -> ObjectEntry:
        is_named = self._status_of(entry.bucket) == ENABLED
        with self._index.lock:
            self._last = max(self._last + 1, time.time_ns())
            version = secrets.token_urlsafe(24) if is_named else NULL
            return replace(entry, version=version, nth=self._last)

    def _retire(self, by: ObjectEntry) -> list[ObjectEntry]:
        """Keep what a newer version comes after; return what it replaces."""
        before = self._index.find(by.bucket, by.key)
        gone = []
        if before is not None and before.version == by.version:
            gone.append(before)
        elif before is not None:
            self._index.put_past(before)
        if by.version == NULL and self.are_kept(by.bucket):
            past = self._index.past(by.bucket, by.key)
            for each in (each for each in past if each.version == NULL):
                self._index.delete_past(each)
                gone.append(each)
        return gone

    def _bring_back(self, bucket: str, key: str) -> None:
        newest = self.newest(bucket, key)
        if newest is not None and not newest.is_marker:
            self._index.delete_past(newest)
            self._index.put(newest)

    def _remove_bytes(self, gone: Iterable[ObjectEntry]) -> None:
        for each in gone:
            if not each.is_marker:
                self._blobs.remove(each.blob)


def _now() -> int:
    return int(time.time() * 1000)
