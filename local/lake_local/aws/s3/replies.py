"""S3's XML: what replies look like and what request bodies say."""

from __future__ import annotations

import time
from typing import Callable, Iterable, Mapping
from urllib.parse import quote
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from lake_local.aws.s3.errors import S3Error
from lake_local.aws.s3.index import ObjectEntry, PartEntry, UploadEntry
from lake_local.aws.s3.listing import Page

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
Naming = Callable[[str], str]


def document(name: str, *children: str) -> bytes:
    body = f'{HEAD}<{name} xmlns="{NAMESPACE}">{"".join(children)}</{name}>'
    return body.encode()


def element(name: str, value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"<{name}>{escape(text)}</{name}>"


def group(name: str, *children: str) -> str:
    return f"<{name}>{''.join(children)}</{name}>"


def iso_time(milliseconds: int) -> str:
    """Format a time in whole seconds, as S3 does."""
    timestamp = time.gmtime(milliseconds // 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", timestamp)


def http_time(milliseconds: int) -> str:
    timestamp = time.gmtime(milliseconds // 1000)
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", timestamp)


def error(problem: S3Error, resource: str) -> bytes:
    body = (
        HEAD
        + "<Error>"
        + element("Code", problem.code)
        + element("Message", problem.message)
        + element("Resource", resource)
        + "</Error>"
    )
    return body.encode()


def naming(encoding: str) -> Naming:
    """Return how keys are written: percent-encoded if the client asked for it."""
    return (lambda key: quote(key, safe="/")) if encoding == "url" else str


def list_v1(bucket: str, asked: dict[str, str], page: Page) -> bytes:
    name = naming(asked.get("encoding-type", ""))
    extra = [element("Marker", name(asked.get("marker", "")))]
    if page.next_marker is not None:
        extra.append(element("NextMarker", name(page.next_marker)))
    return document("ListBucketResult", *extra, *_listed(bucket, asked, page, name))


def list_v2(bucket: str, asked: dict[str, str], page: Page) -> bytes:
    name = naming(asked.get("encoding-type", ""))
    extra = [element("KeyCount", len(page.entries))]
    for key in ("continuation-token", "start-after"):
        if key in asked:
            tag = "ContinuationToken" if key == "continuation-token" else "StartAfter"
            extra.append(element(tag, name(asked[key])))
    if page.next_marker is not None:
        token = page.next_marker.encode().hex()
        extra.append(element("NextContinuationToken", token))
    return document("ListBucketResult", *extra, *_listed(bucket, asked, page, name))


def marker_of(token: str) -> str:
    try:
        return bytes.fromhex(token).decode()
    except ValueError as reason:
        message = "The continuation token provided is incorrect"
        raise S3Error(400, "InvalidArgument", message) from reason


def _listed(
    bucket: str, asked: dict[str, str], page: Page, name: Naming
) -> Iterable[str]:
    yield element("Name", bucket)
    yield element("Prefix", name(asked.get("prefix", "")))
    yield element("MaxKeys", asked.get("max-keys", "1000"))
    if asked.get("delimiter"):
        yield element("Delimiter", name(asked["delimiter"]))
    if asked.get("encoding-type"):
        yield element("EncodingType", asked["encoding-type"])
    yield element("IsTruncated", page.next_marker is not None)
    for entry in page.objects:
        yield group(
            "Contents",
            element("Key", name(entry.key)),
            element("LastModified", iso_time(entry.modified)),
            element("ETag", f'"{entry.etag}"'),
            element("Size", entry.size),
            element("StorageClass", "STANDARD"),
        )
    for prefix in page.prefixes:
        yield group("CommonPrefixes", element("Prefix", name(prefix)))


def copied(name: str, entry: ObjectEntry | PartEntry) -> bytes:
    return document(
        name,
        element("LastModified", iso_time(entry.modified)),
        element("ETag", f'"{entry.etag}"'),
    )


def upload_created(upload: UploadEntry) -> bytes:
    return document(
        "InitiateMultipartUploadResult",
        element("Bucket", upload.bucket),
        element("Key", upload.key),
        element("UploadId", upload.id),
    )


def upload_completed(entry: ObjectEntry) -> bytes:
    return document(
        "CompleteMultipartUploadResult",
        element("Location", f"/{entry.bucket}/{quote(entry.key)}"),
        element("Bucket", entry.bucket),
        element("Key", entry.key),
        element("ETag", f'"{entry.etag}"'),
    )


def uploads(bucket: str, found: list[UploadEntry]) -> bytes:
    listed = (
        group(
            "Upload",
            element("Key", upload.key),
            element("UploadId", upload.id),
            element("Initiated", iso_time(upload.started)),
        )
        for upload in found
    )
    return document(
        "ListMultipartUploadsResult",
        element("Bucket", bucket),
        element("IsTruncated", False),
        *listed,
    )


def parts(upload: UploadEntry, found: list[PartEntry]) -> bytes:
    listed = (
        group(
            "Part",
            element("PartNumber", part.number),
            element("LastModified", iso_time(part.modified)),
            element("ETag", f'"{part.etag}"'),
            element("Size", part.size),
        )
        for part in found
    )
    return document(
        "ListPartsResult",
        element("Bucket", upload.bucket),
        element("Key", upload.key),
        element("UploadId", upload.id),
        element("IsTruncated", False),
        *listed,
    )


def deleted(keys: list[str], quiet: bool, denied: Mapping[str, str]) -> bytes:
    """What is told of the keys that are deleted, and of those that are refused."""
    shown = () if quiet else (group("Deleted", element("Key", key)) for key in keys)
    errors = (
        group(
            "Error",
            element("Key", key),
            element("Code", "AccessDenied"),
            element("Message", message),
        )
        for key, message in denied.items()
    )
    return document("DeleteResult", *shown, *errors)


def parse(body: bytes) -> ElementTree.Element:
    """Return the root of a request body, its tags without their namespace."""
    try:
        root = ElementTree.fromstring(body)
    except ElementTree.ParseError as reason:
        message = "The XML you provided was not well-formed"
        raise S3Error(400, "MalformedXML", message) from reason
    for node in root.iter():
        node.tag = node.tag.rpartition("}")[2]
    return root


def wanted_parts(body: bytes) -> list[tuple[int, str]]:
    return [
        (int(part.findtext("PartNumber", "0")), part.findtext("ETag", ""))
        for part in parse(body).iter("Part")
    ]


def keys_to_delete(body: bytes) -> tuple[list[str], bool]:
    """Return the keys, and whether only errors are to be reported."""
    root = parse(body)
    keys = [node.findtext("Key", "") for node in root.iter("Object")]
    return keys, root.findtext("Quiet", "false") == "true"
