"""Multipart uploads: parts on disk, joined when the upload is completed."""

from __future__ import annotations

import hashlib
import uuid
from typing import Iterable, Iterator, Optional

from lake_emulator.s3.blobs import CHUNK, read_range
from lake_emulator.s3.errors import S3Error, no_such_upload
from lake_emulator.s3.index import ObjectEntry, PartEntry, UploadEntry
from lake_emulator.s3.store import ObjectStore, now

SMALLEST_PART = 5 * 1024 * 1024


class Multipart:
    """The multipart calls of one store."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._index = store.index
        self._blobs = store.blobs

    def create(self, bucket: str, key: str, headers: dict[str, str]) -> UploadEntry:
        self._store.require_bucket(bucket)
        upload = UploadEntry(uuid.uuid4().hex, bucket, key, now(), headers)
        self._index.put_upload(upload)
        return upload

    def find(self, bucket: str, key: str, upload: str) -> UploadEntry:
        found = self._index.find_upload(upload)
        if found is None or (found.bucket, found.key) != (bucket, key):
            raise no_such_upload(upload)
        return found

    def put_part(
        self, upload: UploadEntry, number: int, chunks: Iterable[bytes]
    ) -> PartEntry:
        if not 1 <= number <= 10_000:
            message = "Part number must be an integer between 1 and 10000, inclusive"
            raise S3Error(400, "InvalidArgument", message)
        blob = self._blobs.write(chunks)
        part = PartEntry(upload.id, number, blob.name, blob.size, blob.md5, now())
        with self._index.lock:
            before = [p for p in self._index.parts(upload.id) if p.number == number]
            self._index.put_part(part)
        for old in before:
            self._blobs.remove(old.blob)
        return part

    def copy_part(
        self,
        upload: UploadEntry,
        number: int,
        source: tuple[str, str, Optional[str]],
        span: Optional[tuple[int, int]],
    ) -> PartEntry:
        """Return a part from bytes first..last of another object, or from all of it."""
        entry, file = self._store.open(*source)
        first, last = span or (0, entry.size - 1)
        return self.put_part(upload, number, read_range(file, first, last - first + 1))

    def parts(self, upload: UploadEntry) -> list[PartEntry]:
        return self._index.parts(upload.id)

    def complete(
        self,
        upload: UploadEntry,
        wanted: list[tuple[int, str]],
        *,
        if_match: Optional[str] = None,
        if_none_match: Optional[str] = None,
    ) -> ObjectEntry:
        parts = self._chosen(upload, wanted)
        blob = self._blobs.write(self._joined(parts))
        entry = ObjectEntry(
            upload.bucket,
            upload.key,
            blob.name,
            blob.size,
            self._store.etag(upload.bucket, upload.headers, _etag(parts)),
            now(),
            upload.headers,
        )
        made = self._store.commit(entry, if_match=if_match, if_none_match=if_none_match)
        self.abort(upload)
        return made

    def abort(self, upload: UploadEntry) -> None:
        with self._index.lock:
            parts = self._index.parts(upload.id)
            self._index.delete_upload(upload.id)
        for part in parts:
            self._blobs.remove(part.blob)

    def _chosen(
        self, upload: UploadEntry, wanted: list[tuple[int, str]]
    ) -> list[PartEntry]:
        numbers = [number for number, _ in wanted]
        if not wanted or numbers != sorted(set(numbers)):
            raise S3Error(400, "InvalidPartOrder", "Parts must be in ascending order")
        there = {part.number: part for part in self._index.parts(upload.id)}
        for number, etag in wanted:
            if number not in there or there[number].etag != etag.strip('"'):
                message = f"Part {number} was not uploaded or has another ETag"
                raise S3Error(400, "InvalidPart", message)
        chosen = [there[number] for number in numbers]
        if any(part.size < SMALLEST_PART for part in chosen[:-1]):
            message = "Your proposed upload is smaller than the minimum allowed size"
            raise S3Error(400, "EntityTooSmall", message)
        return chosen

    def _joined(self, parts: list[PartEntry]) -> Iterator[bytes]:
        for part in parts:
            with self._blobs.open(part.blob) as file:
                while chunk := file.read(CHUNK):
                    yield chunk


def _etag(parts: list[PartEntry]) -> str:
    md5s = b"".join(bytes.fromhex(part.etag) for part in parts)
    return f"{hashlib.md5(md5s, usedforsecurity=False).hexdigest()}-{len(parts)}"
