"""Processes of a server, found as an outsider finds them: by its folder."""

from __future__ import annotations

from pathlib import Path
from typing import List


def processes_of(folder: Path) -> List[str]:
    """Every living process that works in a folder or names it in its arguments."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            place = (process / "cwd").readlink()
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # ended meanwhile, or is somebody else's
            continue
        if place.is_relative_to(folder) or str(folder) in line:
            found.append(f"{process.name} {line}")
    return found
