"""Columns, and types that fit them, from how a file begins."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from itertools import islice
from typing import (
    Any,
    Dict,
    Iterable,
    Iterator,
    Mapping,
    Optional,
    Sequence,
    Tuple,
)

from lake_spec.text import json_arrays, json_lines

from lake_local.onboard.csv_dialect import dialect, names_of, rows_of
from lake_local.onboard.text_encoding import (
    decoded,
    Encoding,
    encoding_of,
    UTF_8,
    whole_lines,
)

MOST_RECORDS = 1000
TYPED = ("parquet", "orc", "avro")
"""Endings of files that have names and types of their columns."""
_OTHERS = {
    "xlsx": "save each sheet as CSV (UTF-8)",
    "xls": "save each sheet as CSV (UTF-8)",
    "ods": "save each sheet as CSV (UTF-8)",
    "xml": "convert it to JSON lines, one object for each record, as with `xq -c`",
    "zip": "unpack it, and land its files",
}
"""Endings of files that the lake does not read, and the way out."""
NULLS = ("NULL", "\\N")
NOT_AVAILABLE = ("NA", "N/A", "#N/A", "-")
"""Words that stand for no value amid values of another type than text."""

WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")
NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})\.(\d{1,10})")
FLOAT = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")
DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
TIME = re.compile(
    DATE.pattern + r"[ T]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?"
    r"(Z|[+-]\d{2}:?\d{2})?"
)
TEXTS: Mapping[str, re.Pattern[str]] = {
    "bigint": WHOLE,
    "date": DATE,
    "timestamp": TIME,
    "decimal": re.compile(f"{WHOLE.pattern}|{NUMBER.pattern}"),
    "double": FLOAT,
    "boolean": re.compile("true|false", re.IGNORECASE | re.ASCII),
}
"""Type -> what its texts look like; the first that fits all is chosen, but `double` only
where one of them has a point."""
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Head:
    """What is known of a file's records.

    `records` are the first of them, None for no value; `format` is for the spec, and
    `why` what to check of it.
    """

    format: Dict[str, Any]
    types: Dict[str, str]
    records: Tuple[Dict[str, Any], ...]
    why: str = ""


def head_of(
    path: str, content: bytes, *, whole: bool, encoding: Optional[Encoding] = None
) -> Head:
    """Return the head of an unpacked file. Raises ValueError with the reason for none.

    `encoding` is that of the whole file, where it is known.
    """
    ending = path.rsplit(".", 1)[-1].lower()
    if ending in ("csv", "tsv", "txt", "json", "jsonl", "ndjson"):
        found = encoding or encoding_of(path, content, whole=whole)
        if ending in ("csv", "tsv", "txt"):
            return _csv(path, content, whole, found)
        return _json(path, content, whole, found)
    if ending in TYPED:
        raise ValueError(
            f"files of {ending} have their types and are not looked into, so their key is"
            " not known: write it"
        )
    if ending in _OTHERS:
        raise ValueError(f"{path}: no setting reads .{ending}: {_OTHERS[ending]}")
    raise ValueError(
        f"{path} has an unknown ending: .csv, .json, .parquet, .orc and .avro are read."
        " Rename it, or write its format into the spec"
    )


def _csv(path: str, content: bytes, whole: bool, found: Encoding) -> Head:
    text = whole_lines(decoded(content, found.name, whole=whole), whole=whole)
    if not text.strip():
        raise ValueError(f"{path} is empty: land a file with a header and rows")
    form = dialect(path, text)
    if found.name != UTF_8:
        form["encoding"] = found.name
    try:
        header, *listed = islice(
            rows_of(io.StringIO(text, newline=""), form), MOST_RECORDS + 1
        )
    except csv.Error as error:
        raise ValueError(
            f"{path} is not valid CSV ({error}): correct the file"
        ) from None
    names = names_of(path, header, listed)
    nulls = [each for each in NULLS if any(each in row for row in listed)]
    records = tuple(
        {name: _value(text, nulls) for name, text in zip(names, row)} for row in listed
    )
    types = {name: type_of([row.get(name) for row in records]) for name in names}
    return Head(with_nulls(form, nulls), types, records, found.why)


def with_nulls(form: Mapping[str, Any], nulls: Iterable[str]) -> Dict[str, Any]:
    """Return the format with the texts that were seen to mean null."""
    seen = set(nulls) - ({f"{form['escape']}N"} if "escape" in form else set())
    if not seen:
        return dict(form)
    empty = [] if form.get("null_text") == [] else [""]
    known = [each for each in (*NULLS, *NOT_AVAILABLE) if each in seen]
    return {**form, "null_text": [*empty, *known]}


def _value(text: str, nulls: Sequence[str]) -> Optional[str]:
    return None if text == "" or text in nulls else text


def _json(path: str, content: bytes, whole: bool, encoding: Encoding) -> Head:
    if encoding.name != UTF_8:
        raise ValueError(
            f"{path} is {encoding.name}, and JSON is read in UTF-8 alone: convert it, as"
            f" with `iconv -f {encoding.name.upper()} -t UTF-8 FILE > NEW`"
        )
    text = decoded(content, UTF_8, whole=whole)
    form = {"type": "json"}
    if json_lines.is_array(text, is_cut=not whole):
        form["layout"] = "array"
    fault = None if "layout" in form else json_lines.fault(text, is_cut=not whole)
    if fault is not None:
        raise ValueError(f"{path} {fault}")
    text = text if "layout" in form else whole_lines(text, whole=whole)
    listed = islice(json_records(path, io.StringIO(text), form), MOST_RECORDS)
    records = list(_until_cut(listed, whole=whole))
    names = list(dict.fromkeys(name for record in records for name in record))
    if not names:
        raise ValueError(
            f"{path} has no record at its beginning: land a file with records"
        )
    types = {name: type_of([row.get(name) for row in records]) for name in names}
    return Head(form, types, tuple(records))


def _until_cut(
    records: Iterator[Dict[str, Any]], *, whole: bool
) -> Iterator[Dict[str, Any]]:
    """Yield records as far as there are whole ones, where the text may be cut."""
    try:
        yield from records
    except json_arrays.NoArray:
        if whole:
            raise


def json_records(
    path: str, lines: Iterable[str], form: Mapping[str, Any]
) -> Iterator[Dict[str, Any]]:
    """Yield the objects of a text. Raises ValueError for what is none."""
    if form.get("layout") == "array":
        text = "".join(lines)
        lines = (text[begin:end] for begin, end in json_arrays.spans(text))
    for line in lines:
        if line.strip():
            yield json_object(path, line)


def json_object(path: str, line: str) -> Dict[str, Any]:
    """Parse a line of JSON. Raises ValueError with what to do for any other."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError(
            f"{path} is not one JSON object per line, nor an array of objects. Write each"
            " record on a line of its own"
        )
    return found


