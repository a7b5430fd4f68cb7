"""Objects below a root: on S3 in production, in a folder for tests."""

from __future__ import annotations

import base64
import hashlib
import os
import time
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Protocol, Sequence, Tuple
from urllib.parse import urlparse

from lake_spec.model.choices import SecretStore
from lake_spec.state.checksums import ALGORITHMS, s3_checksum
from lake_spec.state.conditional_write import write_if_unchanged

MOST_AT_ONCE = 1000
"""What S3 deletes by one request."""

MOST_READ = 64 << 20
"""Bytes of an object that is read for its checksum where S3 keeps none of the whole."""


@dataclass(frozen=True)
class StoredObject:
    """One object: its full URI and what distinguishes its content."""

    uri: str
    etag: str
    size: int
    modified: datetime


class ObjectStore(Protocol):
    """What stages need of a store of objects."""

    def list(self, prefix: str) -> List[StoredObject]:
        """List every object whose URI begins with the prefix, in the order of names."""

    def read(self, uri: str, *, limit: Optional[int] = None) -> bytes:
        """Read an object's bytes, the first `limit` if given; raise KeyError if absent."""

    def read_end(self, uri: str, length: int) -> bytes:
        """Read an object's last bytes; raise KeyError if absent."""

    def checksum(self, found: StoredObject) -> Optional[str]:
        """Return `<algorithm>:<checksum>` of a content, as long as it is what was found.

        None where it is not, or where nobody can know at little cost.
        """

    def write(self, uri: str, content: bytes) -> None:
        """Put an object, replacing one of that name."""

    def create(self, uri: str, content: bytes) -> bool:
        """Put an object unless there is one; return whether this content is there now."""

    def delete(self, uri: str) -> None:
        """Remove an object, if it is there."""

    def delete_all(self, uris: Sequence[str]) -> None:
        """Remove objects, a thousand by one request where the store can."""

    def old_versions(self, prefix: str) -> List[str]:
        """List what a store with versions keeps of replaced and deleted objects."""

    def delete_old_versions(self, prefix: str) -> int:
        """Remove what a store with versions keeps of replaced and deleted objects."""

    def secret(self, name: str, kept_in: SecretStore = SecretStore.SSM) -> bytes:
        """Return the value of a secret; raise KeyError if it does not exist."""


