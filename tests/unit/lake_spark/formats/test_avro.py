"""Avro files that were cut are told by their markers, whatever their header holds."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import pytest

from lake_spec.model.column_type import parse_type
from lake_spark.errors import BadFile
from lake_spark.formats.avro import header_of, marker_of, with_uuids
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
    header_of(FolderStore(), landed(tmp_path, PLAIN + blocks))


def test_a_header_longer_than_the_first_read_is_read_on(tmp_path):
    long = header(number(1), text(b"avro.schema") + text(b" " * 200_000))
    header_of(FolderStore(), landed(tmp_path, long + BLOCK))


@pytest.mark.parametrize("end", [7, len(PLAIN) - 1, len(PLAIN) + 6, -1])
def test_a_cut_file_is_told_by_name(tmp_path, end):
    with pytest.raises(BadFile, match="x.avro: is cut"):
        header_of(FolderStore(), landed(tmp_path, (PLAIN + BLOCK)[:end]))


def test_another_file_and_one_that_is_gone_are_told_by_name(tmp_path):
    with pytest.raises(
        BadFile, match="is not a valid avro file: it begins with .?b'<html>"
    ):
        header_of(FolderStore(), landed(tmp_path, b"<html></html>"))
    gone = landed(tmp_path, PLAIN)
    (tmp_path / "x.avro").unlink()
    with pytest.raises(BadFile, match="was removed"):
        header_of(FolderStore(), gone)


UUID = {"type": "fixed", "name": "u", "size": 16, "logicalType": "uuid"}


@pytest.mark.parametrize(
    "kind, of_spark, found",
    [
        (UUID, "binary", "uuid"),
        (["null", UUID], "binary", "uuid"),
        ({"type": UUID}, "binary", "uuid"),
        ({"type": "array", "items": UUID}, "array<binary>", "array<uuid>"),
        ({"type": "map", "values": UUID}, "map<string,binary>", "map<string,uuid>"),
        ({**UUID, "size": 12}, "binary", "binary"),
        ({"type": "fixed", "name": "f", "size": 16}, "binary", "binary"),
        ({"type": "string", "logicalType": "uuid"}, "string", "string"),
        ("bytes", "binary", "binary"),
        ([UUID, "string"], "struct<member0:binary>", "struct<member0:binary>"),
    ],
    ids=str,
)
def test_sixteen_bytes_that_are_a_uuid_are_no_bytes(kind, of_spark, found):
    fields = [{"name": "a", "type": kind}]
    if kind is UUID:  # later parts of a schema only say the name
        fields.append({"name": "b", "type": {"type": "array", "items": "x.u"}})
    schema = json.dumps({"type": "record", "name": "r", "fields": fields}).encode()
    head = header(number(1), text(b"avro.schema") + text(schema))
    columns = [("a", parse_type(of_spark))]
    if kind is UUID:
        columns.append(("b", parse_type("array<binary>")))
    typed = with_uuids(head + BLOCK, columns)
    assert [each.text for _, each in typed] == [found, "array<uuid>"][: len(columns)]
