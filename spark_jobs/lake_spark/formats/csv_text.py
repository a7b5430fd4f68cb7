"""What CSV is, as text: its encodings, its header, what a line is, and words for faults."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import List, Optional, Pattern, Tuple

from lake_spec.model import Csv
from lake_spec.model.sources import CHARSETS
from lake_spec.text.marked_values import quoted_value, row_value
from lake_spark.errors import (
    BadFileReason,
    SHOWN,
    UndecodableFile,
    UnreadableFile,
)

LARGEST = 16_000_000
"""The most bytes of a line, and characters of a field, that are read."""

MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32", ""),
    (b"\x00\x00\xfe\xff", "UTF-32", ""),
    (b"\xef\xbb\xbf", "UTF-8", "UTF-8"),
    (b"\xff\xfe", "UTF-16", "UTF-16LE"),
    (b"\xfe\xff", "UTF-16", "UTF-16BE"),
)
"""First bytes of a file that say its encoding: what to call it, and Java's name."""


def charset(kind: Csv) -> str:
    """Return Java's name of the declared encoding."""
    return CHARSETS[kind.encoding.lower()]


def needs_mark(kind: Csv) -> bool:
    """Return whether the first bytes of files must be known before their lines are read.

    Those of files with a header were looked at when it was read.
    """
    return charset(kind) == "UTF-16" or not (kind.header or charset(kind) == "UTF-8")


def charset_of(kind: Csv, head: bytes, path: str) -> str:
    """Return the encoding to read a file with.

    Raise UndecodableFile where its first bytes say another.
    """
    declared = charset(kind)
    for mark, name, java_name in MARKS:
        if not head.startswith(mark):
            continue
        if declared == java_name or (declared == "UTF-16" and name == declared):
            return java_name
        shown = mark.hex(" ").upper()
        remedy = f"Set source.format.encoding: {name}"
        if name == "UTF-32":
            remedy = "Land it in UTF-8"
        raise UndecodableFile(
            path,
            f"begins with the byte order mark of {name} ({shown}), but the table's encoding "
            f"is {kind.encoding}. {remedy}.",
        )
    if declared == "UTF-16":
        raise UndecodableFile(
            path,
            "has no byte order mark, so UTF-16 can be little or big endian. Set "
            "source.format.encoding: UTF-16LE or UTF-16BE.",
        )
    return declared


def field_pattern(kind: Csv, *, once: bool, alone: bool = False) -> str:
    """Return a pattern of a field as it stands, its quotes and escapes with it.

    For Java and for Python. `once`: with quantifiers that give nothing back, which Python
    has from 3.11 on. `alone`: of a record whose line end was cut off.
    """
    run, all_of = ("++", "*+") if once else ("", "*")
    quote, delimiter = _code(kind.quote), _code(kind.delimiter)
    escape = _code(kind.escape or "")
    broken = "" if kind.multiline else r"\r\n"
    escaped = rf"|{escape}[\s\S]" if escape else ""
    # Where nothing is escaped, a carriage return in a field must be quoted.
    cr = (r"|\r" if alone else r"|\r(?=[^\n])") if escape or not once else ""
    inside = f"(?:[^{quote}{escape}{broken}]{run}|{quote}{quote}{escaped}){all_of}"
    first = rf"(?:[^{quote}{delimiter}{escape}\r\n]{cr}{escaped})"
    more = rf"(?:[^{delimiter}{escape}\r\n]{run}{cr}{escaped}){all_of}"
    return f"(?:{quote}{inside}{quote}(?!{quote})|{first}{more}|)"


def field_at(pattern: Pattern[str], text: str, at: int) -> str:
    """Return the field that begins at a place of the text, by a compiled `field_pattern`.

    What is no field, as a quote that nothing closes, is an empty one.
    """
    found = pattern.match(text, at)
    return found[0] if found else ""


def nothing(kind: Csv) -> str:
    """Return what a field that means null is written as; empty if only that is none."""
    if kind.escape:
        return f"{kind.escape}N"
    return "" if "" in kind.null_text else next(iter(kind.null_text), "")


def _code(char: str) -> str:
    return f"\\u{ord(char):04x}" if char else ""


def value_of(field: str, kind: Csv) -> str:
    """Return the text that a field means, where it means one."""
    quote = kind.quote
    if field.startswith(quote):
        field = field[1:-1].replace(quote * 2, quote)
    if not kind.escape or kind.escape not in field:
        return field
    pattern = re.compile(f"{_code(kind.escape)}([\\s\\S])")
    return pattern.sub(lambda found: CONTROLS.get(found[1], found[1]), field)


def skipped(text: str, kind: Csv) -> int:
    """Return where the text goes on behind the lines that are left out."""
    at = 0
    for _ in range(kind.skip_lines):
        at = text.find("\n", at) + 1 or len(text)
    return at


CONTROLS = dict(zip("nrtbfv0", "\n\r\t\b\f\v\0"))
"""Letters that mean a control character behind an escape."""


def first_record(text: str, kind: Csv) -> Tuple[List[str], bool]:
    """Read the fields of the first record that is not empty, and whether its end was seen.

    ValueError where its quotes break the rules.
    """
    text = text.lstrip("\r\n")
    fields: List[str] = []
    if not text:
        return fields, False
    pattern, at = re.compile(field_pattern(kind, once=False)), 0
    while True:
        field = field_at(pattern, text, at)
        is_quoted = text.startswith(kind.quote, at)
        if is_quoted and not field:
            raise ValueError("a quoted field never ends")
        at += len(field)
        if (
            is_quoted
            and at < len(text)
            and text[at] not in (kind.delimiter, "\r", "\n")
        ):
            raise ValueError("there is text after a closing quote")
        fields.append(value_of(field, kind))
        if not text.startswith(kind.delimiter, at):
            return fields, at < len(text)
        at += 1


