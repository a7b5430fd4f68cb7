"""In which encoding the text of files is, by their bytes, and how sure that is.

A mark at a file's beginning proves it, and so do letters that are UTF-8: other text is so
by chance almost never. Nothing proves an encoding of one byte a letter: it is a guess, made
only where its words look like words.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import BinaryIO, Iterator, List, cast

from lake_spec.model.sources import CHARSETS

UTF_8, WESTERN = "utf-8", "windows-1252"

_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xef\xbb\xbf", UTF_8),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_LEAST_NULS = 0.05
"""Share of a text's bytes that are 0 in UTF-16, as those of its delimiters and line ends."""
_MOST_UTF_8 = 0.1
"""Share of lines that may be UTF-8 by chance where others are not."""
_MOST_ODD = 0.1
"""Share of letters that may stand where no word has them."""
_SAMPLES = 3

_OTHER = re.compile("[^\x00-\x7f]")
_WORD = re.compile(r"[^\W\d_]*[^\x00-\x7f][^\W\d_]*")
_IN_WORDS = "\u2019\u2018\u00ad\u00b7"
"""Signs that words of some language have in them."""
_BEFORE_NUMBERS = "\u00a3\u00a5\u00a2\u00a4\u00a6\u00af\u00b1\u00b6"
"""Signs that stand before no letter."""
_MOST_IN_A_ROW = 2
"""Letters beyond ASCII that may stand side by side in a word."""


@dataclass(frozen=True)
class Encoding:
    """An encoding by the name that a spec has for it; `why` what to check if it is a guess."""

    name: str
    why: str = ""


def encoding_of(path: str, head: bytes, *, whole: bool) -> Encoding:
    """Return the encoding of a text that begins so.

    Raises ValueError, with what to do, for one that no setting reads. `whole`: the text
    ends where the head does.
    """
    for mark, name in _MARKS:
        if head.startswith(mark) and name == "utf-32":
            raise ValueError(
                f"{path} is UTF-32, which no setting reads: {_convert('UTF-32')}"
            )
        if head.startswith(mark):
            return Encoding(name)
    if b"\0" in head:
        return _wide(path, head)
    lines = head.split(b"\n")
    if not whole and len(lines) > 1:
        lines.pop()
    lines = [each for each in lines if not each.isascii()]
    others = [each for each in lines if not _is_utf_8(each)]
    if not others:
        return Encoding(UTF_8)
    if len(lines) - len(others) > _MOST_UTF_8 * len(lines):
        raise ValueError(
            f"{path} is UTF-8 in some lines, and not in others, such as"
            f" {_shown(others[0])}: write the whole file in one encoding"
        )
    return _western(path, others)


def _wide(path: str, head: bytes) -> Encoding:
    """Return UTF-16 without a mark, by the bytes that are 0: all first or all second ones."""
    first, second = head[::2].count(0), head[1::2].count(0)
    name = "utf-16le" if second > first else "utf-16be"
    if min(first, second) == 0 and first + second > _LEAST_NULS * len(head):
        return Encoding(name, "no byte order mark: every second byte is 0")
    raise ValueError(
        f"{path} has bytes that are 0, so it is no text: if a program's file was renamed,"
        " export it as CSV"
    )


def _western(path: str, lines: List[bytes]) -> Encoding:
    try:
        text = b"\n".join(lines).decode(WESTERN)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is neither UTF-8 nor windows-1252, which have no byte"
            f" {error.object[error.start]:02X}, as in {_shown(_line_at(error))}:"
            f" {_convert('CP850')}, or from what it is in"
        ) from None
    words = list(dict.fromkeys(_WORD.findall(text)))
    letters = len(_OTHER.findall(text))
    if _odd(text) > _MOST_ODD * letters:
        raise ValueError(
            f"{path} is not UTF-8, and in windows-1252 it reads {_samples(words)}, which is"
            f" hardly meant: {_convert('WINDOWS-1251')}, or from what it is in. If it is"
            " meant, write the spec with encoding: windows-1252"
        )
    return Encoding(
        WESTERN,
        f"{len(lines):,} lines that were looked at are not UTF-8, and read so they have"
        f" {_samples(words)}: check these words",
    )


def _odd(text: str) -> int:
    """Count the letters and signs that stand where no word has them."""
    odd = 0
    for found in _OTHER.finditer(text):
        before = text[max(0, found.start() - 1) : found.start()]
        char, after = found[0], text[found.end() : found.end() + 1]
        is_inside = before.isalpha() and after.isalpha() and char not in _IN_WORDS
        odd += not char.isalpha() and is_inside
        odd += char in _BEFORE_NUMBERS and after.isalpha()
    rows = re.findall(r"[\u00c0-\u00ff]{%d,}" % (_MOST_IN_A_ROW + 1), text)
    return odd + sum(map(len, rows))


def _samples(words: List[str]) -> str:
    longest = sorted(words[:100], key=len, reverse=True)[:_SAMPLES]
    return ", ".join(repr(each) for each in longest)


def _line_at(error: UnicodeDecodeError) -> bytes:
    start = error.object.rfind(b"\n", 0, error.start) + 1
    return error.object[max(start, error.start - 20) :]


def _shown(line: bytes) -> str:
    return repr(line.rstrip(b"\r")[:40])


def _convert(name: str) -> str:
    return f"convert it, as with `iconv -f {name} -t UTF-8 FILE > NEW`"


def _is_utf_8(line: bytes) -> bool:
    try:
        line.decode(UTF_8)
    except UnicodeDecodeError:
        return False
    return True


def decoded(head: bytes, name: str, *, whole: bool) -> str:
    """Return the text that a file begins with, without a character that was cut."""
    errors = "strict" if whole else "ignore"
    return head.decode(CHARSETS[name], errors).lstrip("\ufeff")


def whole_lines(text: str, *, whole: bool) -> str:
    """Return a text without its last line where that may be cut."""
    return text if whole else text[: text.rfind("\n") + 1]


def lines_of(stream: BinaryIO, name: str) -> Iterator[str]:
    """Yield the lines of a buffered text with their ends.

    Raises ValueError for bytes that are not of the encoding, and where the first letters
    beyond ASCII are UTF-8 although another encoding is expected.
    """
    if name.startswith("utf-16"):
        yield from _wide_lines(stream, name)
        return
    is_proven = name == UTF_8
    for number, line in enumerate(stream, start=1):
        if line.isascii():
            yield line.decode("ascii")
            continue
        if not is_proven and _is_utf_8(line):
            raise ValueError(
                f"line {number:,} is UTF-8, and read as {name} its letters are others:"
                f" {_shown(line)}. Convert the file"
            )
        if name == UTF_8 and not _is_utf_8(line):
            raise ValueError(f"line {number:,} is not UTF-8: {_shown(line)}")
        is_proven = True
        text = line.decode(CHARSETS[name])
        yield text[1:] if number == 1 and text[:1] == "\ufeff" else text


def _wide_lines(stream: BinaryIO, name: str) -> Iterator[str]:
    if name == "utf-16" and cast(io.BufferedReader, stream).peek(2)[:2] not in (
        b"\xff\xfe",
        b"\xfe\xff",
    ):
        raise ValueError("it has no byte order mark, which the newest file has")
    with io.TextIOWrapper(stream, CHARSETS[name], newline="") as text:
        for number, line in enumerate(text):
            yield line[1:] if not number and line[:1] == "\ufeff" else line
