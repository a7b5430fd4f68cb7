"""What a file of text really holds, read strictly by plain Python: contract 8, "Read as declared".

Nothing here knows the product's code. A verdict lists the file's records in order; each
is the exact row, or bad. Where the contract leaves the choice (a plus before a number, a
quote amid an unquoted field), a record says so, and either outcome is right.
"""

from __future__ import annotations

import bz2
import gzip
import json
import re
import zlib
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Optional,
    Sequence,
    Set,
    Tuple,
)

Row = Tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """How a table reads its files: names and types of the columns, key and order first."""

    format: str
    columns: Dict[str, str]
    needed: Tuple[str, ...]
    encoding: str = "utf-8"
    delimiter: str = ","
    null_text: Tuple[str, ...] = ("",)
    quoted_null: bool = True
    escape: str = ""
    skip_lines: int = 0
    is_array: bool = False
    """A file of JSON is one array, each element a record."""
    adds: bool = False
    """Undeclared columns are added, so a name that no column can have refuses a file."""


class Any_:
    """A value about which the contract does not decide."""

    def __eq__(self, other: object) -> bool:
        return True

    def __repr__(self) -> str:
        return "ANY"

    __hash__ = None  # type: ignore[assignment]


ANY = Any_()


@dataclass(frozen=True)
class Record:
    """One record: its values, None if it is bad; `either` where bad is right as well.

    `optional`: the record may be passed over (a line of blanks).
    """

    row: Optional[Row]
    either: bool = False
    optional: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Verdict:
    """What must become of a file.

    `must_refuse`: why no row of it may be ingested. `may_refuse`: why its refusal as a
    whole is right too.
    """

    records: Tuple[Record, ...] = ()
    must_refuse: str = ""
    may_refuse: str = ""


class Refused(Exception):
    """The file cannot be read at all."""


class Bad(Exception):
    """The record or value cannot be read."""


class Either(Exception):
    """The contract does not decide about the value."""


def judge(table: Table, name: str, content: bytes) -> Verdict:
    """The verdict about a landing file with that content."""
    try:
        raw = unpacked(name, content)
        if not raw:
            raise Refused("empty")
        if table.format == "csv":
            return _csv(table, raw)
        return _json(table, raw)
    except Refused as refused:
        return Verdict(must_refuse=str(refused))


def unpacked(name: str, content: bytes) -> bytes:
    """The bytes behind a compression that the name tells."""
    try:
        if name.endswith(".gz"):
            return gzip.decompress(content)
        if name.endswith(".bz2"):
            return bz2.decompress(content)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise Refused(f"cannot be unpacked: {error}") from None
    return content


MARKS = (b"\xff\xfe", b"\xfe\xff")


def decoded(table: Table, raw: bytes) -> str:
    """The text; bytes that cannot be decoded stand as lone surrogates."""
    encoding = table.encoding.lower()
    if raw.startswith(MARKS) and not encoding.startswith("utf-16"):
        raise Refused("begins with a mark of UTF-16")
    if encoding == "utf-8":
        raw = raw[3:] if raw.startswith(b"\xef\xbb\xbf") else raw
        return raw.decode("utf-8", errors="surrogateescape")
    if encoding == "windows-1252":
        holes = {0x81, 0x8D, 0x8F, 0x90, 0x9D}
        return "".join(
            chr(0xDC00 + b) if b in holes else bytes([b]).decode("cp1252") for b in raw
        )
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise Refused(f"cannot be decoded: {error}") from None
    return text[1:] if text.startswith("\ufeff") else text


def is_broken(text: str) -> bool:
    """Whether a part of the text could not be decoded, or is a NUL."""
    return any(0xD800 <= ord(char) <= 0xDFFF or char == "\0" for char in text)


# --- CSV ----------------------------------------------------------------------


@dataclass
class _Fields:
    """A record of CSV as it stands: its fields, and what is odd about it."""

    fields: List[str] = field(default_factory=list)
    written: List[str] = field(default_factory=list)
    stray: bool = False
    blank: bool = False


