"""The bytes of an Avro file with its blocks unpacked, in which texts can be searched.

Iceberg's manifests are such files. Spark's reader of Avro is a jar that not every step has.
"""

from __future__ import annotations

import zlib
from typing import Dict, Tuple

_MAGIC, _MARK = b"Obj\x01", 16
_PACKED = {b"null": bytes, b"deflate": lambda block: zlib.decompress(block, -15)}


def unpacked_blocks(content: bytes) -> bytes:
    """Return header and blocks as plain bytes; raise ValueError if it is another file."""
    if not content.startswith(_MAGIC):
        raise ValueError("no Avro file: its first four bytes are others")
    header, at = _header(content)
    unpack = _PACKED[header.get(b"avro.codec", b"null")]
    found = [content[:at]]
    at += _MARK
    while at < len(content):
        _, at = _number(content, at)  # of records
        size, at = _number(content, at)
        found.append(unpack(content[at : at + size]))
        at += size + _MARK
    return b"\n".join(found)


def _header(content: bytes) -> Tuple[Dict[bytes, bytes], int]:
    found: Dict[bytes, bytes] = {}
    count, at = _number(content, len(_MAGIC))
    while count:
        if count < 0:
            _, at = _number(content, at)
        for _ in range(abs(count)):
            name, at = _bytes(content, at)
            found[name], at = _bytes(content, at)
        count, at = _number(content, at)
    return found, at


def _bytes(content: bytes, at: int) -> Tuple[bytes, int]:
    size, at = _number(content, at)
    return content[at : at + size], at + size


def _number(content: bytes, at: int) -> Tuple[int, int]:
    """Return a number in Avro's form: seven bits a byte, zigzag."""
    value = shift = 0
    while True:
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return (value >> 1) ^ -(value & 1), at