class S3Store:
    """Objects on S3 in a region, through boto3's own endpoint and credentials."""

    def __init__(self, region: str) -> None:
        import boto3

        self._region = region
        self._s3 = boto3.client("s3", region_name=region)

    def list(self, prefix: str) -> List[StoredObject]:
        """List every object whose URI begins with the prefix, in the order of names."""
        bucket, key = split_uri(prefix)
        pages = self._s3.get_paginator("list_objects_v2").paginate(
            Bucket=bucket, Prefix=key
        )
        return list(self._objects(bucket, pages))

    @staticmethod
    def _objects(
        bucket: str, pages: Iterator[Dict[str, Any]]
    ) -> Iterator[StoredObject]:
        for page in pages:
            for entry in page.get("Contents", ()):
                yield StoredObject(
                    uri=f"s3://{bucket}/{entry['Key']}",
                    etag=entry["ETag"].strip('"'),
                    size=entry["Size"],
                    modified=entry["LastModified"].astimezone(timezone.utc),
                )

    def read(self, uri: str, *, limit: Optional[int] = None) -> bytes:
        """Read an object's bytes, the first `limit` if given; raise KeyError if absent."""
        return self._get(uri, None if limit is None else f"0-{limit - 1}")

    def read_end(self, uri: str, length: int) -> bytes:
        """Read an object's last bytes; raise KeyError if absent."""
        return self._get(uri, f"-{length}")

    def _get(self, uri: str, part: Optional[str]) -> bytes:
        bucket, key = split_uri(uri)
        extra = {} if part is None else {"Range": f"bytes={part}"}
        try:
            answer = self._s3.get_object(Bucket=bucket, Key=key, **extra)
        except self._s3.exceptions.NoSuchKey:
            raise KeyError(uri) from None
        content: bytes = answer["Body"].read()
        return content

    def checksum(self, found: StoredObject) -> Optional[str]:
        """Return S3's own checksum of the whole object.

        Where it has none, that of its bytes.
        """
        from botocore.exceptions import ClientError

        bucket, key = split_uri(found.uri)
        try:
            facts = self._s3.head_object(Bucket=bucket, Key=key, ChecksumMode="ENABLED")
        except ClientError as error:
            if error.response["Error"]["Code"] != "404":
                raise
            return None
        if facts["ETag"].strip('"') != found.etag:
            return None
        # Of the headers: botocore leaves out what it is too old to know.
        said = facts["ResponseMetadata"]["HTTPHeaders"]
        for algorithm in ALGORITHMS:
            value = said.get(f"x-amz-checksum-{algorithm.lower()}", "-")
            if "-" not in value:  # else it is one of the parts' checksums
                return f"{algorithm}:{value}"
        if found.size > MOST_READ:
            return None
        return f"SHA256:{s3_checksum('SHA256', self.read(found.uri))}"

    def write(self, uri: str, content: bytes) -> None:
        """Put an object, replacing one of that name."""
        bucket, key = split_uri(uri)
        self._s3.put_object(Bucket=bucket, Key=key, Body=content)

    def create(self, uri: str, content: bytes) -> bool:
        """Put an object unless there is one; return whether this content is there now."""
        from botocore.exceptions import BotoCoreError, ClientError

        bucket, key = split_uri(uri)

        def put(**condition: str) -> str:
            answer = self._s3.put_object(
                Bucket=bucket, Key=key, Body=content, **condition
            )
            etag: str = answer["ETag"]
            return etag

        def read() -> Tuple[Optional[bytes], Optional[str]]:
            try:
                return self.read(uri), ""
            except KeyError:
                return None, None

        errors = (BotoCoreError, ClientError)
        written = write_if_unchanged(content, None, put=put, read=read, errors=errors)
        return written is not None

    def delete(self, uri: str) -> None:
        """Remove an object, if it is there."""
        bucket, key = split_uri(uri)
        self._s3.delete_object(Bucket=bucket, Key=key)

    def delete_all(self, uris: Sequence[str]) -> None:
        """Remove objects of one bucket; raise OSError if one of them stays."""
        places = [split_uri(uri) for uri in uris]
        for bucket in {bucket for bucket, _ in places}:
            keys = [{"Key": key} for of, key in places if of == bucket]
            self._delete_at_once(bucket, keys, "s3:DeleteObject")

    def old_versions(self, prefix: str) -> List[str]:
        """List replaced and deleted versions, where the bucket keeps any, by their URIs.

        Marks of deletes are among them: one is removed after what it hides.
        """
        bucket, _ = split_uri(prefix)
        old, marks = self._old_versions(prefix)
        return [
            f"s3://{bucket}/{e['Key']}?versionId={e['VersionId']}" for e in old + marks
        ]

    def delete_old_versions(self, prefix: str) -> int:
        """Remove replaced and deleted versions, where the bucket keeps any.

        Return how many.
        """
        bucket, _ = split_uri(prefix)
        old, marks = self._old_versions(prefix)
        # Without its mark a deleted object would be there again, in its old content.
        self._delete_at_once(bucket, old, "s3:DeleteObjectVersion")
        self._delete_at_once(bucket, marks, "s3:DeleteObjectVersion")
        return len(old) + len(marks)

    def _old_versions(self, prefix: str) -> Tuple[List[Dict[str, str]], ...]:
        """Return keys and ids of old versions, and of marks of deletes.

        All are listed before the first goes: what a page says must not move.
        """
        bucket, key = split_uri(prefix)
        if "Status" not in self._s3.get_bucket_versioning(Bucket=bucket):
            return [], []
        pages = self._s3.get_paginator("list_object_versions").paginate(
            Bucket=bucket, Prefix=key
        )
        old: List[Dict[str, str]] = []
        marks: List[Dict[str, str]] = []
        for page in pages:
            old += [_version(e) for e in page.get("Versions", ()) if _is_old(e)]
            marks += [_version(each) for each in page.get("DeleteMarkers", ())]
        return old, marks

    def _delete_at_once(
        self, bucket: str, objects: List[Dict[str, str]], right: str
    ) -> None:
        """Delete objects, or versions of them; raise OSError if one of them stays."""
        for first in range(0, len(objects), MOST_AT_ONCE):
            some = objects[first : first + MOST_AT_ONCE]
            asked = {"Objects": some, "Quiet": True}
            answer = self._s3.delete_objects(Bucket=bucket, Delete=asked)
            for each in answer.get("Errors", ()):
                version = each.get("VersionId")
                what = f"its old version {version}" if version else "it"
                raise OSError(
                    f"s3://{bucket}/{each['Key']}: {what} cannot be deleted "
                    f"({each['Code']}: {each['Message']}). Grant the role {right} on it, "
                    "and run again."
                )

    def secret(self, name: str, kept_in: SecretStore = SecretStore.SSM) -> bytes:
        """Return the value of a parameter of SSM or of a secret.

        Raise KeyError if it does not exist.
        """
        import boto3

        if kept_in is SecretStore.SECRETS_MANAGER:
            manager = boto3.client("secretsmanager", region_name=self._region)
            return self._managed_secret(manager, name)
        ssm = boto3.client("ssm", region_name=self._region)
        try:
            found = ssm.get_parameter(Name=name, WithDecryption=True)
        except ssm.exceptions.ParameterNotFound:
            raise KeyError(name) from None
        text: str = found["Parameter"]["Value"]
        return text.encode()

    @staticmethod
    def _managed_secret(manager: Any, name: str) -> bytes:
        try:
            found = manager.get_secret_value(SecretId=name)
        except manager.exceptions.ResourceNotFoundException:
            raise KeyError(name) from None
        text: Optional[str] = found.get("SecretString")
        content: bytes = found["SecretBinary"] if text is None else text.encode()
        return content