def _csv(table: Table, raw: bytes) -> Verdict:
    above, text = behind_lines(decoded(table, raw), table.skip_lines)
    records = list(csv_records(text, table.delimiter, table.escape))
    if not records:
        raise Refused("no header")
    header, *rest = records
    if text.lstrip()[:1] == "<":
        raise Refused("looks like HTML")
    names = [name.lower() for name in header.fields]
    if any(is_broken(name) for name in names):
        raise Refused("the header cannot be read")
    named = [name for name in names if name]
    if len(set(named)) < len(named):
        raise Refused("two columns of one name")
    if any(need not in names for need in table.needed):
        raise Refused("lacks a column")
    may = _odd_names(table, names) or _csv_doubt(table, above, text, records)
    return Verdict(tuple(_csv_record(table, names, each) for each in rest), "", may)


def _csv_doubt(table: Table, above: str, text: str, records: Sequence[_Fields]) -> str:
    """Why a file may be refused as a whole."""
    header, *rest = records
    may = ""
    if is_broken(above):
        may = "a line above the header cannot be decoded"
    if header.stray or any(each != each.strip() or not each for each in header.fields):
        may = may or "the header is odd"
    if any(each.stray or is_broken("".join(each.fields)) for each in rest):
        may = may or "a stray quote, a NUL or bytes that cannot be decoded"
    if not table.escape and "\r" in text.replace("\r\n", ""):
        may = may or "a carriage return alone"
    if _has_line_feed_amid_characters(table, text):
        may = may or "bytes of a line feed in two characters of UTF-16"
    return may


def behind_lines(text: str, lines: int) -> Tuple[str, str]:
    """The lines of a text that are left out, and what is behind them."""
    parts = text.split("\n", lines)
    above = "\n".join(parts[:lines])
    return above, parts[lines] if len(parts) > lines else ""


def _has_line_feed_amid_characters(table: Table, text: str) -> bool:
    """Whether the second byte of a character and the first of the next are a line feed's."""
    if not table.encoding.lower().startswith("utf-16"):
        return False
    for codec, feed in (("utf-16-le", b"\n\0"), ("utf-16-be", b"\0\n")):
        raw = text.encode(codec, "surrogatepass")
        if any(found.start() % 2 for found in re.finditer(feed, raw)):
            return True
    return False


def _odd_names(table: Table, names: Sequence[str]) -> str:
    """Why a file may be refused for the name of a column that nobody declared."""
    others = [name for name in names if name not in table.columns]
    odd = [name for name in others if not re.fullmatch("[a-z][a-z0-9_]*", name)]
    return f"no column can have the name {odd[0]!r}" if table.adds and odd else ""


def csv_records(text: str, delimiter: str, escape: str = "") -> Iterator[_Fields]:
    """The records of the text by RFC 4180, with an escape where one is declared.

    Refused where a quoted field is broken, or nothing follows an escape.
    """
    at, size = 0, len(text)
    while at < size:
        record = _Fields()
        start = at
        while True:
            begin = at
            value, at, stray = _field(text, at, delimiter, escape)
            record.fields.append(value)
            record.written.append(text[begin:at])
            record.stray = record.stray or stray
            if at < size and text.startswith(delimiter, at):
                at += len(delimiter)
                continue
            break
        line = text[start:at]
        if text.startswith("\r\n", at):
            at += 2
        elif at < size:
            at += 1
        if not line:
            continue
        record.blank = not line.strip()
        yield record


LETTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


def _field(text: str, at: int, delimiter: str, escape: str) -> Tuple[str, int, bool]:
    """The value that begins there, where it ends, and whether a quote stands amid it."""
    size, parts = len(text), []
    is_quoted = at < size and text[at] == '"'
    start = at
    at += is_quoted
    while True:
        if at >= size:
            if is_quoted:
                raise Refused("a quoted field never ends")
            break
        if escape and text[at] == escape:
            if at + 1 >= size:
                raise Refused("nothing follows an escape")
            parts.append(LETTERS.get(text[at + 1], text[at + 1]))
            at += 2
            continue
        if is_quoted and text.startswith('""', at):
            parts.append('"')
            at += 2
            continue
        if is_quoted and text[at] == '"':
            at += 1
            if at < size and not _ends(text, at, delimiter, escape):
                raise Refused("text after a closing quote")
            break
        if not is_quoted and _ends(text, at, delimiter, escape):
            break
        parts.append(text[at])
        at += 1
    return "".join(parts), at, not is_quoted and '"' in text[start:at]


