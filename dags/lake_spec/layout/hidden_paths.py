"""Which files of landing are hidden: no table reads them."""

from __future__ import annotations

HIDDEN = (".", "_")
"""How the name of a hidden file, or of a folder of hidden files, begins."""


def is_hidden(path: str) -> bool:
    """Return whether a part of a path begins so: it is nobody's row, but a writer's own."""
    return any(part.startswith(HIDDEN) for part in path.split("/"))
