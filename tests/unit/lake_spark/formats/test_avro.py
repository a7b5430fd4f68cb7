"""Avro files that were cut are told by their markers, whatever their header holds."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from lake_spark.errors import BadFile
from lake_spark.formats.avro import marker_of, refuse_cut
from lake_spark.landing.files import LandingFile
from lake_spark.storage.object_store import FolderStore

MARKER = bytes(range(16))


def number(value: int) -> bytes:
    """A number as Avro writes it."""
    left, out = (value << 1) ^ (value >> 63), bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*out, left])


def text(value: bytes) -> bytes:
    return number(len(value)) + value


SCHEMA = text(b"avro.schema") + text(b'{"type": "record"}')
CODEC = text(b"avro.codec") + text(b"deflate")
BLOCK = number(2) + number(5) + b"rows." + MARKER


def header(*blocks: bytes) -> bytes:
    return b"Obj\x01" + b"".join(blocks) + number(0) + MARKER


PLAIN = header(number(2), SCHEMA, CODEC)
SIZED = header(number(-2), number(len(SCHEMA + CODEC)), SCHEMA, CODEC)
TWICE = header(number(1), SCHEMA, number(1), CODEC)


@pytest.mark.parametrize("head", [PLAIN, SIZED, TWICE], ids=["one", "sized", "two"])
def test_the_marker_follows_the_metadata(head):
    assert marker_of(head + BLOCK) == MARKER
    assert {marker_of(head[:end]) for end in range(4, len(head))} == {None}


def landed(tmp_path, content: bytes) -> LandingFile:
    path = tmp_path / "x.avro"
    path.write_bytes(content)
    now = datetime.now(timezone.utc)
    return LandingFile("x.avro", "e", f"file://{path}", len(content), now)


@pytest.mark.parametrize("blocks", [b"", BLOCK, BLOCK * 3])
def test_a_whole_file_is_taken(tmp_path, blocks):
    refuse_cut(FolderStore(), landed(tmp_path, PLAIN + blocks))


def test_a_header_longer_than_the_first_read_is_read_on(tmp_path):
    long = header(number(1), text(b"avro.schema") + text(b" " * 200_000))
    refuse_cut(FolderStore(), landed(tmp_path, long + BLOCK))


@pytest.mark.parametrize("end", [7, len(PLAIN) - 1, len(PLAIN) + 6, -1])
def test_a_cut_file_is_told_by_name(tmp_path, end):
    with pytest.raises(BadFile, match="x.avro: is cut"):
        refuse_cut(FolderStore(), landed(tmp_path, (PLAIN + BLOCK)[:end]))


def test_another_file_and_one_that_is_gone_are_told_by_name(tmp_path):
    with pytest.raises(
        BadFile, match="is not a valid avro file: it begins with .?b'<html>"
    ):
        refuse_cut(FolderStore(), landed(tmp_path, b"<html></html>"))
    gone = landed(tmp_path, PLAIN)
    (tmp_path / "x.avro").unlink()
    with pytest.raises(BadFile, match="was removed"):
        refuse_cut(FolderStore(), gone)
