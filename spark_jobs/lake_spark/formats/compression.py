"""The beginning of text files that may be compressed: by their names, as Spark goes."""

from __future__ import annotations

import bz2
import zlib
from typing import Any, Callable

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from lake_spec.model import Engine, TableSpec
from lake_spec.text.marked_values import row_value
from lake_spark.errors import UnreadableFile
from lake_spark.landing.files import LandingFile

ZSTD = ".zst"


def refuse_unreadable(file: LandingFile, spec: TableSpec) -> None:
    """Raise UnreadableFile for a compression that the table's engine does not read."""
    if spec.engine is Engine.STREAMER and file.path.endswith(ZSTD):
        raise UnreadableFile(
            file.path,
            "is a zst file, which HoodieStreamer cannot read on every cluster. Land it as "
            ".gz, or set engine: pyspark.",
        )


def unpacked(
    spark: SparkSession, head: bytes, file: LandingFile, *, most: int
) -> bytes:
    """Unpack the text that the first bytes of a file hold.

    Raise UnreadableFile if they hold none.
    """
    try:
        if file.path.endswith(".gz"):
            return _parts(head, most, lambda: zlib.decompressobj(wbits=31))
        if file.path.endswith(".bz2"):
            return _parts(head, most, bz2.BZ2Decompressor)
        if file.path.endswith(ZSTD):
            return _from_zstd(spark, head, most)
    except (zlib.error, OSError, Py4JJavaError) as error:
        suffix = file.path.rsplit(".", 1)[-1]
        reason = getattr(error, "java_exception", error)
        raise UnreadableFile(
            file.path,
            f"is not a valid {suffix} file: {row_value(reason)}. Land the whole file again, or "
            "correct the ending of its name.",
        ) from None
    return head


def _parts(head: bytes, most: int, decompressor: Callable[[], Any]) -> bytes:
    """Unpack packed parts, one after the other; no more than `most` is unpacked."""
    found = b""
    while head and len(found) < most:
        part = decompressor()
        found += part.decompress(head, most - len(found))
        head = part.unused_data
    return found


def _from_zstd(spark: SparkSession, head: bytes, most: int) -> bytes:
    jvm = spark._jvm
    stream = jvm.com.github.luben.zstd.ZstdInputStream(
        jvm.java.io.ByteArrayInputStream(head)
    )
    try:
        stream.setContinuous(True)  # the head ends anywhere
        return bytes(stream.readNBytes(most))
    finally:
        stream.close()
