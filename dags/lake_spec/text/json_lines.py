"""Whether a text is JSON with one object a line, by how it begins."""

from __future__ import annotations

import json
import re
from typing import Optional

_ARRAY = (
    "is a JSON array, but files must have one JSON object per line: convert it, as with"
    " `jq -c '.[]' FILE.json > FILE.jsonl`, or set source.format.layout: array"
)
_SPREAD = (
    "has JSON objects over several lines, but files must have one JSON object per line:"
    " convert it, as with `jq -c . FILE.json > FILE.jsonl`"
)

_BEFORE = "\ufeff \t\r\n"
_OPEN = re.compile(r"\[\s*(\{|$|\n)")


def fault(text: str, *, is_cut: bool) -> Optional[str]:
    """Return why a file that begins so has not one object a line, and what to do.

    A line that is wrong by itself is no fault of the file: None. `is_cut`: the file goes
    on after the text.
    """
    if is_array(text, is_cut=is_cut):
        return _ARRAY
    text = text.lstrip(_BEFORE)
    line = text.partition("\n")[0]
    end = _end(text) if text.startswith("{") else None
    return _SPREAD if end is not None and end > len(line) else None


def is_array(text: str, *, is_cut: bool) -> bool:
    """Return whether a file that begins so is one array; a line with a list is none."""
    text = text.lstrip(_BEFORE)
    if not text.startswith("["):
        return False
    line, _, rest = text.partition("\n")
    end = _end(text)
    is_line = end is not None and end <= len(line) and bool(rest.strip())
    is_broken = end is None and not is_cut and not _OPEN.match(text)
    return not (is_line or is_broken)


def _end(text: str) -> Optional[int]:
    """Return where the JSON value ends that the text begins with; None if it is none."""
    try:
        return json.JSONDecoder().raw_decode(text)[1]
    except (ValueError, RecursionError):
        return None
