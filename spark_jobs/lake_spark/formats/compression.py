"""The beginning of text files that may be compressed: by their names, as Spark goes."""

from __future__ import annotations

import bz2
import zlib
from typing import Any, Callable, Optional

from pyspark.sql import SparkSession

from lake_spec.model import Csv, FileTable, Json
from lake_spec.text.marked_values import row_value
from lake_spark import java
from lake_spark.errors import UnreadableFile
from lake_spark.landing.files import LandingFile
from lake_spark.storage.object_store import ObjectStore

ZSTD = ".zst"

READ_ENDINGS = (".gz", ".bz2", ZSTD)
"""Endings of packed text that is read."""

_PACKED = (
    *((b"\x1f\x8b", "gzip", ".gz"), (b"BZh", "bzip2", ".bz2")),
    *((b"\x28\xb5\x2f\xfd", "zstd", ZSTD), (b"\xfd7zXZ\0", "xz", "")),
    *((b"PK\x03\x04", "zip", ""), (b'\x04"M\x18', "lz4", "")),
    *((b"\xff\x06\0\0sNaPpY", "snappy", ""), (b"7z\xbc\xaf\x27\x1c", "7z", "")),
    (b"\x1f\x9d", "compress", ""),
)
"""The first bytes of packed files, what packs so, and the ending that readers go by."""

_OTHERS = (".xz", ".zip", ".lz4", ".snappy", ".7z", ".Z", ".br", ".lzo", ".deflate")
"""Endings of packed text that nothing here reads, some of which no first bytes tell."""

_REMEDY = "Land it as .gz, .bz2 or .zst."
_WINDOW = (
    "is a zst file with a window of more than 8 MiB, which Spark does not read. Compress it "
    "without --long and --ultra, and land it again."
)
_CAUSES = {
    "Frame requires too much memory": _WINDOW,
    "Window size too large": _WINDOW,
    "Invalid magic prefix: 184d2a5": "is a zst file with a skippable frame, as pzstd and "
    "seekable files have, which Spark does not read. Compress it with zstd, and land it again.",
}
"""What libraries say of a packed file that they do not read -> what is wrong with it."""


def cause(error: str) -> Optional[str]:
    """Return what is wrong with a packed file that cannot be read, by a library's error."""
    return next((words for sign, words in _CAUSES.items() if sign in error), None)


def refuse_unreadable(file: LandingFile, spec: FileTable) -> None:
    """Raise UnreadableFile for a compression of text that is not read."""
    is_text = isinstance(spec.source.format, (Csv, Json))
    if is_text and file.path.endswith(_OTHERS):
        suffix = file.path.rsplit(".", 1)[-1]
        raise UnreadableFile(
            file.path, f"is a {suffix} file, which the lake does not read. {_REMEDY}"
        )


_BZIP2_ENDS = 0x177245385090
"""Stands before the checksum of the whole, which is of 32 bits, at the end of a stream."""
_END_BYTES = 11


def refuse_cut(store: ObjectStore, file: LandingFile) -> None:
    """Raise UnreadableFile for a bzip2 file without its end, which Hadoop does not miss.

    It is read as far as there are whole blocks of it.
    """
    if not file.path.endswith(".bz2"):
        return
    last = int.from_bytes(store.read_end(file.uri, _END_BYTES), "big")
    # The stream ends at any bit of the last byte.
    ends = ((last >> rest) >> 32 for rest in range(8))
    if all(each & (1 << 48) - 1 != _BZIP2_ENDS for each in ends):
        raise UnreadableFile(
            file.path,
            "is a bz2 file that was cut: the end of its stream is missing. Land the whole "
            "file again.",
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
    except (zlib.error, OSError, java.Py4JJavaError) as error:
        suffix = file.path.rsplit(".", 1)[-1]
        reason = str(getattr(error, "java_exception", error))
        raise UnreadableFile(
            file.path,
            cause(reason)
            or f"is not a valid {suffix} file: {row_value(reason)}. Land the whole file "
            "again, or correct the ending of its name.",
        ) from None
    _refuse_packed(head, file)
    return head


def _refuse_packed(head: bytes, file: LandingFile) -> None:
    """Raise UnreadableFile for a packed file that is named like one of plain text."""
    for mark, name, suffix in _PACKED:
        if head.startswith(mark):
            remedy = (
                f"Rename it: readers go by the ending {suffix}." if suffix else _REMEDY
            )
            raise UnreadableFile(
                file.path,
                f"is compressed by {name}, which its name does not say. {remedy}",
            )


def _parts(head: bytes, most: int, decompressor: Callable[[], Any]) -> bytes:
    """Unpack packed parts, one after the other; no more than `most` is unpacked."""
    found = b""
    while head and len(found) < most:
        part = decompressor()
        found += part.decompress(head, most - len(found))
        head = part.unused_data
    return found


def _from_zstd(spark: SparkSession, head: bytes, most: int) -> bytes:
    jvm = java.packages(spark)
    stream = jvm.com.github.luben.zstd.ZstdInputStream(
        jvm.java.io.ByteArrayInputStream(head)
    )
    try:
        stream.setContinuous(True)  # the head ends anywhere
        return bytes(stream.readNBytes(most))
    finally:
        stream.close()
