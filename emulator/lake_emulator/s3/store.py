"""The object store: every change is on disk when its call returns."""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from typing import BinaryIO, Callable, Iterable, Optional

from lake_emulator.s3.blobs import Blobs
from lake_emulator.s3.errors import (
    is_delete_marker,
    no_such_bucket,
    no_such_key,
    no_such_version,
    precondition_failed,
)
from lake_emulator.s3.headers import of_marker
from lake_emulator.s3.index import Index, ObjectEntry
from lake_emulator.s3.listing import Page, list_page
from lake_emulator.s3.versions import Versions


class ObjectStore:
    """Objects by bucket and key; buckets themselves are somebody else's."""

    def __init__(
        self,
        folder: Path,
        bucket_exists: Callable[[str], bool],
        uses_kms: Callable[[str], bool] = lambda bucket: False,
        versioning: Callable[[str], str] = lambda bucket: "",
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.blobs = Blobs(folder / "objects")
        self.index = Index(folder / "index.sqlite")
        self._bucket_exists = bucket_exists
        self._uses_kms = uses_kms
        self.versions = Versions(self.index, self.blobs, versioning)
        self.blobs.sweep(self.index.blobs())

    def close(self) -> None:
        self.index.close()

    def require_bucket(self, bucket: str) -> None:
        if not self._bucket_exists(bucket):
            raise no_such_bucket(bucket)

    def holds_any(self, bucket: str) -> bool:
        return self.index.holds_any(bucket)

    def head(self, bucket: str, key: str, version: Optional[str] = None) -> ObjectEntry:
        """Return what is said of an object, or of one of its versions."""
        if version is not None:
            return self._head_version(bucket, key, version)
        entry = self.index.find(bucket, key)
        if entry is None:
            self.require_bucket(bucket)
            marker = self.versions.newest(bucket, key)
            raise no_such_key(key, of_marker(marker) if marker else {})
        return entry

    def _head_version(self, bucket: str, key: str, version: str) -> ObjectEntry:
        self.require_bucket(bucket)
        entry = self.versions.find(bucket, key, version)
        if entry is None:
            raise no_such_version(version)
        if entry.is_marker:
            raise is_delete_marker(key, of_marker(entry))
        return entry

    def open(
        self, bucket: str, key: str, version: Optional[str] = None
    ) -> tuple[ObjectEntry, BinaryIO]:
        """Return the entry and its bytes; a later overwrite does not disturb the reader."""
        with self.index.lock:
            entry = self.head(bucket, key, version)
            return entry, self.blobs.open(entry.blob)

    def put(
        self,
        bucket: str,
        key: str,
        chunks: Iterable[bytes],
        *,
        headers: Optional[dict[str, str]] = None,
        if_match: Optional[str] = None,
        if_none_match: Optional[str] = None,
    ) -> ObjectEntry:
        self.require_bucket(bucket)
        blob = self.blobs.write(chunks)
        etag = self.etag(bucket, headers or {}, blob.md5)
        entry = ObjectEntry(
            bucket, key, blob.name, blob.size, etag, now(), headers or {}
        )
        return self.commit(entry, if_match=if_match, if_none_match=if_none_match)

    def etag(self, bucket: str, headers: dict[str, str], of_bytes: str) -> str:
        """Return the ETag of a new object: no hash of its bytes where KMS encrypts it.

        So the bucket's settings say, or the upload itself.
        """
        asked = headers.get("x-amz-server-side-encryption")
        is_kms = asked.startswith("aws:kms") if asked else self._uses_kms(bucket)
        if not is_kms:
            return of_bytes
        _, dash, parts = of_bytes.partition("-")
        return f"{secrets.token_hex(16)}{dash}{parts}"

    def commit(
        self,
        entry: ObjectEntry,
        *,
        if_match: Optional[str] = None,
        if_none_match: Optional[str] = None,
    ) -> ObjectEntry:
        """Name the entry's blob; if a condition fails, forget the blob instead."""
        with self.index.lock:
            before = self.index.find(entry.bucket, entry.key)
            try:
                _check_conditions(entry, before, if_match, if_none_match)
                return self.versions.put(entry)
            except BaseException:
                self.blobs.remove(entry.blob)
                raise

    def copy(
        self,
        source: tuple[str, str, Optional[str]],
        bucket: str,
        key: str,
        *,
        headers: Optional[dict[str, str]] = None,
        if_none_match: Optional[str] = None,
    ) -> ObjectEntry:
        """Return the same bytes under another name; the source's headers if none given."""
        self.require_bucket(bucket)
        with self.index.lock:
            found = self.head(*source)
            blob = self.blobs.link(found.blob)
        kept = found.headers if headers is None else headers
        etag = self.etag(bucket, kept, found.etag)
        entry = ObjectEntry(bucket, key, blob, found.size, etag, now(), kept)
        return self.commit(entry, if_none_match=if_none_match)

    def delete(
        self, bucket: str, key: str, version: Optional[str] = None
    ) -> Optional[ObjectEntry]:
        """Delete an object or one version; one that does not exist is no error, as on S3.

        Return the delete marker that was made, or the version that is gone.
        """
        self.require_bucket(bucket)
        if version is not None:
            return self.versions.remove(bucket, key, version)
        return self.versions.delete(bucket, key)

    def list(
        self,
        bucket: str,
        *,
        prefix: str = "",
        delimiter: str = "",
        marker: str = "",
        limit: int = 1000,
    ) -> Page:
        self.require_bucket(bucket)
        return list_page(
            self.index,
            bucket,
            prefix=prefix,
            delimiter=delimiter,
            marker=marker,
            limit=limit,
        )


def now() -> int:
    """Return milliseconds since 1970."""
    return int(time.time() * 1000)


def _check_conditions(
    entry: ObjectEntry,
    before: Optional[ObjectEntry],
    if_match: Optional[str],
    if_none_match: Optional[str],
) -> None:
    if if_match is not None:
        if before is None:
            raise no_such_key(entry.key)
        if if_match.strip('"') != before.etag:
            raise precondition_failed("If-Match")
    if if_none_match == "*" and before is not None:
        raise precondition_failed("If-None-Match")
