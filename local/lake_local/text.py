"""Text for people: aligned tables, durations, lines of progress."""

from __future__ import annotations

import sys
import unicodedata
from decimal import Decimal
from typing import Any, Iterator, Sequence


def cell(value: Any) -> str:
    """Format a value for a table: nothing as `-`, numbers with thousands separators.

    Floats have one digit, a Decimal those that it came with.
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, Decimal)):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return str(value)


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Format rows as aligned columns, numbers to the right."""
    right = [
        bool(rows) and all(each is None or is_number(each) for each in column)
        for column in (zip(*rows) if rows else [()] * len(head))
    ]
    yield from aligned(head, [[cell(value) for value in row] for row in rows], right)


def aligned(
    head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]
) -> Iterator[str]:
    """Format rows as columns as wide as their widest text on a terminal.

    Args:
        right: for each column, whether its texts are aligned to the right.
    """
    widths = [max(map(_width, column)) for column in zip(head, *rows)]
    for row in (head, ["-" * width for width in widths], *rows):
        cells = []
        for text, width, to_right in zip(row, widths, right):
            room = " " * (width - _width(text))
            cells.append(room + text if to_right else text + room)
        yield "  ".join(cells).rstrip()


def is_number(value: Any) -> bool:
    """Return whether a value is a number; true and false are not."""
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def progress(line: str) -> None:
    """Print a line of progress to standard error; data alone goes to standard output."""
    print(line, file=sys.stderr, flush=True)


def elapsed(seconds: float) -> str:
    """Format seconds as minutes: `1:05` for 65 seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _width(text: str) -> int:
    """Count columns of a terminal: wide letters have two, combining marks none."""
    wide = sum(unicodedata.east_asian_width(each) in "WF" for each in text)
    marks = sum(unicodedata.combining(each) != 0 for each in text)
    return len(text) + wide - marks
