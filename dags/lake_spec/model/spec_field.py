"""Fields of the model: each carries its documentation and what its values may be."""

from __future__ import annotations

from dataclasses import MISSING, field
from typing import Any, Optional

from lake_spec.model.limits import Form, Limits


def setting(
    doc: str,
    default: Any = MISSING,
    *,
    example: Any = None,
    given: Optional[str] = None,
    limits: Optional[Limits] = None,
    entries: Optional[Limits] = None,
    form: Optional[Form] = None,
) -> Any:
    """Define a field with its line of documentation; no default means required.

    Args:
        given: what else settles the field ("folder" or "files"), so that its file need
            not say it.
        limits: those of a number, or of each number of a list.
        entries: how many entries a list or a mapping may have.
        form: that of a text, or of each text of a list.
    """
    metadata = {
        **{"doc": doc, "example": example, "given": given},
        **{"limits": limits, "entries": entries, "form": form},
    }
    if default is MISSING:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)
