"""An S3 request taken apart, and what call it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, BinaryIO, Iterable, Mapping, Optional, Tuple, Union
from urllib.parse import parse_qsl, unquote_to_bytes

from lake_emulator.s3.body import UploadBody
from lake_emulator.s3.errors import S3Error

PLAIN = {
    ("GET", False): "GetObject",
    ("HEAD", False): "HeadObject",
    ("PUT", False): "PutObject",
    ("DELETE", False): "DeleteObject",
    ("GET", True): "ListParts",
    ("PUT", True): "UploadPart",
    ("POST", True): "CompleteMultipartUpload",
    ("DELETE", True): "AbortMultipartUpload",
}
OBJECT_SETTINGS = {
    "acl": "object ACLs",
    "attributes": "GetObjectAttributes",
    "legal-hold": "object lock",
    "restore": "RestoreObject",
    "retention": "object lock",
    "select": "SelectObjectContent",
    "tagging": "object tags",
    "torrent": "GetObjectTorrent",
    "partNumber": "reads of one part",
}


LONGEST_KEY = 1024
"""Bytes of a key in UTF-8."""

Deleted = Tuple[str, Optional[str]]
"""A key that is to be deleted, and the version of it, if it is one of them."""


@dataclass(frozen=True)
class Reply:
    """Status, headers and body; bytes or an iterable of them."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Union[bytes, Iterable[bytes]] = b""


@dataclass(frozen=True)
class Request:
    """One S3 request; header names are in lower case."""

    method: str
    bucket: str
    key: str
    query: dict[str, str]
    headers: dict[str, str]
    stream: BinaryIO
    length: Optional[int]
    denied: Mapping[Deleted, str] = field(default_factory=dict)
    """Of a request to delete many: why policies refuse a key or a version of it."""

    @property
    def version(self) -> Optional[str]:
        """The version of the object that is asked for, if it is one of them."""
        return self.query.get("versionId")

    def body(self) -> UploadBody:
        return UploadBody(self.stream, self.headers, self.length)

    def read(self) -> bytes:
        return b"".join(self.body())

    def number(self, name: str, default: int) -> int:
        value = self.query.get(name, str(default))
        if not value.isdigit():
            message = f"Provided {name} not an integer or within integer range"
            raise S3Error(400, "InvalidArgument", message)
        return int(value)


def from_environ(environ: Mapping[str, Any]) -> Request:
    # As it came: in PATH_INFO bytes that are no UTF-8 are replaced.
    raw = str(environ["RAW_URI"]).partition("?")[0]
    path = unquote_to_bytes(raw).decode("utf-8", "surrogateescape")
    bucket, _, key = path.lstrip("/").partition("/")
    query = dict(parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True))
    chunked = environ.get("wsgi.input_terminated")
    return Request(
        environ["REQUEST_METHOD"],
        bucket,
        key,
        query,
        environ["lake.headers"],
        environ["wsgi.input"],
        None if chunked else int(environ.get("CONTENT_LENGTH") or 0),
    )


def check_key(key: str) -> None:
    """Raise S3Error for a key that S3 does not take."""
    try:
        size = len(key.encode())
    except UnicodeEncodeError:
        raise S3Error(400, "InvalidURI", "Couldn't parse the specified URI.") from None
    if size > LONGEST_KEY:
        raise S3Error(400, "KeyTooLongError", "Your key is too long")


def operation_of(request: Request) -> Optional[str]:
    """Return the call's name if it is about objects; None for bucket settings."""
    if not request.bucket:
        return None
    return _object_call(request) if request.key else _bucket_call(request)


def _object_call(request: Request) -> str:
    upload = "uploadId" in request.query
    if request.method == "POST" and "uploads" in request.query:
        return "CreateMultipartUpload"
    for name, meaning in OBJECT_SETTINGS.items():
        if name in request.query and not upload:
            return f"for {meaning}"
    plain = PLAIN.get((request.method, upload), f"{request.method} of an object")
    if "x-amz-copy-source" in request.headers:
        return {"PutObject": "CopyObject", "UploadPart": "UploadPartCopy"}[plain]
    return plain


def _bucket_call(request: Request) -> Optional[str]:
    query, method = request.query, request.method
    if method == "POST":
        return "DeleteObjects" if "delete" in query else "POST of a form"
    if method != "GET":
        return None
    if "versions" in query:
        return "ListObjectVersions"
    if "uploads" in query:
        return "ListMultipartUploads"
    if query.get("list-type") == "2":
        return "ListObjectsV2"
    return "ListObjects" if _only_list_words(query) else None


def _only_list_words(query: Mapping[str, str]) -> bool:
    words = {"prefix", "delimiter", "marker", "max-keys", "encoding-type"}
    return set(query) <= words | {"fetch-owner"}
