"""S3's XML: what replies look like and what request bodies say."""

from __future__ import annotations

import re
import time
from typing import Callable, Iterable, Mapping, Optional
from urllib.parse import quote
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from lake_emulator.s3.errors import S3Error
from lake_emulator.s3.index import ObjectEntry, PartEntry, UploadEntry
from lake_emulator.s3.listing import Page, VersionPage
from lake_emulator.s3.request import Deleted

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot have: keys have them only where the client asks for URLs."""

Naming = Callable[[str], str]


def document(name: str, *children: str) -> bytes:
    body = f'{HEAD}<{name} xmlns="{NAMESPACE}">{"".join(children)}</{name}>'
    return body.encode()


def element(name: str, value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    text = escape(NO_XML.sub("\ufffd", text), {"\r": "&#13;"})
    return f"<{name}>{text}</{name}>"


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
    yield from _page_facts(bucket, asked, page.next_marker is not None, name)
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


def _page_facts(
    bucket: str, asked: dict[str, str], is_truncated: bool, name: Naming
) -> Iterable[str]:
    yield element("Name", bucket)
    yield element("Prefix", name(asked.get("prefix", "")))
    yield element("MaxKeys", asked.get("max-keys", "1000"))
    if asked.get("delimiter"):
        yield element("Delimiter", name(asked["delimiter"]))
    if asked.get("encoding-type"):
        yield element("EncodingType", asked["encoding-type"])
    yield element("IsTruncated", is_truncated)


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


def deleted(
    done: Mapping[Deleted, Optional[ObjectEntry]],
    quiet: bool,
    denied: Mapping[Deleted, str],
) -> bytes:
    """What is told of what is deleted, with its delete marker, and of what is refused."""
    shown = () if quiet else (_deleted(*each) for each in done.items())
    errors = (
        group(
            "Error",
            *_named(key, version),
            element("Code", "AccessDenied"),
            element("Message", message),
        )
        for (key, version), message in denied.items()
    )
    return document("DeleteResult", *shown, *errors)


def _deleted(asked: Deleted, entry: Optional[ObjectEntry]) -> str:
    more = []
    if entry is not None and entry.is_marker:
        more = [
            element("DeleteMarker", True),
            element("DeleteMarkerVersionId", entry.version),
        ]
    return group("Deleted", *_named(*asked), *more)


def _named(key: str, version: Optional[str]) -> list[str]:
    return [
        element("Key", key),
        *([element("VersionId", version)] if version is not None else []),
    ]


def versions(bucket: str, asked: dict[str, str], page: VersionPage) -> bytes:
    name = naming(asked.get("encoding-type", ""))
    extra = [
        element("KeyMarker", name(asked.get("key-marker", ""))),
        element("VersionIdMarker", asked.get("version-id-marker", "")),
    ]
    if page.next_marker is not None:
        extra.append(element("NextKeyMarker", name(page.next_marker[0])))
        extra.append(element("NextVersionIdMarker", page.next_marker[1]))
    entries = [
        (
            group("CommonPrefixes", element("Prefix", name(each)))
            if isinstance(each, str)
            else _version(*each, name)
        )
        for each in page.entries
    ]
    facts = _page_facts(bucket, asked, page.next_marker is not None, name)
    return document("ListVersionsResult", *extra, *facts, *entries)


def _version(entry: ObjectEntry, is_latest: bool, name: Naming) -> str:
    facts = [
        element("Key", name(entry.key)),
        element("VersionId", entry.version),
        element("IsLatest", is_latest),
        element("LastModified", iso_time(entry.modified)),
    ]
    if entry.is_marker:
        return group("DeleteMarker", *facts)
    return group(
        "Version",
        *facts,
        element("ETag", f'"{entry.etag}"'),
        element("Size", entry.size),
        element("StorageClass", "STANDARD"),
    )


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


def keys_to_delete(body: bytes) -> tuple[list[Deleted], bool]:
    """Return the keys with their versions, and whether only errors are to be reported."""
    root = parse(body)
    keys = [
        (node.findtext("Key", ""), node.findtext("VersionId"))
        for node in root.iter("Object")
    ]
    return keys, root.findtext("Quiet", "false") == "true"
