"""How a file of CSV is written, by how it begins, as the `format` of a spec says it."""

from __future__ import annotations

import csv
import re
from typing import Any, Dict, Iterable, Iterator, List, Mapping

NO_QUOTE = "\x01"
"""What stands for no quote: no text has it."""

_LEAST_ROWS = 2


def dialect(path: str, text: str) -> Dict[str, Any]:
    """Return the format of the text. Raises ValueError for one that must be changed."""
    text = text.lstrip("\r\n")  # an empty line is no record
    lines = text.split("\n")
    first = lines[0].rstrip("\r")
    if re.fullmatch(r"(?i)sep=.", first):
        raise ValueError(
            f"{path} begins with {first!r}, which Excel takes for itself: remove that line,"
            f" as with `sed 1d`, and declare delimiter: {first[-1]!r}"
        )
    delimiter = max(",;\t|", key=first.count)
    if delimiter not in first and " " in first.strip():
        delimiter = _blank(path, lines)
    form: Dict[str, Any] = {"type": "csv"}
    if delimiter != ",":
        form["delimiter"] = delimiter
    mark = re.escape(delimiter)
    start, end = rf"(?:^|{mark})", rf"(?={mark}|\r?$)"
    if re.search(rf"\\(?:\\|{mark}|\")|\\\r?\n(?!$)", text):
        form["escape"] = "\\"
        if not re.search(rf'{start}"', text, re.MULTILINE):
            form["quote"] = NO_QUOTE
        form["null_text"] = []
    body = text.partition("\n")[2]
    has_empty = re.search(rf'{start}""{end}', body, re.MULTILINE)
    has_nothing = re.search(rf"{mark}{end}|^(?={mark})", body, re.MULTILINE)
    if has_empty and has_nothing:
        form["quoted_null"] = False
        form.pop("null_text", None)
    return form


def _blank(path: str, lines: List[str]) -> str:
    """Return a blank where lines are parted by single ones; else a comma, for one column."""
    rows = [each.strip() for each in lines[:100] if each.strip()]
    sizes = {len(each.split()) for each in rows}
    if len(rows) < _LEAST_ROWS or len(sizes) > 1:
        return ","
    if any("  " in each or "\t" in each for each in rows):
        raise ValueError(
            f"{path} parts its columns by several blanks, and a delimiter is one character:"
            " make them one, as with `tr -s ' '`"
        )
    return " "


def rows_of(lines: Iterable[str], form: Mapping[str, Any]) -> Iterator[List[str]]:
    """Yield the rows of a text, where an empty line is none.

    A field that an escape makes null is empty.
    """
    delimiter, escape = form.get("delimiter", ","), form.get("escape")
    if escape:
        mark = re.escape(delimiter)
        null = re.compile(rf"(^|{mark})\\N(?={mark}|\r?\n?$)")
        lines = (null.sub(r"\1", line) for line in lines)
    rows = csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=form.get("quote", '"'),
        escapechar=escape,
    )
    return (row for row in rows if row)


def names_of(path: str, header: List[str], rows: Iterable[List[str]]) -> List[str]:
    """Return the names of the columns. Raises ValueError where the header lacks one.

    The first one may be without a name: R and pandas write the number of the row there.
    """
    sizes = {len(row) for row in rows}
    if sizes == {len(header) + 1} and all(header):
        raise ValueError(
            f"{path} names {len(header)} columns and its rows have {len(header) + 1}: R's"
            " write.table leaves out the name of the first. Write it with col.names = NA, or"
            " add the name to the header"
        )
    if not header or not all(header[1:]) or header == [""]:
        raise ValueError(f"{path} has no header that names every column: add one")
    return header
