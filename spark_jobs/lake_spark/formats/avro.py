"""Whether an Avro file is whole: Spark reads one that was cut as if it ended there."""

from __future__ import annotations

from typing import Optional, Tuple

from lake_spec.text.marked_values import quoted_value
from lake_spark.errors import REMOVED, UnreadableFile
from lake_spark.landing.files import LandingFile
from lake_spark.storage.object_store import ObjectStore

_MAGIC = b"Obj\x01"
_MARKER_BYTES = 16
_HEAD_BYTES = 1 << 16
"""How much is read at first for the header, which holds the schema: 64 KiB."""


def refuse_cut(store: ObjectStore, file: LandingFile) -> None:
    """Raise UnreadableFile unless the file begins as Avro does and ends where a block ends.

    Each block ends with the marker that the header ends with. A file that was cut
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
            marker = marker_of(store.read(file.uri, limit=limit))
        if marker is None or store.read_end(file.uri, _MARKER_BYTES) != marker:
            raise UnreadableFile(
                file.path,
                "is cut: its end lacks the sync marker of its header. Land the whole file "
                "again, or remove it.",
            )
    except KeyError:
        raise UnreadableFile(file.path, REMOVED) from None


def marker_of(head: bytes) -> Optional[bytes]:
    """Return the marker at the end of a header; None where the header goes on."""
    at = len(_MAGIC)
    try:
        count, at = _number(head, at)
        while count:
            if count < 0:
                _, at = _number(head, at)
            for _ in range(2 * abs(count)):  # keys and values
                length, at = _number(head, at)
                at += length
            count, at = _number(head, at)
    except IndexError:
        return None
    marker = head[at : at + _MARKER_BYTES]
    return marker if len(marker) == _MARKER_BYTES else None


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