def _ends(text: str, at: int, delimiter: str, escape: str) -> bool:
    """Whether a field without quotes ends there: at its delimiter or its line's end."""
    if escape and text[at] == "\r":
        return text[at + 1 : at + 2] in ("\n", "")
    return text[at] in "\r\n" or text.startswith(delimiter, at)


def _csv_record(table: Table, names: List[str], found: _Fields) -> Record:
    if len(found.fields) != len(names):
        return Record(None, optional=found.blank, reason="another number of fields")
    if any(is_broken(value) for value in found.written):
        return Record(None, reason="cannot be decoded")
    values = {
        name: None if means_null(table, written) else value
        for name, value, written in zip(names, found.fields, found.written)
    }
    texts = {name: values[name] for name in table.columns if name in values}
    return _record(table, texts, either=found.stray, optional=found.blank)


def means_null(table: Table, written: str) -> bool:
    """Whether a field, as it stands in the file, is no text."""
    if table.escape and written == table.escape + "N":
        return True
    if written.startswith('"'):
        inside = written[1:-1].replace('""', '"')
        return table.quoted_null and inside in table.null_text
    return written in table.null_text


# --- JSON ---------------------------------------------------------------------


def _json(table: Table, raw: bytes) -> Verdict:
    text = decoded(table, raw)
    if table.is_array:
        texts, may = array_elements(text.removeprefix("\ufeff")), ""
    else:
        lines = re.split("\r\n|\n|\r", text)
        texts = [line for line in lines if line.strip(" \t")]
        may = _over_lines(text.lstrip(" \t\r\n"))
    records = []
    seen: Dict[str, str] = {}
    inside: Set[str] = set()
    for line in texts:
        if is_broken(line):
            may = may or "a NUL or bytes that cannot be decoded"
        try:  # files that were joined have a mark before each one's first record
            value = strict_json(line.removeprefix("\ufeff"))
        except Bad as bad:
            records.append(Record(None, reason=str(bad)))
            continue
        if not isinstance(value, dict):
            records.append(Record(None, reason="no object"))
            may = may or "a record that is no object"
            continue
        for name in value.keys() - {TWO_SPELLINGS}:
            if seen.setdefault(name.lower(), name) != name:
                may = may or f"two spellings of {name} in two records"
        inside.update(_names_inside(value.values()))
        texts = {name: value[key] for key in value for name in [key.lower()]}
        records.append(_record(table, texts, either=TWO_SPELLINGS in value))
    if any(need not in seen for need in table.needed):
        may = may or "lacks a column"
    may = may or _odd_names(table, sorted({*seen, *inside}))
    return Verdict(tuple(records), "", may)


def array_elements(text: str) -> List[str]:
    """The elements of an array as they stand, sign by sign; Refused where one has no end."""
    text = text.lstrip(" \t\r\n")
    if not text.startswith("["):
        raise Refused("no array")
    found, begin, depth = [], 1, 0
    for at, sign in _outside_of_texts(text):
        if depth == 0 and sign in ",]":
            found.append(text[begin:at].strip(" \t\r\n"))
            begin = at + 1
        if depth == 0 and sign == "]":
            break
        depth = max(0, depth + (sign in "[{") - (sign in "]}"))
    else:
        raise Refused("the array has no end")
    if text[begin:].strip(" \t\r\n"):
        raise Refused("text after the array")
    return [] if found == [""] else found


def _outside_of_texts(text: str) -> Iterator[Tuple[int, str]]:
    """The signs behind the first one that stand in no text, with their places."""
    at, is_text = 1, False
    while at < len(text):
        sign = text[at]
        if sign == '"':
            is_text = not is_text
        elif not is_text:
            yield at, sign
        elif sign == "\\":
            at += 1
        at += 1


def _over_lines(text: str) -> str:
    """Why a file may be refused whose first object has a line break among its parts."""
    try:
        end = json.JSONDecoder().raw_decode(text)[1]
    except (ValueError, RecursionError):
        return ""
    is_over = re.search("[\r\n]", text[:end])
    return "the first object stands over two lines, as all might" if is_over else ""


