"""A field of a spec: its words and its default."""

from __future__ import annotations

from dataclasses import MISSING, field
from typing import Any, Optional


def setting(
    doc: str,
    default: Any = MISSING,
    *,
    example: Any = None,
    given: Optional[str] = None,
) -> Any:
    """Define a field with its line of documentation; no default means required.

    `given` names what else settles the field ("folder" or "files"), so that
    its file need not say it.
    """
    metadata = {"doc": doc, "example": example, "given": given}
    if default is MISSING:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)