def type_of(values: Sequence[Any]) -> str:
    """Return the type that holds all values; text where there are none."""
    known = [each for each in values if each is not None]
    if not known:
        return "string"
    if all(isinstance(each, list) for each in known):
        return f"array<{type_of([inner for each in known for inner in each])}>"
    if all(isinstance(each, dict) for each in known):
        return _struct(known)
    if all(isinstance(each, str) for each in known):
        return _of_texts(known)
    if all(isinstance(each, bool) for each in known):
        return "boolean"
    if all(isinstance(each, (int, float)) for each in known):
        return _of_texts([json.dumps(each) for each in known])
    return "string"


def _struct(values: Sequence[Dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for each in values for name in each))
    if not names or not all(_FIELD.fullmatch(name) for name in names):
        return "map<string,string>"
    fields = [
        f"{name}:{type_of([each.get(name) for each in values])}" for name in names
    ]
    return f"struct<{','.join(fields)}>"


def _of_texts(texts: Sequence[str]) -> str:
    has_point = any("." in each for each in texts)
    for name, pattern in TEXTS.items():
        if all(map(pattern.fullmatch, texts)) and (name != "double" or has_point):
            places = max(len(each.partition(".")[2]) for each in texts)
            return f"decimal(38,{places})" if name == "decimal" else name
    return "string"