def _is_old(version: Dict[str, Any]) -> bool:
    """Return whether it is not what a reader gets."""
    return not version["IsLatest"]


def _version(each: Dict[str, Any]) -> Dict[str, str]:
    return {"Key": each["Key"], "VersionId": each["VersionId"]}


class FolderStore:
    """Objects as files of a folder; the ETag is a hash of the content."""

    def list(self, prefix: str) -> List[StoredObject]:
        """List every file whose name begins with the prefix, in the order of names."""
        start = prefix[len("file://") :]
        found = Path(start.rpartition("/")[0]).rglob("*")
        names = [str(each) for each in found if each.is_file()]
        # By the bytes of the whole name, as S3 lists: `a.csv` before `a/b.csv`.
        wanted = sorted(
            filter(lambda name: name.startswith(start), names), key=os.fsencode
        )
        return [self._object(Path(name)) for name in wanted]

    @staticmethod
    def _object(path: Path) -> StoredObject:
        facts = path.stat()
        return StoredObject(
            uri=f"file://{path}",
            etag=file_etag(path, facts),
            size=facts.st_size,
            modified=datetime.fromtimestamp(facts.st_mtime, timezone.utc),
        )

    def read(self, uri: str, *, limit: Optional[int] = None) -> bytes:
        """Read a file's bytes, the first `limit` if given; raise KeyError if absent."""
        path = _file(uri)
        if not path.is_file():
            raise KeyError(uri)
        with path.open("rb") as stream:
            return stream.read(-1 if limit is None else limit)

    def read_end(self, uri: str, length: int) -> bytes:
        """Read a file's last bytes; raise KeyError if absent."""
        path = _file(uri)
        if not path.is_file():
            raise KeyError(uri)
        with path.open("rb") as stream:
            end = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, end - length))
            return stream.read(length)

    def checksum(self, found: StoredObject) -> Optional[str]:
        """Return the SHA-256 of a file's bytes."""
        digest = hashlib.sha256()
        try:
            with _file(found.uri).open("rb") as stream:
                for chunk in iter(lambda: stream.read(1 << 20), b""):
                    digest.update(chunk)
        except FileNotFoundError:
            return None
        return f"SHA256:{base64.b64encode(digest.digest()).decode()}"

    def write(self, uri: str, content: bytes) -> None:
        """Write a file, replacing one of that name."""
        path = _file(uri)
        path.parent.mkdir(parents=True, exist_ok=True)
        # All of it or nothing is there at any moment, as on S3.
        part = path.with_name(f".{path.name}.part")
        part.write_bytes(content)
        part.replace(path)

    def create(self, uri: str, content: bytes) -> bool:
        """Write a file unless there is one; return whether this content is there now."""
        path = _file(uri)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
        part.write_bytes(content)
        try:
            os.link(part, path)
        except FileExistsError:
            return path.read_bytes() == content
        finally:
            part.unlink()
        return True

    def delete(self, uri: str) -> None:
        """Remove a file, if it is there."""
        _file(uri).unlink(missing_ok=True)

    def delete_all(self, uris: Sequence[str]) -> None:
        """Remove files, those that are there."""
        for uri in uris:
            self.delete(uri)

    def old_versions(self, prefix: str) -> List[str]:
        """Return nothing: a folder keeps no old versions."""
        return []

    def delete_old_versions(self, prefix: str) -> int:
        """Return 0: a folder keeps no old versions."""
        return 0

    def secret(self, name: str, kept_in: SecretStore = SecretStore.SSM) -> bytes:
        """Read the content of the file of that name, whatever should keep it."""
        return self.read(f"file://{name}")


SETTLED_AFTER = 2.0
"""Seconds after which a file that is written again has another time of change: some file
systems count them in steps of two."""


def file_etag(path: Path, facts: os.stat_result) -> str:
    """Return the hash of a file; read it once, as listing a bucket reads nothing."""
    if time.time() - max(facts.st_mtime, facts.st_ctime) < SETTLED_AFTER:
        return content_hash(path)
    return cached_hash(
        path, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns
    )


@lru_cache(maxsize=100_000)
def cached_hash(path: Path, *facts: int) -> str:
    """Hash the content of a file with these facts, once."""
    return content_hash(path)


def content_hash(path: Path) -> str:
    """Hash the content of a file."""
    return hashlib.md5(path.read_bytes()).hexdigest()


def open_store(uri: str, region: str) -> ObjectStore:
    """Return the store that holds the URI: s3:// in the region, or file:."""
    scheme = urlparse(uri).scheme
    if scheme == "s3":
        return S3Store(region)
    if scheme == "file":
        return FolderStore()
    raise ValueError(f"{uri}: is not an s3:// or file: URI")


def split_uri(uri: str) -> Tuple[str, str]:
    """Return bucket and key of an s3:// URI."""
    parts = uri.split("/", 3)
    return parts[2], parts[3] if len(parts) > 3 else ""


def _file(uri: str) -> Path:
    return Path(uri[len("file://") :])
