"""What Spark does not see in an Avro file: that it was cut, and which bytes are UUIDs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Dict, Iterator, Optional, Sequence, Tuple

from lake_spec.model.column_type import ColumnType
from lake_spec.text.marked_values import quoted_value
from lake_spark.errors import REMOVED, UnreadableFile
from lake_spark.landing.files import LandingFile
from lake_spark.storage.object_store import ObjectStore

_MAGIC = b"Obj\x01"
_MARKER_BYTES = 16
_UUID_BYTES = 16
_HEAD_BYTES = 1 << 16
"""How much is read at first for the header, which holds the schema: 64 KiB."""

Column = Tuple[str, ColumnType]


def header_of(store: ObjectStore, file: LandingFile) -> bytes:
    """Return the beginning of a file, with its header.

    Raise UnreadableFile unless it begins as Avro does and ends where a block ends. Each
    block ends with the marker that the header ends with. A file that was cut
    exactly behind a block cannot be seen: Avro says nowhere how many there are.
    """
    limit = _HEAD_BYTES
    try:
        head = store.read(file.uri, limit=limit)
        if not head.startswith(_MAGIC):
            raise UnreadableFile(
                file.path,
                f"is not a valid avro file: it begins with {quoted_value(head[:16])}, not "
                f"{_MAGIC!r}. Land it in the format avro, or correct source.format.",
            )
        marker = marker_of(head)
        while marker is None and limit < file.size:
            limit *= 16
            head = store.read(file.uri, limit=limit)
            marker = marker_of(head)
        if marker is None or store.read_end(file.uri, _MARKER_BYTES) != marker:
            raise UnreadableFile(
                file.path,
                "is cut: its end lacks the sync marker of its header. Land the whole file "
                "again, or remove it.",
            )
        return head
    except KeyError:
        raise UnreadableFile(file.path, REMOVED) from None


def marker_of(head: bytes) -> Optional[bytes]:
    """Return the marker at the end of a header; None where the header goes on."""
    try:
        *_, (_, at) = _header(head)
    except IndexError:
        return None
    marker = head[at : at + _MARKER_BYTES]
    return marker if len(marker) == _MARKER_BYTES else None


def with_uuids(head: bytes, columns: Sequence[Column]) -> Tuple[Column, ...]:
    """Return the columns with the type `uuid` for those of 16 bytes that the schema in a
    header says are UUIDs, at any depth. Spark calls them bytes."""
    texts = [text for text, _ in _header(head)]
    notes = dict(zip(texts[::2], texts[1::2]))
    record = json.loads(notes[b"avro.schema"])
    struct = ColumnType(
        "struct", tuple(t for _, t in columns), tuple(n for n, _ in columns)
    )
    found = _with_uuids(record, struct, {})
    return tuple(zip(found.fields, found.inner))


def _with_uuids(node: Any, kind: ColumnType, named: Dict[str, Any]) -> ColumnType:
    """Return the type that Spark has for a part of a schema, with its UUIDs.

    `named` are the types that the schema has named before: others only say the name.
    """
    if isinstance(node, list):
        values = [each for each in node if each != "null"]
        return _with_uuids(values[0], kind, named) if len(values) == 1 else kind
    if isinstance(node, str):
        node = named.get(node.rpartition(".")[-1])
    if node is None:
        return kind
    if "name" in node:
        named[node["name"].rpartition(".")[-1]] = node
    if isinstance(node["type"], (dict, list)):
        return _with_uuids(node["type"], kind, named)
    if (node["type"], kind.name) == ("fixed", "binary"):
        is_uuid = (node["size"], node.get("logicalType")) == (_UUID_BYTES, "uuid")
        return ColumnType("uuid") if is_uuid else kind
    inside = _inside(node)
    names = kind.fields or ("key", "value")[-len(kind.inner) :]
    parts = [
        _with_uuids(inside.get(name), part, named)
        for name, part in zip(names, kind.inner)
    ]
    return replace(kind, inner=tuple(parts))


def _inside(node: Dict[str, Any]) -> Dict[str, Any]:
    """Return the parts of a nested type by their names; `value` is that of a list too."""
    if node["type"] == "record":
        return {each["name"]: each["type"] for each in node["fields"]}
    return {"value": node.get("items", node.get("values"))}


def _header(head: bytes) -> Iterator[Tuple[bytes, int]]:
    """Yield the keys and values of a header in turn, each with where the next one is.

    At last an empty text, and where the header's marker is. Raise IndexError where the
    header goes on.
    """
    at = len(_MAGIC)
    count, at = _number(head, at)
    while count:
        if count < 0:
            _, at = _number(head, at)
        for _ in range(2 * abs(count)):
            length, at = _number(head, at)
            yield head[at : at + length], at + length
            at += length
        count, at = _number(head, at)
    yield b"", at


def _number(content: bytes, at: int) -> Tuple[int, int]:
    """Read a number as Avro writes it, seven bits a byte, and where it ends."""
    found = shift = 0
    while True:
        byte = content[at]
        at += 1
        found |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (found >> 1) ^ -(found & 1), at
