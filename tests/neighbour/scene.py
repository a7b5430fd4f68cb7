"""A scene: things of others, what the product does beside them, and what is left of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Type

import pytest

Seen = Dict[str, Any]
"""Things of others by their names, each as it is now: its bytes, or its data."""
Scene = Callable[["Beside"], Iterator[Optional[Callable[[], Seen]]]]
"""Yields how its things are seen once they are there; then acts, yields, and tidies up
in `finally`, as it is closed there."""


class Beside:
    """Where a scene is played, and what the product did that it should not have done."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.patch = patch
        self.unexpected: List[str] = []

    def does(
        self, what: str, call: Callable[..., Any], *given: Any, **more: Any
    ) -> Any:
        """Let the product do what it has to be able to do beside others."""
        try:
            return call(*given, **more)
        except Exception as error:
            self.unexpected.append(f"{what}: {type(error).__name__}: {error}")
            return None

    def expects(self, what: str, is_so: bool) -> None:
        """Say what the product's own things have to be like, if they are not."""
        if not is_so:
            self.unexpected.append(what)

    def refuses(
        self, what: str, kind: Type[Exception], call: Callable[..., Any], *given: Any
    ) -> None:
        """Let the product be asked for what it has to refuse."""
        try:
            call(*given)
        except kind:
            return
        except Exception as error:
            self.unexpected.append(f"{what}: {type(error).__name__}: {error}")
            return
        self.unexpected.append(f"{what}: was not refused")


@dataclass
class Left:
    """What is left of the things of one kind."""

    kind: str
    things: int = 0
    lost: List[str] = field(default_factory=list)
    unexpected: List[str] = field(default_factory=list)

    def to_json(self) -> Dict[str, Any]:
        return asdict(self)


def play(kind: str, scenes: Sequence[Scene], folder: Path) -> Left:
    """Play the scenes of a kind, one after the other, each in a folder of its own."""
    left = Left(kind)
    for scene in scenes:
        place = folder / f"{kind}-{scene.__name__}".replace(" ", "-")
        place.mkdir(parents=True)
        _play(scene, place, left)
    return left


def _play(scene: Scene, place: Path, left: Left) -> None:
    with pytest.MonkeyPatch.context() as patch:
        beside = Beside(place, patch)
        acts = scene(beside)
        try:
            see = next(acts)
            assert see is not None
            before = see()
            next(acts)
            after = see()
        finally:
            acts.close()
    left.things += len(before)
    left.lost += [
        f"{scene.__name__}: {name}"
        for name, thing in before.items()
        if name not in after or after[name] != thing
    ]
    left.unexpected += [f"{scene.__name__}: {each}" for each in beside.unexpected]


def files_of(folder: Path) -> Seen:
    """See each file below a folder, and each link."""
    return {
        str(each.relative_to(folder.parent)): (
            str(each.readlink()) if each.is_symlink() else each.read_bytes()
        )
        for each in sorted(folder.rglob("*"))
        if each.is_symlink() or each.is_file()
    }


def put(folder: Path, *paths: str) -> Path:
    """Write files of somebody else below a folder."""
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"{path} of somebody else\n")
    return folder
