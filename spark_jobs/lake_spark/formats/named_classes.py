"""Classes that the notes in a Parquet file's footer name: for some readers, code to run.

The lake reads no type from there. Other readers do, so a file that names one is refused:
Spark makes an object of each class of a type `udt`, pyarrow unpickles some types.
"""

from __future__ import annotations

import base64
import json
from typing import Mapping, Optional

from lake_spec.text.schema_json import class_in

_OF_SPARK = "org.apache.spark."
_PICKLED = b"arrow.py_extension_type"
"""Arrow's name of a type that is a pickle."""


def named_class(notes: Mapping[str, Optional[str]]) -> Optional[str]:
    """Return in words the first class that a footer's notes name; None if they name none."""
    for name, note in notes.items():
        found = _in_note(name, note or "")
        if found:
            return found
    return None


def _in_note(name: str, note: str) -> Optional[str]:
    if name.startswith(_OF_SPARK):
        try:
            return class_in(json.loads(note))
        except (ValueError, RecursionError):  # is no schema to anybody
            return None
    if _PICKLED in note.encode("utf-8", "replace") or _PICKLED in _decoded(note):
        return f"{name[:200]}: a pickled type of Python"
    return None


def _decoded(note: str) -> bytes:
    try:
        return base64.b64decode(note)
    except ValueError:
        return b""
