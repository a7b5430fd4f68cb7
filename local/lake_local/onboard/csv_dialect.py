"""How a file of CSV is written, by how it begins, as the `format` of a spec says it."""

from __future__ import annotations

import csv
import re
from itertools import islice
from typing import Any, Dict, Iterable, Iterator, List, Mapping

NO_QUOTE = "\x01"
"""What stands for no quote: no text has it."""

_LEAST_ROWS = 2
_DELIMITERS = ",;\t|"
_SEPARATOR = re.compile(r"(?i)sep=(.)\r?\n")
"""The line by which Excel is told the delimiter."""
_MOST_ABOVE, _LEAST_BELOW, _LOOKED_AT = 10, 3, 50
"""Lines that may stand above a header, and below it so that it is known for one."""


def _lines_above(lines: List[str]) -> int:
    """Return how many lines stand above the header.

    They have no delimiter, where the header and all lines below it have as many.
    """
    if _SEPARATOR.match(f"{lines[0]}\n"):
        return 1
    for delimiter in _DELIMITERS:
        counts = [line.count(delimiter) for line in lines[:_LOOKED_AT] if line.strip()]
        above = next((at for at, count in enumerate(counts) if count), 0)
        below = set(counts[above:])
        if not above or len(below) > 1 or len(counts) - above < _LEAST_BELOW:
            continue
        filled = [at for at, line in enumerate(lines) if line.strip()]
        return filled[above] if above <= _MOST_ABOVE else 0
    return 0


def dialect(path: str, text: str) -> Dict[str, Any]:
    """Return the format of the text. Raises ValueError for one that must be changed."""
    form: Dict[str, Any] = {"type": "csv"}
    skipped = _lines_above(text.split("\n"))
    if skipped:
        form["skip_lines"] = skipped
    said = _SEPARATOR.match(text)
    lines = text.split("\n")[skipped:]
    text = "\n".join(lines).lstrip("\r\n")  # an empty line is no record
    lines = text.split("\n")
    first = lines[0].rstrip("\r")
    delimiter = said[1] if said else max(_DELIMITERS, key=first.count)
    if delimiter not in first and " " in first.strip():
        delimiter = _blank(path, lines)
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
    """Return a blank where lines are parted by single ones; else a comma, for one column.

    Raises ValueError for columns that stand below each other.
    """
    rows = [each.strip() for each in lines[:100] if each.strip()]
    sizes = {len(each.split()) for each in rows}
    if len(sizes) > 1 and _stand_below_each_other(lines[:100]):
        raise ValueError(
            f"{path} has columns of fixed width, which no setting reads: convert it, as with"
            " pandas.read_fwf(FILE, dtype=str, keep_default_na=False)"
            ".to_csv(NEW, index=False)"
        )
    if len(rows) < _LEAST_ROWS or len(sizes) > 1:
        return ","
    if any("  " in each or "\t" in each for each in rows):
        raise ValueError(
            f"{path} parts its columns by several blanks, and a delimiter is one character:"
            " make them one, as with `tr -s ' '`"
        )
    return " "


def _stand_below_each_other(lines: List[str]) -> bool:
    """Return whether there is a blank at one place of all lines, and two side by side."""
    filled = [each.rstrip() for each in lines if each.strip()]
    has_gaps = sum("  " in each for each in filled) > len(filled) / 2
    width = min(map(len, filled))
    gutters = (all(each[at] == " " for each in filled) for at in range(width))
    return has_gaps and len(filled) >= _LEAST_BELOW and any(gutters)


def rows_of(lines: Iterable[str], form: Mapping[str, Any]) -> Iterator[List[str]]:
    """Yield the rows of a text, where an empty line is none.

    A field that an escape makes null is empty.
    """
    delimiter, escape = form.get("delimiter", ","), form.get("escape")
    lines = islice(lines, form.get("skip_lines", 0), None)
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
