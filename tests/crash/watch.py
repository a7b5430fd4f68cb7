"""Watch a folder change by change, and freeze a process at one of them."""

from __future__ import annotations

import os
from typing import List, Optional, Pattern, Set

CHECKSUM = ".crc"
"""Next to each of its files, Hadoop keeps one of these on a disk, not on S3."""


def paths_below(root: str) -> Set[str]:
    """Every file and folder below, relative to the root."""
    found: Set[str] = set()
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(f"{root}/{folder}") as entries:
                for entry in entries:
                    if not entry.name.endswith(CHECKSUM):
                        path = f"{folder}{entry.name}"
                        found.add(path)
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(f"{path}/")
        except FileNotFoundError:  # gone since it was listed
            continue
    return found


class Watch:
    """The changes below a folder since it was first looked at.

    A change is a path that appeared (`+path`) or disappeared (`-path`). What
    lived shorter than a look takes, about a millisecond, is not seen.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._known = paths_below(root)
        self.changes: List[str] = []

    def look(self) -> None:
        """Take in what changed since the last look."""
        now = paths_below(self._root)
        self.changes += [f"+{path}" for path in sorted(now - self._known)]
        self.changes += [f"-{path}" for path in sorted(self._known - now)]
        self._known = now

    def first(self, pattern: Pattern[str]) -> Optional[int]:
        """How many changes there were when a path of that form had appeared."""
        numbered = enumerate(self.changes, 1)
        return next((i for i, change in numbered if pattern.search(change)), None)