def _names_inside(values: Iterable[Any]) -> Iterator[str]:
    """The names in objects that are values, at any depth."""
    for value in values:
        if isinstance(value, dict):
            yield from (name.lower() for name in value.keys() - {TWO_SPELLINGS})
            yield from _names_inside(value.values())
        elif isinstance(value, list):
            yield from _names_inside(value)


TWO_SPELLINGS = "\0two spellings"
"""A name of an object that may be bad: see strict_json."""


class Number(str):
    """A number as the text has it."""


def strict_json(text: str) -> Any:
    """The value of a text that is one JSON value and nothing else; Bad otherwise."""

    def pairs(found: List[Tuple[str, Any]]) -> Dict[str, Any]:
        if len(dict(found)) < len(found):
            raise Bad("a name twice")
        names = [name.lower() for name, value in found if value is not None]
        if len(set(names)) < len(names):
            raise Bad("a name twice, in two spellings")
        # One that has no value in one of its spellings may be read or refused.
        values = {name: value for name, value in found if name.lower() not in names}
        values.update((name, each) for name, each in found if each is not None)
        if len({name.lower() for name, _ in found}) < len(found):
            values[TWO_SPELLINGS] = None
        return values

    def constant(word: str) -> Any:
        raise Bad(f"{word} is no JSON")

    try:
        value = json.loads(
            text,
            parse_int=Number,
            parse_float=Number,
            parse_constant=constant,
            object_pairs_hook=pairs,
        )
    except (ValueError, RecursionError) as error:
        raise Bad(f"no JSON: {error}") from None
    if _has_surrogate(value):
        raise Bad("half of a surrogate pair")
    return value


def _has_surrogate(value: Any) -> bool:
    if isinstance(value, str):
        return any(0xD800 <= ord(char) <= 0xDFFF for char in value)
    if isinstance(value, dict):
        return any(map(_has_surrogate, [*value, *value.values()]))
    return isinstance(value, list) and any(map(_has_surrogate, value))


# --- Values -------------------------------------------------------------------


def _record(
    table: Table, found: Dict[str, Any], either: bool = False, optional: bool = False
) -> Record:
    row: List[Any] = []
    for name, kind in table.columns.items():
        try:
            row.append(typed(found.get(name), kind, table))
        except Either:
            row.append(ANY)
            either = True
        except Bad as bad:
            return Record(None, optional=optional, reason=f"{name}: {bad}")
    by_name = dict(zip(table.columns, row))
    if any(by_name[need] is None for need in table.needed):
        return Record(None, optional=optional, reason="no key or order")
    return Record(tuple(row), either, optional)


def typed(value: Any, kind: str, table: Table) -> Any:
    """The value of the declared type; Bad or Either where it is none."""
    if value is None:
        return None
    if kind.startswith("struct"):
        return _place(value, table)
    if isinstance(value, (dict, list)):
        raise Either("a nested value where a single one is declared")
    if isinstance(value, bool):
        value = str(value).lower()
    if table.format == "json" and not isinstance(value, Number):
        if value in table.null_text:
            return None
    return _READERS[kind.split("(")[0]](str(value), kind)


def _text(text: str, kind: str) -> Any:
    return str(text)


_WHOLE = re.compile(r"-?[0-9]+")
_NUMBER = re.compile(r"-?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?")


def _unpadded(text: str) -> Optional[str]:
    """The text without a plus and blanks around it, which a reader may take or not."""
    found = text.strip(" ")
    found = found[1:] if found[:1] == "+" else found
    return found if found != text else None


def _whole(text: str, kind: str) -> Any:
    bits = 63 if kind == "bigint" else 31
    if _WHOLE.fullmatch(text):
        number = int(text)
        if not -(2**bits) <= number < 2**bits:
            raise Bad("out of range")
        return number
    loose = _unpadded(text)
    if loose and _WHOLE.fullmatch(loose):
        raise Either
    raise Bad("no whole number")


