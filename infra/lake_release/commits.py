"""The commit of a release, and whether it may follow another one."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Optional


@dataclass(frozen=True)
class Commit:
    """A commit by its whole id, and when it was made, in seconds since 1970.

    The time is for people: who makes a commit chooses its time.
    """

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

    def why_not_after(self, deployed: str) -> Optional[str]:
        """Return why this tree must not take the place of a deployed commit; None where
        it is that commit or one made on top of it."""
        mine = self.commit()
        if mine is None:
            return (
                "it is unknown whether this tree, which git does not know, is older "
                f"than the deployed commit {deployed}."
            )
        if mine.id == deployed:
            return None
        if self.commit(deployed) is None:
            return (
                f"it is unknown whether the commit {mine.id} was made on top of the "
                f"deployed commit {deployed}, which this checkout does not have. Fetch "
                "the whole history of main."
            )
        if self.is_ancestor(deployed, mine.id):
            return None
        if self.is_ancestor(mine.id, deployed):
            return f"the commit {mine.id} is older than the deployed commit {deployed}."
        return (
            f"the commit {mine.id} was not made on top of the deployed commit "
            f"{deployed}: their histories parted, and it lacks what was deployed."
        )

    def _git(self, *asked: str) -> Optional[str]:
        """Return git's output; None if it fails or is not installed."""
        argv = ["git", "-C", str(self.project), *asked]
        try:
            done = subprocess.run(argv, capture_output=True, text=True)
        except OSError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None
