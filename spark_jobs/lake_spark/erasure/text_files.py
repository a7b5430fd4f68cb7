"""Records of a text file made blank, so that those after them keep their numbers.

Records are counted as Spark counts them: whoever blanks one checks that by reading
the file again.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import re
import zlib
from typing import (
    Any,
    BinaryIO,
    Callable,
    Dict,
    Iterable,
    Iterator,
    Set,
    Tuple,
    Union,
)

from lake_spec.model import Csv
from lake_spec.model.column_type import ColumnType
from lake_spec.text.json_arrays import spans
from lake_spark.formats.csv_text import field_at, field_pattern, nothing, skipped
from lake_spark.formats.json_records import BadRecord, object_of, text_of

LARGEST = 256 << 20
"""Landing files of more bytes, unpacked, are not rewritten: they pass through memory."""

_Unpacked = Union[gzip.GzipFile, bz2.BZ2File]
_Packing = Tuple[Callable[[BinaryIO], _Unpacked], Callable[[bytes], bytes]]
_PACKINGS: Dict[str, _Packing] = {
    ".gz": (
        lambda packed: gzip.GzipFile(fileobj=packed),
        lambda content: gzip.compress(content, mtime=0),
    ),
    ".bz2": (lambda packed: bz2.BZ2File(packed), bz2.compress),
}
_UNREADABLE = (".zst", ".deflate", ".snappy", ".lz4", ".xz", ".Z")


class NotBlanked(Exception):
    """Why a file's records cannot be blanked here."""


def blanked(path: str, content: bytes, blank: Callable[[bytes], bytes]) -> bytes:
    """Apply `blank` to the content's text and compress it as it was."""
    if path.endswith(_UNREADABLE):
        raise NotBlanked(f"{path.rsplit('.', 1)[-1]} files cannot be rewritten")
    for suffix, (opened, pack) in _PACKINGS.items():
        if path.endswith(suffix):
            return pack(blank(_unpacked(opened(io.BytesIO(content)))))
    refuse_large(len(content))
    return blank(content)


def refuse_large(size: int) -> None:
    """Raise NotBlanked if a content has more bytes than pass through memory."""
    if size > LARGEST:
        raise NotBlanked(f"has more than {LARGEST:,} bytes when decompressed")


def _unpacked(file: _Unpacked) -> bytes:
    """Return all of a packed file, of which no more than the limit is unpacked."""
    try:
        content = file.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise NotBlanked(f"cannot be decompressed ({error})") from None
    refuse_large(len(content))
    return content


def blank_csv(content: bytes, records: Set[int], kind: Csv) -> bytes:
    """Empty these records (from 1) of CSV: as many fields, none with a value."""
    text = content.decode(kind.encoding, errors="strict")
    head = text[:1] if text[:1] == "\ufeff" else ""
    text = text[len(head) :]
    start = skipped(text, kind)
    parts = [head, text[:start]]
    number = 0 if kind.header else 1
    for record, fields, end in _csv_records(text[start:], kind):
        if not record.strip():
            parts.append(record + end)
            continue
        if number in records:
            record = _blank_record(kind, fields)
        parts.append(record + end)
        number += 1
    return "".join(parts).encode(kind.encoding)


def _blank_record(kind: Csv, fields: int) -> str:
    """Return a record of which each field means null, and that is no empty line."""
    field = nothing(kind)
    first = field if field or (kind.tells_nulls and fields > 1) else kind.quote * 2
    return kind.delimiter.join([first, *[field] * (fields - 1)])


def _csv_records(text: str, kind: Csv) -> Iterator[Tuple[str, int, str]]:
    """Yield (record, how many fields, its line end) of each record, empty ones too."""
    comma = re.escape(kind.delimiter)
    field = re.compile(f"{field_pattern(kind, once=False)}[^{comma}\\r\\n]*")
    begin = at = 0
    fields = 0
    while at < len(text):
        at += len(field_at(field, text, at))
        fields += 1
        if text.startswith(kind.delimiter, at):
            at += len(kind.delimiter)
            if at < len(text):
                continue
            fields += 1
        end = "\r\n" if text.startswith("\r\n", at) else text[at : at + 1]
        yield text[begin:at], fields, end
        begin = at = at + len(end)
        fields = 0


def blank_json(
    content: bytes, records: Set[int], maps: Iterable[Tuple[str, ColumnType]]
) -> bytes:
    """Empty these records (from 1) of JSON lines: their names stay, no value does.

    `maps` are the declared columns by the names that files have for them: in a map
    the names are values too.
    """
    declared = {name.lower(): kind for name, kind in maps}
    lines = re.split(rb"(\r\n|\n|\r)", content)
    number = 0
    for i in range(0, len(lines), 2):
        if not lines[i].strip():
            continue
        number += 1
        if number in records:
            lines[i] = _blank_line(lines[i], declared)
    return b"".join(lines)


def blank_array(
    content: bytes, records: Set[int], maps: Iterable[Tuple[str, ColumnType]]
) -> bytes:
    """Empty these elements (from 1) of a JSON array, as those of lines."""
    declared = {name.lower(): kind for name, kind in maps}
    text = content.decode("utf-8", "surrogateescape")
    parts, at = [], 0
    for number, (begin, end) in enumerate(spans(text), start=1):
        element = text[begin:end].encode("utf-8", "surrogateescape")
        parts.append(text[at:begin].encode("utf-8", "surrogateescape"))
        is_chosen = number in records
        parts.append(_blank_line(element, declared) if is_chosen else element)
        at = end
    return b"".join([*parts, text[at:].encode("utf-8", "surrogateescape")])


def _blank_line(line: bytes, declared: Dict[str, ColumnType]) -> bytes:
    try:
        record = object_of(text_of(line), any_characters=True)
    except (UnicodeDecodeError, BadRecord):
        return b"{}"  # what is no record has no names to keep
    blank = {
        name: _blank(value, declared.get(name.lower(), _ANY))
        for name, value in record.items()
    }
    return json.dumps(blank, ensure_ascii=False).encode()


_ANY = ColumnType("string")


def _blank(value: Any, kind: ColumnType) -> Any:
    """Return the names of structs and the nesting of lists, without any value."""
    if isinstance(value, dict):
        if kind.name == "map":
            return {}
        known = dict(zip((n.lower() for n in kind.fields), kind.inner))
        return {n: _blank(v, known.get(n.lower(), _ANY)) for n, v in value.items()}
    if isinstance(value, list):
        inner = kind.inner[0] if kind.name == "array" else _ANY
        return [_blank(each, inner) for each in value]
    return None
