"""Text for people: aligned tables, durations, lines of progress."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import Any, Iterator, Sequence


def cell(value: Any) -> str:
    """A value as it stands in a table: nothing is `-`, thousands are marked.

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
    """Lines of aligned columns; numbers stand to the right."""
    texts = [list(head), *([cell(value) for value in row] for row in rows)]
    widths = [max(len(row[i]) for row in texts) for i in range(len(head))]
    right = [
        bool(rows) and all(_is_number(row[i]) for row in rows) for i in range(len(head))
    ]
    yield _line(texts[0], widths, right)
    yield "  ".join("-" * width for width in widths)
    for row in texts[1:]:
        yield _line(row, widths, right)


def tell(line: str) -> None:
    """Print a line of progress to standard error; data alone goes to standard output."""
    print(line, file=sys.stderr, flush=True)


def elapsed(seconds: float) -> str:
    """`1:05` for 65 seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = (
        text.rjust(width) if to_right else text.ljust(width)
        for text, width, to_right in zip(row, widths, right)
    )
    return "  ".join(cells).rstrip()


def _is_number(value: Any) -> bool:
    return value is None or (
        isinstance(value, (int, float, Decimal)) and value is not True
    )
