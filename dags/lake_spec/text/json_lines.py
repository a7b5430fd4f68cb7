"""Whether a text is JSON with one object a line, by how it begins."""

from __future__ import annotations

import json
import re
from typing import Optional

_ARRAY = (
    "is a JSON array, but files must have one JSON object per line: convert it, as with"
    " `jq -c '.[]' FILE.json > FILE.jsonl`"
)
_SPREAD = (
    "has JSON objects over several lines, but files must have one JSON object per line:"
    " convert it, as with `jq -c . FILE.json > FILE.jsonl`"
)

_OPEN = re.compile(r"\[\s*(\{|$|\n)")


def fault(text: str, *, is_cut: bool) -> Optional[str]:
    """Return why a file that begins so has not one object a line, and what to do.

    A line that is wrong by itself is no fault of the file: None. `is_cut`: the file goes
    on after the text.
    """
    text = text.lstrip("\ufeff \t\r\n")
    line, _, rest = text.partition("\n")
    if text[:1] not in ("[", "{"):
        return None
    end = _end(text)
    if text[0] == "[":
        is_line = end is not None and end <= len(line) and bool(rest.strip())
        is_broken = end is None and not is_cut and not _OPEN.match(text)
        return None if is_line or is_broken else _ARRAY
    return _SPREAD if end is not None and end > len(line) else None


def _end(text: str) -> Optional[int]:
    """Return where the JSON value ends that the text begins with; None if it is none."""
    try:
        return json.JSONDecoder().raw_decode(text)[1]
    except (ValueError, RecursionError):
        return None
