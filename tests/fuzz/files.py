"""Valid landing files of random rows, and what the real world does to files."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import re
from dataclasses import dataclass
from random import Random
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from tests.fuzz.judge import Table, Verdict

COLUMNS = {
    "id": "bigint",
    "at": "timestamp",
    "note": "string",
    "price": "decimal(20,6)",
    "ratio": "double",
    "day": "date",
    "ok": "boolean",
    "pieces": "int",
    "place": "struct<city:string,zip:int>",
}

NOTES = (
    *("plain", "two words", " blank before", "blank after ", "comma, inside"),
    *('say "hi"', '"', '""', "line\nbreak", "carriage\r\nreturn", "tab\tinside"),
    *("caf\u00e9", "\u00fcml\u00e4ut", "100 %", "a=b&c=d", "\\N", "\\", "c:\\dir\\"),
    *("NULL", "null", "true", "0", "1.10", "1e400", "0x10", "2026-01-01", "{}", "[]"),
    *("<b>bold</b>", "'single'", "x" * 3000, "#comment", "a;b|c", "\u00a0nbsp\u00a0"),
)
ANYWHERE = (
    "\U0001f600 smile",
    "\u05d0\u05d1",
    "e\u0301",
    "\ufb01ne",
    "\u2028",
    "\ufffd",
)
"""Notes that one byte a character cannot hold."""

NUMBERS = (
    *("1.10", "1e400", "-1e400", "1e-400", "1e-19", "1.0e2", "5d", "0x1p3", "0x10"),
    *("1_000", "1,5", "\u0663", "+7", " 7", "7 ", "\u00017", "007", "-0", "--1", "1."),
    *(".5", "1e", "NaN", "Infinity", "12345678901234567891", "9223372036854775807"),
    *(
        "9223372036854775808",
        "3000000000",
        "0.1234567",
        "0.123456000",
        "99999999999999",
    ),
    *("123456789012345.5", "1.00000000000000000009e0", "true", "", "lots", "1 2"),
)
TIMES = (
    *("2026-02-03 or later", "2026-02-03Tx", "2026", "2026-02", "2026-02-03 99:99"),
    *("2026-02-031", "2026-02-30", "2026-13-01", "20260203", "03.02.2026", "10:00:00"),
    *("2026-02-03 10:00", "2026-02-03T10:00:00Z", "2026-02-03 10:00:00+02"),
    *("2026-02-03T10:00:00.123456+05:30", "2026-02-03 24:00:00", "2026-02-03 10:00:60"),
    *("2026-W05", "now", "today", "0000-01-01", "2026-2-3", " 2026-02-03", "infinity"),
    *("2026-02-03\u0001", "2026-02-03 10:00:00 Mars/X", "2026-02-03T10:00:00.1234567Z"),
)
BYTES = (
    *(b'"', b'""', b",", b";", b"\n", b"\r\n", b"\r", b"\0", b"\xff", b"\xe9", b"\x80"),
    *(b"{", b"}", b"[", b"]", b":", b"\\", b"\\u", b"'", b" ", b"\t", b"\x01", b"\x1a"),
    *(
        b"\xef\xbb\xbf",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98",
        b"\\ud800",
        b"#",
        b"--",
    ),
)


@dataclass(frozen=True)
class File:
    """A landing file: its name's ending, its bytes, how it was made, and the verdict.

    A file of text has none yet: the judge reads it.
    """

    ending: str
    content: bytes
    made: str
    verdict: Optional[Verdict] = None


Rows = List[Dict[str, object]]


def random_rows(random: Random, first: int, table: Table) -> Rows:
    """Rows with the keys first, first + 1, ...; nulls among them."""
    notes = NOTES if table.encoding in ("latin-1", "windows-1252") else NOTES + ANYWHERE
    rows = []
    for number in range(random.choice((1, 2, 3, 8, 20))):
        at = f"2026-0{random.randint(1, 9)}-{random.randint(10, 28)}"
        row: Dict[str, object] = {
            "id": first + number,
            "at": random.choice((at, f"{at} 10:11:12", f"{at}T01:02:03.000004Z")),
            "note": random.choice(notes),
            "price": random.choice(("1.5", "0", "-12345678901234.123456", "7", "1e3")),
            "ratio": random.choice(
                ("0.1", "-2", "1e300", "5e-324", "0.30000000000000004")
            ),
            "day": random.choice(
                ("2026-02-03", "1900-01-01", "0001-01-01", "9999-12-30")
            ),
            "ok": random.choice(("true", "false")),
            "pieces": random.choice(("0", "-7", "2147483647")),
            "place": {"city": random.choice(notes), "zip": random.randint(0, 99999)},
        }
        for name in list(row)[2:]:
            if random.random() < 0.1:
                row[name] = None
        rows.append(row)
    return rows


_BARE = ("id", "price", "ratio", "pieces")


def csv_text(
    random: Random,
    rows: Rows,
    names: List[str],
    delimiter: str,
    escape: str = "",
    null: str = "",
) -> str:
    """The rows as CSV with a header; fields are quoted where they must, and at times.

    With an escape it stands before what needs one, in quotes or without them.
    """
    out = io.StringIO()
    end = random.choice(("\n", "\n", "\r\n"))

    def field(value: object) -> str:
        if value is None:
            return random.choice((null, f"{escape}N")) if escape else null
        text = (
            json.dumps(value, ensure_ascii=False)
            if isinstance(value, dict)
            else str(value)
        )
        if escape:
            text = _escaped(random, text, delimiter, escape)
            return f'"{text}"' if random.random() < 0.3 else text
        special = any(char in text for char in (delimiter, '"', "\n", "\r"))
        if special or text != text.strip() or random.random() < 0.1:
            return '"' + text.replace('"', '""') + '"'
        return text

    lines = [names] + [[row.get(name) for name in names] for row in rows]
    out.write(end.join(delimiter.join(map(field, line)) for line in lines))
    if random.random() < 0.8:
        out.write(end)
    return out.getvalue()


def _escaped(random: Random, text: str, delimiter: str, escape: str) -> str:
    letters = {"\n": "n", "\r": "r", "\t": "t"}

    def one(char: str) -> str:
        if char in letters and random.random() < 0.5:
            return escape + letters[char]
        needs = char in (delimiter, escape, '"', "\n", "\r")
        return escape + char if needs else char

    return "".join(map(one, text))


def json_text(random: Random, rows: Rows, names: List[str]) -> str:
    """The rows as JSON lines; numbers stand bare or as text."""

    def value(name: str, each: object) -> str:
        if name in _BARE and each is not None and random.random() < 0.7:
            return str(each)
        if name == "ok" and each is not None and random.random() < 0.7:
            return str(each)
        return json.dumps(each, ensure_ascii=random.random() < 0.5)

    lines = []
    for row in rows:
        order = random.sample(names, len(names))
        parts = [
            f"{json.dumps(name)}:{value(name, row.get(name))}"
            for name in order
            if row.get(name) is not None or random.random() < 0.5
        ]
        lines.append("{" + ", ".join(parts) + "}")
    return "".join(line + "\n" for line in lines)


def random_names(random: Random, columns: Sequence[str]) -> Tuple[List[str], str]:
    """The names of a file's columns, changed in three of ten cases, and how."""
    names = list(columns)
    how = _change_columns(random, names) if random.random() < 0.3 else ""
    return names, how


