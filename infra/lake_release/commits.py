"""The commit of a release, and whether it is older than another one."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Optional


@dataclass(frozen=True)
class Commit:
    """A commit by its whole id, and when it was made, in seconds since 1970."""

    id: str
    at: int


@dataclass(frozen=True)
class Checkout:
    """Git's description of the tree that a release is built from."""

    project: Path

    def commit(self, name: str = "HEAD") -> Optional[Commit]:
        """Return a commit; None without git, or without that commit here."""
        output = self._git(
            "show",
            "--no-patch",
            "--format=%H %ct",
            "--end-of-options",
            f"{name}^{{commit}}",
        )
        if output is None:
            return None
        id, at = output.split()
        return Commit(id, int(at))

    def is_ancestor(self, one: str, other: str) -> bool:
        """Return whether the other commit, which is here too, descends from this
        one."""
        return (
            self._git("merge-base", "--is-ancestor", "--end-of-options", one, other)
            is not None
        )

    def is_older(self, one: Commit, other: Commit) -> bool:
        """Return whether it was made before the other one.

        If neither descends from the other, or it is not here, their times decide.
        """
        if one.id == other.id or (
            self.commit(other.id) and self.is_ancestor(other.id, one.id)
        ):
            return False
        return self.is_ancestor(one.id, other.id) or one.at < other.at

    def _git(self, *asked: str) -> Optional[str]:
        """Return git's output; None if it fails or is not installed."""
        argv = ["git", "-C", str(self.project), *asked]
        try:
            done = subprocess.run(argv, capture_output=True, text=True)
        except OSError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None