def _decimal(text: str, kind: str) -> Any:
    precision, scale = map(int, kind[len("decimal(") : -1].split(","))
    if not _NUMBER.fullmatch(text):
        loose = _unpadded(text)
        if loose and _NUMBER.fullmatch(loose):
            raise Either
        raise Bad("no number")
    number = Decimal(text)
    if number and abs(number.adjusted()) > 400:
        raise Bad("out of range")
    cut = number.quantize(Decimal(1).scaleb(-scale)) if _fits(number, scale) else None
    if cut is None or cut != number or len(cut.as_tuple().digits) > precision:
        raise Bad("more digits than declared")
    return cut


def _fits(number: Decimal, scale: int) -> bool:
    return number.is_zero() or number.adjusted() + scale < 38 - 10


def _double(text: str, kind: str) -> Any:
    if text.lower() in ("nan", "infinity", "-infinity", "inf", "-inf", "+infinity"):
        raise Either
    if not _NUMBER.fullmatch(text):
        loose = _unpadded(text)
        if loose and _NUMBER.fullmatch(loose):
            raise Either
        raise Bad("no number")
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise Bad("out of range")
    if number == 0 and re.search("[1-9]", text.lower().split("e")[0]):
        raise Either
    return number


def _boolean(text: str, kind: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if text.strip().lower() in (
        "true",
        "false",
        "t",
        "f",
        "y",
        "n",
        "yes",
        "no",
        "1",
        "0",
    ):
        raise Either
    raise Bad("no boolean")


_DAY = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_TIME = r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.]([0-9]{1,6}))?)?"
_ZONE = r"(Z|[+-][0-9]{2}(?::?[0-9]{2})?)"
_STAMP = re.compile(f"{_DAY}(?:[ T]{_TIME}{_ZONE}?)?")
_LOOSE = re.compile(
    r"\s*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"([ T][0-9]{1,2}(:[0-9]{1,2}(:[0-9]{1,2}([.][0-9]{0,9})?)?)?)?"
    r"\s*(Z|UTC|GMT|[+-][0-9]{1,2}(:?[0-9]{1,2}(:?[0-9]{2})?)?"
    r"|[A-Z][A-Za-z]+(/[A-Za-z_]+)*)?\s*"
)


def _date(text: str, kind: str) -> Any:
    if re.fullmatch(_DAY, text):
        return _valid(lambda: date.fromisoformat(text))
    if _LOOSE.fullmatch(text):
        raise Either
    raise Bad("no date")


def _timestamp(text: str, kind: str) -> Any:
    found = _STAMP.fullmatch(text)
    if not found:
        if _LOOSE.fullmatch(text):
            raise Either
        raise Bad("no timestamp")
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    micros = int((fraction or "").ljust(6, "0"))
    parts = [int(each or 0) for each in (year, month, day, hour, minute, second)]
    timestamp = _valid(lambda: datetime(*parts, micros, timezone.utc))
    if zone and zone != "Z":
        digits = zone[1:].replace(":", "").ljust(4, "0")
        hours, minutes = int(digits[:2]), int(digits[2:])
        if hours > 18 or minutes > 59:
            raise Bad("no zone")
        shift = timedelta(hours=hours, minutes=minutes)
        try:
            timestamp += -shift if zone[0] == "+" else shift
        except OverflowError:
            raise Either from None
    return timestamp.replace(tzinfo=None)


def _valid(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except ValueError as error:
        raise Bad(str(error)) from None


def _place(value: Any, table: Table) -> Any:
    """struct<city:string,zip:int>, as an object or as its text."""
    if isinstance(value, str) and not isinstance(value, Number):
        value = strict_json(value)
        if value is None:
            raise Either
    if not isinstance(value, dict):
        raise Bad("no object")
    names = {name.lower(): each for name, each in value.items()}
    city, zip_ = names.get("city"), names.get("zip")
    # What CSV writes for null is a text inside of a field that holds JSON.
    nulls = table.null_text if table.format == "json" else ()
    inner = Table("json", {}, (), null_text=nulls)
    return (typed(city, "string", inner), typed(zip_, "int", inner))


_READERS: Dict[str, Callable[[str, str], Any]] = {
    "string": _text,
    "int": _whole,
    "bigint": _whole,
    "decimal": _decimal,
    "double": _double,
    "boolean": _boolean,
    "date": _date,
    "timestamp": _timestamp,
}
