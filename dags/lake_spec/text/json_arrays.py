"""The elements of a text that is one JSON array, as they stand.

Where an element ends is known without knowing whether it is valid JSON: that is said of
each by itself, as of a line. What leaves the end of an element open is no array.
"""

from __future__ import annotations

import json
import re
from typing import Iterator, Tuple

_BLANKS = re.compile(r"[ \t\r\n]*")
_PIECES = re.compile(r'"(?:[^"\\]|\\[\s\S])*"|[\[\]{},"]')
"""A text, or a sign that may begin or end an element."""

_OTHER = "is no JSON array, and source.format.layout is array"
_CUT = "is a JSON array without its end: it was cut, or a bracket or quote is missing"
_AFTER = "has text after the end of its JSON array"


class NoArray(ValueError):
    """Why a text is no array."""


_ANY = json.JSONDecoder()


def spans(text: str) -> Iterator[Tuple[int, int]]:
    """Yield where each element begins and ends; raise NoArray, perhaps after some."""
    at = _behind_blanks(text, 1 if text.startswith("\ufeff") else 0)
    if not text.startswith("[", at):
        raise NoArray(_OTHER)
    at = _behind_blanks(text, at + 1)
    is_empty = text.startswith("]", at)
    while not is_empty:
        end = _end(text, at)
        yield at, end
        at = _behind_blanks(text, end)
        if text.startswith("]", at):
            break
        at = _behind_blanks(text, at + 1)
    if _behind_blanks(text, at + 1) < len(text):
        raise NoArray(_AFTER)


def _behind_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _end(text: str, at: int) -> int:
    """Return where an element ends: right before a comma or the array's end."""
    try:
        end = _ANY.raw_decode(text, at)[1]
        if text.startswith((",", "]"), _behind_blanks(text, end)):
            return end
    except (ValueError, RecursionError):
        pass  # no value of JSON: it is as long as its brackets say
    depth = 0
    for piece in _PIECES.finditer(text, at):
        sign = piece[0]
        if sign == '"':
            break
        if depth == 0 and sign in (",", "]"):
            return at + len(text[at : piece.start()].rstrip(" \t\r\n"))
        depth += (sign in "[{") - (sign in "]}" and depth > 0)
    raise NoArray(_CUT)