def random_file(
    random: Random,
    first: int,
    table: Table,
    header: Tuple[List[str], str],
    keys: Optional[Sequence[int]] = None,
) -> File:
    """A file of the table: valid in a quarter of cases, else mutated in some ways.

    Its keys are first, first + 1, ... or those given; `header` is of `random_names`.
    """
    rows = random_rows(random, first, table)
    if keys is not None:
        rows = [{**random.choice(rows), "id": key} for key in keys]
    names, how = header
    made = [how]
    if rows and random.random() < 0.5:
        made.append(_change_values(random, rows))
    if table.format == "csv":
        null = table.null_text[0]
        text = csv_text(random, rows, names, table.delimiter, table.escape, null)
        text = "".join(_lines_above(random, table.skip_lines)) + text
    else:
        text = json_text(random, rows, names)
        if table.is_array:
            between = random.choice((",", ", ", ",\n", "\n ,\r\n"))
            text = f"[{between.join(text.split(chr(10))[:-1])}]{random.choice(('', chr(10)))}"
    if random.random() < 0.3:
        text, how = _change_lines(random, text, table)
        made.append(how)
    content = text.encode(_python_name(table), errors="replace")
    if random.random() < 0.5:
        content, how = _change_bytes(random, content)
        made.append(how)
    ending = f".{table.format}"
    if random.random() < 0.15:
        ending, content, how = _packed(random, ending, content)
        made.append(how)
    return File(ending, content, "; ".join(each for each in made if each) or "valid")


def _lines_above(random: Random, lines: int) -> List[str]:
    """Lines that stand above a header: they are no records, whatever they hold."""
    above = ("sep=,", "", "Report", 'said "so', "a,b,c", "id,at,note", "100 \u20ac")
    ends = ("\n", "\r\n")
    return [random.choice(above) + random.choice(ends) for _ in range(lines)]


