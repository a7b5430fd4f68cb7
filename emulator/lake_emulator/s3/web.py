"""S3's object calls over HTTP, path style: /bucket/key."""

from __future__ import annotations

from typing import Callable, Iterable, Mapping, Optional, Tuple
from urllib.parse import parse_qs, unquote

from lake_emulator.s3 import headers as object_headers, replies
from lake_emulator.s3.blobs import read_range
from lake_emulator.s3.body import UploadBody
from lake_emulator.s3.errors import S3Error, not_covered
from lake_emulator.s3.index import ObjectEntry, UploadEntry
from lake_emulator.s3.listing import Page, list_versions
from lake_emulator.s3.multipart import Multipart
from lake_emulator.s3.request import Reply, Request, check_key
from lake_emulator.s3.store import ObjectStore

XML = {"content-type": "application/xml"}
Handler = Callable[[Request], Reply]
Source = Tuple[str, str, Optional[str]]


class S3Web:
    """Answers the object calls; bucket settings are left to moto."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._multipart = Multipart(store)
        self._operations: dict[str, Handler] = {
            "ListObjects": self._list_v1,
            "ListObjectsV2": self._list_v2,
            "ListObjectVersions": self._list_versions,
            "ListMultipartUploads": self._list_uploads,
            "DeleteObjects": self._delete_many,
            "GetObject": self._get,
            "HeadObject": self._get,
            "PutObject": self._put,
            "CopyObject": self._copy,
            "DeleteObject": self._delete,
            "CreateMultipartUpload": self._create_upload,
            "UploadPart": self._put_part,
            "UploadPartCopy": self._copy_part,
            "CompleteMultipartUpload": self._complete,
            "AbortMultipartUpload": self._abort,
            "ListParts": self._list_parts,
        }

    @property
    def operations(self) -> tuple[str, ...]:
        return tuple(self._operations)

    def holds_any(self, bucket: str) -> bool:
        return self._store.holds_any(bucket)

    def answer(self, operation: str, request: Request) -> Reply:
        """Return the reply of one call; a refusal is a reply too."""
        try:
            handler = self._operations.get(operation)
            if handler is None:
                raise not_covered(f"the S3 call {operation}")
            check_key(request.key)
            return handler(request)
        except object_headers.NotModified:
            return Reply(304)
        except S3Error as problem:
            path = f"/{request.bucket}/{request.key}"
            headers = {**XML, **problem.headers}
            return Reply(problem.status, headers, replies.error(problem, path))

    def _get(self, request: Request) -> Reply:
        entry, file = self._store.open(request.bucket, request.key, request.version)
        try:
            object_headers.check_read_conditions(entry, request.headers)
            span = object_headers.span(request.headers.get("range"), entry.size)
        except BaseException:
            file.close()
            raise
        first, last = span or (0, entry.size - 1)
        mode = request.headers.get("x-amz-checksum-mode", "")
        shown = object_headers.of_read(
            entry, checksums=mode.upper() == "ENABLED" and span is None
        )
        if request.method == "HEAD" and mode.upper() == "ENABLED":
            shown.update(object_headers.checksum_of(shown, file))
        shown.update(self._version(entry))
        shown["content-length"] = str(last - first + 1)
        if span:
            shown["content-range"] = f"bytes {first}-{last}/{entry.size}"
        status = 206 if span else 200
        if request.method == "HEAD":
            file.close()
            return Reply(status, shown)
        return Reply(status, shown, read_range(file, first, last - first + 1))

    def _put(self, request: Request) -> Reply:
        if "x-amz-tagging" in request.headers:
            raise not_covered("object tags")
        body = request.body()
        headers = object_headers.kept(request.headers)
        entry = self._store.put(
            request.bucket,
            request.key,
            _with_checksums(body, headers),
            headers=headers,
            if_match=request.headers.get("if-match"),
            if_none_match=request.headers.get("if-none-match"),
        )
        etag = {"etag": f'"{entry.etag}"'}
        return Reply(200, {**etag, **self._version(entry), **body.checksums})

    def _version(self, entry: ObjectEntry) -> dict[str, str]:
        """Return the header with the version, where a bucket keeps them."""
        is_kept = self._store.versions.are_kept(entry.bucket)
        return {"x-amz-version-id": entry.version} if is_kept else {}

    def _copy(self, request: Request) -> Reply:
        replace = request.headers.get("x-amz-metadata-directive") == "REPLACE"
        source = _source(request)
        if source == (request.bucket, request.key, None) and not replace:
            message = "This copy request is illegal because it changes nothing"
            raise S3Error(400, "InvalidRequest", message)
        found = self._check_source(source, request.headers)
        entry = self._store.copy(
            source,
            request.bucket,
            request.key,
            headers=object_headers.kept(request.headers) if replace else None,
            if_none_match=request.headers.get("if-none-match"),
        )
        headers = {**XML, **self._version(entry)}
        for version in self._version(found).values():
            headers["x-amz-copy-source-version-id"] = version
        return Reply(200, headers, replies.copied("CopyObjectResult", entry))

    def _check_source(self, source: Source, headers: Mapping[str, str]) -> ObjectEntry:
        prefix = "x-amz-copy-source-"
        conditions = {
            name[len(prefix) :]: value
            for name, value in headers.items()
            if name.startswith(prefix)
        }
        found = self._store.head(*source)
        try:
            object_headers.check_read_conditions(found, conditions)
        except object_headers.NotModified as reason:
            raise S3Error(412, "PreconditionFailed", "Copy source changed") from reason
        return found

    def _delete(self, request: Request) -> Reply:
        gone = self._store.delete(request.bucket, request.key, request.version)
        return Reply(204, {} if gone is None else object_headers.of_deleted(gone))

    def _delete_many(self, request: Request) -> Reply:
        keys, quiet = replies.keys_to_delete(request.read())
        with self._store.index.transaction():
            done = {
                asked: self._store.delete(request.bucket, *asked)
                for asked in keys
                if asked not in request.denied
            }
        return Reply(200, XML, replies.deleted(done, quiet, request.denied))

    def _list_v1(self, request: Request) -> Reply:
        page = self._page(request, request.query.get("marker", ""))
        return Reply(200, XML, replies.list_v1(request.bucket, request.query, page))

    def _list_v2(self, request: Request) -> Reply:
        token = request.query.get("continuation-token")
        start = request.query.get("start-after", "")
        page = self._page(request, replies.marker_of(token) if token else start)
        return Reply(200, XML, replies.list_v2(request.bucket, request.query, page))

    def _list_versions(self, request: Request) -> Reply:
        query = request.query
        key, version = query.get("key-marker", ""), query.get("version-id-marker")
        found = version and self._store.versions.find(request.bucket, key, version)
        self._store.require_bucket(request.bucket)
        page = list_versions(
            self._store.index,
            request.bucket,
            prefix=query.get("prefix", ""),
            delimiter=query.get("delimiter", ""),
            marker=(key, found.nth if found else -1),
            limit=min(1000, request.number("max-keys", 1000)),
        )
        return Reply(200, XML, replies.versions(request.bucket, query, page))

    def _page(self, request: Request, marker: str) -> Page:
        return self._store.list(
            request.bucket,
            prefix=request.query.get("prefix", ""),
            delimiter=request.query.get("delimiter", ""),
            marker=marker,
            limit=min(1000, request.number("max-keys", 1000)),
        )

    def _create_upload(self, request: Request) -> Reply:
        headers = object_headers.kept(request.headers)
        upload = self._multipart.create(request.bucket, request.key, headers)
        return Reply(200, XML, replies.upload_created(upload))

    def _put_part(self, request: Request) -> Reply:
        body = request.body()
        number = request.number("partNumber", 0)
        part = self._multipart.put_part(self._upload(request), number, body)
        return Reply(200, {"etag": f'"{part.etag}"', **body.checksums})

    def _copy_part(self, request: Request) -> Reply:
        source = _source(request)
        size = self._store.head(*source).size
        span = object_headers.span(request.headers.get("x-amz-copy-source-range"), size)
        number = request.number("partNumber", 0)
        part = self._multipart.copy_part(self._upload(request), number, source, span)
        return Reply(200, XML, replies.copied("CopyPartResult", part))

    def _complete(self, request: Request) -> Reply:
        wanted = replies.wanted_parts(request.read())
        entry = self._multipart.complete(
            self._upload(request),
            wanted,
            if_match=request.headers.get("if-match"),
            if_none_match=request.headers.get("if-none-match"),
        )
        headers = {**XML, **self._version(entry)}
        return Reply(200, headers, replies.upload_completed(entry))

    def _abort(self, request: Request) -> Reply:
        self._multipart.abort(self._upload(request))
        return Reply(204)

    def _list_parts(self, request: Request) -> Reply:
        upload = self._upload(request)
        return Reply(200, XML, replies.parts(upload, self._multipart.parts(upload)))

    def _list_uploads(self, request: Request) -> Reply:
        self._store.require_bucket(request.bucket)
        prefix = request.query.get("prefix", "")
        found = self._store.index.uploads(request.bucket, prefix)
        return Reply(200, XML, replies.uploads(request.bucket, found))

    def _upload(self, request: Request) -> UploadEntry:
        upload = request.query.get("uploadId", "")
        return self._multipart.find(request.bucket, request.key, upload)


def _source(request: Request) -> Source:
    """Return bucket, key and version of `x-amz-copy-source`."""
    path, _, query = request.headers.get("x-amz-copy-source", "").partition("?")
    bucket, _, key = unquote(path).removeprefix("/").partition("/")
    return bucket, key, parse_qs(query).get("versionId", [None])[0]


def _with_checksums(body: UploadBody, headers: dict[str, str]) -> Iterable[bytes]:
    """Return the body's bytes; what it claimed in its trailer joins the headers."""
    yield from body
    headers.update(body.checksums)
