"""Which paths a glob of landing files names."""

from __future__ import annotations

import re


def glob_pattern(glob: str) -> "re.Pattern[str]":
    """A glob as a pattern: `*` within a folder, `**` over folders, `?` one."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meaning.get(part, re.escape(part)) for part in parts))