def _python_name(table: Table) -> str:
    return {"windows-1252": "cp1252"}.get(table.encoding, table.encoding)


def _change_columns(random: Random, names: List[str]) -> str:
    way = random.choice(("drop", "add", "swap", "case", "twice", "blank"))
    at = random.randrange(len(names))
    if way == "drop":
        return f"without {names.pop(at)}"
    if way == "add":
        new = random.choice(NAMES)
        names.insert(at, new)
        return f"with {new!r}"
    if way == "swap":
        random.shuffle(names)
    elif way == "case":
        names[at] = names[at].upper()
    elif way == "twice":
        names.append(names[at].upper())
    else:
        names[at] = names[at] + " "
    return f"{way} of columns"


NAMES = (
    *(
        "extra",
        "valid_from",
        "is_current",
        "lake_key",
        "lake_2_note",
        "_hoodie_record_key",
    ),
    *(
        "version_key",
        "lake_seen",
        "Extra Column",
        "gr\u00f6\u00dfe",
        "(x)",
        "a.b",
        "select",
    ),
    *("\U0001f600", "x" * 200, "`tick`", "op", "1st", "source_valid_from", "lake_x"),
)


def _change_values(random: Random, rows: Rows) -> str:
    made = []
    for _ in range(random.choice((1, 1, 2, 4))):
        row = random.choice(rows)
        name = random.choice(list(row))
        if COLUMNS[name] in ("timestamp", "date"):
            row[name] = random.choice(TIMES)
        elif name == "place":
            row[name] = random.choice(
                (
                    {"city": "x", "zip": "lots"},
                    {"city": "x", "zip": 1.5},
                    {"zip": 3000000000},
                    {"city": {"deep": 1}},
                    "unknown",
                    "[1]",
                    '{"city":"x"}{"city":"y"}',
                    '{"city":"x","City":"y"}',
                    '{"city":"x"} tail',
                )
            )
        elif name == "note":
            row[name] = random.choice(NUMBERS + TIMES)
        else:
            row[name] = random.choice(NUMBERS)
        made.append(f"{name} {row[name]!r}")
    return ", ".join(made)


def _change_lines(random: Random, text: str, table: Table) -> Tuple[str, str]:
    lines = text.splitlines(keepends=True)
    at = random.randrange(len(lines))
    way = random.choice(
        ("drop", "twice", "swap", "join", "ends", "blank", "junk", "object")
    )
    if way == "drop":
        del lines[at]
    elif way == "twice":
        lines.insert(at, lines[at])
    elif way == "swap":
        other = random.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif way == "join":
        lines[at] = lines[at].rstrip("\r\n")
    elif way == "ends":
        lines = [
            re.sub("\r?\n$", random.choice(("\n", "\r\n")), each) for each in lines
        ]
    elif way == "blank":
        lines.insert(at, random.choice(("\n", "\r\n", " \n")))
    elif way == "junk":
        lines.insert(
            at, random.choice(("junk\n", "null\n", "[]\n", "{}\n", "<html>\n", ",\n"))
        )
    elif table.format == "json" and lines[at].rstrip().endswith("}"):
        tail = random.choice(
            (',"note":"again"}\n', ',"ID":5}\n', "} tail\n", "}}\n", "}{}\n")
        )
        lines[at] = lines[at].rstrip()[:-1] + tail
    return "".join(lines), f"{way} of line {at + 1}"


def _change_bytes(random: Random, content: bytes) -> Tuple[bytes, str]:
    made = []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        at = random.randrange(len(content) + 1)
        way = random.choice(("insert", "insert", "delete", "replace", "cut", "copy"))
        piece = random.choice(BYTES)
        if way == "insert":
            content = content[:at] + piece + content[at:]
        elif way == "delete":
            content = content[:at] + content[at + 1 :]
        elif way == "replace":
            content = content[:at] + piece + content[at + 1 :]
        elif way == "cut":
            content = content[:at]
        else:
            end = min(len(content), at + random.randint(1, 40))
            content = content[:end] + content[at:end] + content[end:]
        made.append(f"{way} {piece!r} at {at}" if way[0] in "ir" else f"{way} at {at}")
    return content, ", ".join(made)


def _packed(random: Random, ending: str, content: bytes) -> Tuple[str, bytes, str]:
    way: Callable[[bytes], bytes]
    suffix, way = random.choice(((".gz", gzip.compress), (".bz2", bz2.compress)))
    packed = way(content)
    if random.random() < 0.3:
        packed = packed[: random.randrange(len(packed))]
        return ending + suffix, packed, f"cut {suffix}"
    return ending + suffix, packed, suffix
