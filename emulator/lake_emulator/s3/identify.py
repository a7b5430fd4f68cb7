"""Which call of S3 a request is, and what it is about."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any, Iterator, Mapping, Optional, Tuple
from urllib.parse import parse_qs, parse_qsl, unquote, unquote_to_bytes

from lake_emulator.s3.errors import S3Error
from lake_emulator.s3.replies import keys_to_delete
from lake_emulator.s3.request import Deleted, Request

KMS_KEY = "x-amz-server-side-encryption-aws-kms-key-id"
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


def identified(
    environ: dict[str, Any],
) -> Tuple[str, Optional[Request], list[dict[str, Any]]]:
    """Return the operation, the request if it is about objects, and what it is about."""
    request = _from_environ(environ)
    operation = _operation_of(request)
    if operation is None:
        path = environ["PATH_INFO"].strip("/")
        return _bucket_operation(request), None, [{"thing": path}]
    if operation == "DeleteObjects":  # whose keys are known before it is answered
        size = -1 if request.length is None else request.length
        request = replace(request, stream=io.BytesIO(request.stream.read(size)))
    return operation, request, list(_about_objects(operation, request))


def _from_environ(environ: Mapping[str, Any]) -> Request:
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


def _operation_of(request: Request) -> Optional[str]:
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


def _bucket_operation(request: Request) -> str:
    verb = {"GET": "Get", "HEAD": "Head", "PUT": "Put", "DELETE": "Delete"}
    name = verb.get(request.method, request.method) + "Bucket"
    setting = next(iter(request.query), "") if request.query else ""
    if name == "PutBucket" and not setting:
        name = "CreateBucket"
    return name + setting.title()


def _about_objects(operation: str, request: Request) -> Iterator[dict[str, str]]:
    """Return what a call is about, for each object that it names.

    For policies, writes have the `key` of KMS that they name; `checksum` is there where
    a HEAD asks for it.
    """
    thing = f"{request.bucket}/{request.key}"
    if operation == "DeleteObjects":
        for key, version in _deleted(request):
            named = {} if version is None else {"version": version}
            yield {"thing": f"{request.bucket}/{key}", **named}
    elif request.key:
        source, _, of = request.headers.get("x-amz-copy-source", "").partition("?")
        known = {
            "version": request.query.get("versionId", ""),
            "source": unquote(source).removeprefix("/"),
            "source_version": "".join(parse_qs(of).get("versionId", ())),
            "key": request.headers.get(KMS_KEY, ""),
            "checksum": request.headers.get("x-amz-checksum-mode", ""),
        }
        yield {"thing": thing, **{n: each for n, each in known.items() if each}}
    else:
        query = request.query
        names: tuple[str, ...] = ("prefix", "delimiter")
        asked = {name: query[name] for name in names if name in query}
        yield {"thing": request.bucket, **asked}


def _deleted(request: Request) -> list[Deleted]:
    """Return what a request to delete many names; its body is read again for the answer."""
    try:
        keys, _ = keys_to_delete(request.read())
        return keys
    except S3Error:
        return []
    finally:
        request.stream.seek(0)