def patterns(kind: Csv) -> Tuple[str, str, str, str]:
    """Return patterns of what a line is: whole, opens a quote; inside one: closes, goes on.

    No quantifier gives back what it took, so each pattern takes one way through a line.
    """
    quote, delimiter = _code(kind.quote), _code(kind.delimiter)
    inside = f"[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*+"
    bare = f"[^{quote}{delimiter}\\r][^{delimiter}\\r]*+"
    any_field = f"(?:{quote}{inside}{quote}|{bare}|)"
    more = f"(?:{delimiter}{any_field})*+"
    # After a quoted CR the CR of a CR LF would look the same.
    end = rf"(?<!\r{quote})\r?\z"
    opened = f"(?:{any_field}{delimiter})*+{quote}{inside}"
    return (
        rf"\A{any_field}{more}{end}",
        rf"\A{opened}\z",
        rf"\A{inside}{quote}{more}{end}",
        rf"\A{inside}(?:{quote}{delimiter}{opened})?+\z",
    )


@dataclass(frozen=True)
class Fault:
    """The first fault of a file: its line and record, and the beginning of the line.

    `record` counts the header, 0 if it is unknown; `kind` is a word of _WORDS or
    `quote`; `inside` whether the line begins inside a quoted field.
    """

    line: int
    record: int
    kind: str
    inside: bool
    excerpt: bytes


def reason(fault: Fault, kind: Csv, read_as: str) -> BadFileReason:
    """Return why a file is refused: what is wrong, where and what to do."""
    line, again = fault.excerpt, "Fix the file and land it again"
    if fault.line == 1:
        try:
            charset_of(kind, line, "")
        except UndecodableFile as bad:
            return UndecodableFile, bad.reason
    number = fault.record - bool(kind.header)
    where = f"record {number:,}" if number else "the header"
    where = f"{where} (line {fault.line:,})" if fault.record else f"line {fault.line:,}"
    text = line.decode(read_as, errors="backslashreplace")
    what, remedy = _words(fault, kind, text)
    error = UndecodableFile if fault.kind == "decode" else UnreadableFile
    if fault.kind == "decode":
        what = f"{_undecodable(line, read_as)} is not {kind.encoding}"
    return error, f"{what} in {where}: {_shown(text)}. {again}{remedy}."


def _shown(text: str) -> str:
    """Show the line, or its beginning: how long it is, its excerpt does not show."""
    return quoted_value(text[:SHOWN]) + ("..." if len(text) > SHOWN else "")


_WORDS = {
    "decode": ("", ", or set source.format.encoding"),
    "nul": ("there is a NUL character", ", or set source.format.encoding"),
    "blank": (
        "there are only blanks, which are skipped where multiline is false,",
        ", or set source.format.multiline: true",
    ),
    "mark": ("there is a second byte order mark", ""),
    "cr": ("a quoted field ends with a carriage return", ""),
    "end": ("a quoted field begins that never ends", ", or set source.format.quote"),
    "after": ("there is text after a closing quote", ", or set source.format.quote"),
    "alone": (
        "there is a carriage return without a line feed, outside of quotes",
        " with lines that end with LF or CR LF",
    ),
    "escape": ("nothing follows an escape", ", or set source.format.escape"),
    "open": (
        "a quoted field does not end in its line",
        ", or set source.format.multiline: true",
    ),
}
"""Kind of a fault -> what is wrong, and what to do next to landing the file again."""


def _words(fault: Fault, kind: Csv, text: str) -> Tuple[str, str]:
    if fault.kind != "quote":
        return _WORDS[fault.kind]
    quote = re.escape(kind.quote)
    rest = text
    if fault.inside:
        rest = re.sub(f"^[^{quote}]*(?:{quote}{quote}[^{quote}]*)*", "", text, count=1)
    outside = re.sub(f"{quote}[^{quote}]*{quote}", kind.quote * 2, rest)
    if "\r" in outside.split(kind.quote)[0].rstrip("\r"):
        return _WORDS["alone"]
    is_open = not kind.multiline and outside.count(kind.quote) % 2
    return _WORDS["open" if is_open else "after"]


def _undecodable(line: bytes, read_as: str) -> str:
    try:
        line.decode(read_as)
    except UnicodeDecodeError as error:
        return f"byte {row_value(line[error.start : error.end][:4].hex(' ').upper())}"
    return "a byte"


def too_large(error: BaseException) -> Optional[str]:
    """Return why Spark's parser gave up a file, where a field or record is too large."""
    text = str(error)
    if "TextParsingException" not in text or "ArrayIndexOutOfBounds" not in text:
        return None
    record = re.search(r"record=(\d+)", text)
    where = f"record {int(record[1]):,}" if record else "a record"
    return (
        f"{where} is larger than the limit ({LARGEST:,} characters in a field, 20,000 "
        "fields), unpacked. Land it with smaller values."
    )


def too_long(size: int, most: int) -> str:
    """Return why a file is refused whose fields are taken apart as they stand."""
    return (
        f"has {size:,} bytes when decompressed, and with source.format.escape, with "
        f"skip_lines, or with quoted_null: false and words in null_text, a file may have "
        f"{most:,}: it is read as a whole. Land it in parts."
    )


def miscounted(read: int, held: int) -> str:
    """Return why a file is refused of which Spark read another number of records."""
    return (
        f"its lines have {held:,} record(s), of which {read:,} were read: a line is "
        f"larger than the limit ({LARGEST:,} bytes unpacked). Land it with smaller values."
    )
