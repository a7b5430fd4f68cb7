"""Texts are found in the packed blocks of an Avro file."""

from __future__ import annotations

import zlib

import pytest

from lake_spark.formats.avro import unpacked_blocks
from tests.unit.lake_spark.formats.test_avro import number, text

MARK = b"0123456789abcdef"


def avro_file(codec: bytes, *blocks: bytes) -> bytes:
    """A container with blocks of one record each."""
    names = [(b"avro.schema", b'"string"'), (b"avro.codec", codec)]
    header = b"".join(text(name) + text(value) for name, value in names)
    parts = [b"Obj\x01", number(len(names)), header, number(0), MARK]
    for block in blocks:
        parts += [number(1), text(block), MARK]
    return b"".join(parts)


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def test_each_block_is_unpacked():
    long = b"x" * 5000 + b"canary"
    content = avro_file(b"deflate", deflated(text(b"first")), deflated(text(long)))
    assert b"canary" not in content
    found = unpacked_blocks(content)
    assert b"first" in found and b"canary" in found and b"avro.schema" in found


def test_blocks_that_are_not_packed_are_as_they_are():
    assert b"canary" in unpacked_blocks(avro_file(b"null", text(b"canary")))


def test_another_file_is_refused():
    with pytest.raises(ValueError, match="no Avro file"):
        unpacked_blocks(b"PAR1")


def test_an_unknown_codec_is_refused_and_not_passed_over():
    with pytest.raises(KeyError):
        unpacked_blocks(avro_file(b"zstandard", b""))
