"""A guard of the product that is taken away, or made so strict that it stops our own things.

Guards are private functions: which of them keeps what is the very thing that is tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest

from tests.neighbour.scene import Left, Scene, play


@dataclass(frozen=True)
class Guard:
    """A scene that it keeps whole, and what takes it away."""

    scene: Scene
    change: Callable[[pytest.MonkeyPatch], None]

    def is_seen(self, folder: Path) -> bool:
        """Play the scene without it; return whether that tells what it does."""
        with pytest.MonkeyPatch.context() as patch:
            self.change(patch)
            return self._tells(play("guard", [self.scene], folder))

    def _tells(self, left: Left) -> bool:
        return bool(left.lost)


class TooStrict(Guard):
    """One that stops what a release before made: the product does not what it has to."""

    def _tells(self, left: Left) -> bool:
        return bool(left.unexpected)


def setting(owner: Any, name: str, value: Any) -> Callable[[pytest.MonkeyPatch], None]:
    """Return what sets an attribute for the time of a scene."""
    return lambda patch: patch.setattr(owner, name, value)


def always(value: Any) -> Callable[..., Any]:
    """Return a function that answers the same to everything."""
    return lambda *_, **__: value


def unseen(guards: Dict[str, Guard], folder: Path) -> List[str]:
    """Return the guards without which their scenes are as with them."""
    return [
        name
        for number, (name, guard) in enumerate(guards.items())
        if not guard.is_seen(folder / str(number))
    ]
