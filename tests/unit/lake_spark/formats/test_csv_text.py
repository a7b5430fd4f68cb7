"""What CSV is as text: whole lines, open quotes, the header, encodings and words.

The patterns of lines are tried on random text, one line after the other as the check of
landing files goes, against a reader of whole texts that knows nothing of them.
"""

from __future__ import annotations

import random
import re

import pytest

from lake_spec.text.marked_values import unmarked
from lake_spark.errors import UndecodableFile, UnreadableFile
from lake_spark.formats.csv_text import (
    Fault,
    charset_of,
    first_record,
    patterns,
    reason,
    too_large,
)
from lake_spec.model import Csv
from tests.fuzz.judge import Refused, csv_records

CSV = Csv()
WHOLE, OPENS, CLOSES, GOES_ON = (
    re.compile(each.replace(r"\z", r"\Z")) for each in patterns(CSV)
)


def records_by_lines(text: str) -> "int | str":
    """How many records the text has, or `refused`, by what its lines are one by one."""
    inside, records = False, 0
    for line in text.removesuffix("\n").split("\n"):
        records += not inside and line not in ("", "\r")
        if not inside and WHOLE.search(line):
            continue
        if not inside and OPENS.search(line):
            inside = True
        elif inside and CLOSES.search(line):
            inside = False
        elif not inside or not GOES_ON.search(line):
            return "refused"
    return "refused" if inside else records


def records_at_once(text: str) -> "int | str":
    try:
        return len(list(csv_records(text, ",")))
    except Refused:
        return "refused"


def test_records_by_lines_are_those_of_the_whole_text():
    chosen, pieces = random.Random(27), ["a", '"', '"', ",", "\n", "\r\n", '""', "b"]
    texts = [
        "".join(chosen.choice(pieces) for _ in range(chosen.randint(1, 14)))
        for _ in range(20_000)
    ]
    found = [records_by_lines(text) for text in texts]
    assert found == [records_at_once(text) for text in texts]
    assert 2_000 < found.count("refused") < 18_000


@pytest.mark.parametrize(
    "line", ['a\rb,"c"', '"a" ,b', ' "a",b"c"\rd', '"a"b', "a,\rb"]
)
def test_a_line_with_a_lone_return_or_text_after_a_quote_is_not_whole(line):
    assert not WHOLE.search(line) and not OPENS.search(line)


def test_a_long_line_takes_one_way_through_the_pattern():
    assert WHOLE.search('"a ""b"" c",' * 50_000 + "x")
    assert not WHOLE.search('"a ""b"" c",' * 50_000 + '"x"y')


@pytest.mark.parametrize(
    "text, fields, is_whole",
    [
        ("id,note\n1,a\n", ["id", "note"], True),
        ('\r\n"i""d","no\nte"\r\n', ['i"d', "no\nte"], True),
        ("id,\r\n", ["id", ""], True),
        ("id,no", ["id", "no"], False),
        ('""', [""], False),
        ("\n\n", [], False),
    ],
)
def test_the_first_record_is_the_first_that_holds_something(text, fields, is_whole):
    assert first_record(text, CSV) == (fields, is_whole)


def test_a_header_may_have_escapes():
    kind = Csv(delimiter="\t", quote="\x01", escape="\\")
    text = "a\\\tb\tc\\\\\\N\td\\ne\r\nx\t"
    assert first_record(text, kind) == (["a\tb", "c\\N", "d\ne"], True)


@pytest.mark.parametrize(
    "text, words",
    [
        ('id,"a""b', "a quoted field never ends"),
        ('id,"note\n1,a\n', "a quoted field never ends"),
        ('"id"x,note\n', "there is text after a closing quote"),
    ],
)
def test_a_header_with_broken_quotes_is_told(text, words):
    with pytest.raises(ValueError, match=words):
        first_record(text, CSV)


@pytest.mark.parametrize(
    "encoding, head, read_as",
    [
        ("UTF-8", b"\xef\xbb\xbfid", "UTF-8"),
        ("utf-16", b"\xff\xfei\0", "UTF-16LE"),
        ("UTF-16", b"\xfe\xff\0i", "UTF-16BE"),
        ("UTF-16LE", b"i\0", "UTF-16LE"),
        ("latin-1", b"\xe9", "ISO-8859-1"),
    ],
)
def test_an_encoding_is_the_declared_one_or_that_of_its_mark(encoding, head, read_as):
    assert charset_of(Csv(encoding=encoding), head, "1.csv") == read_as


@pytest.mark.parametrize(
    "encoding, head, words",
    [
        (
            "UTF-8",
            b"\xff\xfei\0",
            "mark of UTF-16 (FF FE), but the table's encoding is UTF-8",
        ),
        ("UTF-16LE", b"\xfe\xff", "mark of UTF-16 (FE FF)"),
        ("utf-8", b"\xff\xfe\0\0", "mark of UTF-32 (FF FE 00 00)"),
        ("latin-1", b"\xef\xbb\xbf", "Set source.format.encoding: UTF-8."),
        ("utf-16", b"i\0d\0", "has no byte order mark"),
    ],
)
def test_a_mark_of_another_encoding_refuses_the_file(encoding, head, words):
    with pytest.raises(UndecodableFile, match=re.escape(words)):
        charset_of(Csv(encoding=encoding), head, "1.csv")


@pytest.mark.parametrize(
    "kind, inside, excerpt, words",
    [
        (
            "end",
            False,
            b'8,"a',
            "a quoted field begins that never ends in record 8 (line 9)",
        ),
        (
            "quote",
            True,
            b'8,"b',
            "there is text after a closing quote in record 8 (line 9)",
        ),
        ("quote", False, b"8,a\rb", "a carriage return without a line feed"),
        ("decode", False, b"8,caf\xe9", "byte E9 is not UTF-8 in record 8 (line 9)"),
        (
            "nul",
            False,
            b"8,\0",
            "there is a NUL character in record 8 (line 9): '8,\\x00'",
        ),
        ("end", False, b'"' + b"x" * 1999, "xxx'.... Fix the file"),
    ],
)
def test_a_reason_says_what_where_and_what_to_do(kind, inside, excerpt, words):
    error, told = reason(Fault(9, 9, kind, inside, excerpt), CSV, "UTF-8")
    told = unmarked(told)
    assert words in told and "land it again" in told
    assert error is (UndecodableFile if kind == "decode" else UnreadableFile)


def test_only_a_field_beyond_the_limit_is_told_as_too_large():
    start = "com.univocity.parsers.common.TextParsingException: "
    beyond = start + "java.lang.ArrayIndexOutOfBoundsException - .., line=1, record=7"
    assert "record 7 is larger than the limit" in too_large(ValueError(beyond))
    cut = start + "Error reading from input .. Caused by: java.io.EOFException"
    assert too_large(ValueError(cut)) is None


def test_a_quote_open_at_a_lines_end_is_told_where_lines_are_records():
    _, told = reason(
        Fault(2, 2, "quote", False, b'1,"a'), Csv(multiline=False), "UTF-8"
    )
    assert "a quoted field does not end in its line in record 1 (line 2)" in told
    assert "set source.format.multiline: true" in told
