"""The replication slots that `connect` made, noted below the state directory.

A slot makes its server keep the log of all its databases until its reader has read it: one
that nobody reads fills the server's disk. So each is noted before it is made, with how far
behind it was when last looked at, until it is dropped.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Dict, Iterator, Optional

from lake_local.capture.request import Capture
from lake_local.errors import BadRequest
from lake_local.workspace.command_line import typed
from lake_local.workspace.state_dir import StateDirectory

FOLDER = "connect"
"""Of all captures, below the state directory: a folder for each domain."""

_NOTE, _POSITIONS = "slot.json", "kafka"
LARGE = 1 << 30
"""Bytes of log behind which a slot is worth a word."""


@dataclass(frozen=True)
class Slot:
    """A slot of ours: where it is, and what was seen of it last."""

    domain: str
    server: str
    """host:port/database."""
    name: str
    lag: Optional[int] = None
    """Bytes of the server's log that it keeps; None before it was looked at."""
    seen: str = ""
    """When that was, UTC."""

    @property
    def statement(self) -> str:
        """What drops it."""
        return f"SELECT pg_drop_replication_slot('{self.name}');"


@dataclass(frozen=True)
class Found:
    """A slot as its server has it."""

    is_active: bool
    lag: int


def slot_of(capture: Capture) -> Slot:
    """Return the slot that a capture reads."""
    place = capture.database
    server = f"{place.host}:{place.port}/{place.database}"
    return Slot(capture.domain, server, capture.slot)


def known(home: StateDirectory) -> Iterator[Slot]:
    """Yield the slots that were made from a state directory and not dropped from it."""
    for note in sorted((home.root / FOLDER).glob(f"*/{_NOTE}")):
        if said := json.loads(note.read_text(encoding="utf-8")):
            yield Slot(**said)


def is_own(home: StateDirectory, wanted: Slot) -> bool:
    """Return whether a slot was made from a state directory and not dropped from it.

    Releases before noted none: their slot is known by the positions that they kept.
    """
    return _is_noted(home, wanted) or _is_of_before(home, wanted)


def require_own(home: StateDirectory, wanted: Slot, found: Optional[Found]) -> None:
    """Raise BadRequest for a slot that is there and was not made from here."""
    if found is None or is_own(home, wanted):
        return
    reader = (
        "another program reads it now" if found.is_active else "nobody reads it now"
    )
    raise BadRequest(
        f"{wanted.server}: there is a replication slot {wanted.name} that no `connect` of"
        f" {home.root} made; {reader}. Who reads it here takes its changes from whoever"
        " made it. Choose another name with --slot NAME; or drop it there, if nobody needs"
        f" it any more: {wanted.statement}"
    )


def note(home: StateDirectory, slot: Slot, found: Optional[Found] = None) -> None:
    """Write down that a slot is ours, and what was seen of it."""
    if found is not None:
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        slot = replace(slot, lag=found.lag, seen=now)
    _write(home, slot, asdict(slot))


def begin(home: StateDirectory, slot: Slot) -> None:
    """Note that none was made yet, before positions are kept: they would be taken for
    those of a release before."""
    file = _file(home, slot)
    if not file.exists() and not (file.parent / _POSITIONS).is_dir():
        forget(home, slot)


def forget(home: StateDirectory, slot: Slot) -> None:
    """Note that there is none: one that is made there later is of others."""
    _write(home, slot, {})


def _write(home: StateDirectory, slot: Slot, said: Dict[str, Any]) -> None:
    file = _file(home, slot)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(said) + "\n", encoding="utf-8")
    part.replace(file)


def what_stays(slot: Slot, home: StateDirectory) -> str:
    """Return what a slot does while nobody reads it, how far it got, and how it goes."""
    seen = f" (of {slot.lag:,} bytes at {slot.seen})" if slot.lag is not None else ""
    command = typed(f"connect {slot.domain} --drop-slot", home=home)
    return (
        f"The replication slot {slot.name} of {slot.server} stays: until the next start"
        f" PostgreSQL keeps its log for it{seen}, and its disk can fill. If there will be"
        f" none: {command}, or there: {slot.statement}"
    )


def _is_noted(home: StateDirectory, wanted: Slot) -> bool:
    mine = [(each.server, each.name) for each in known(home)]
    return (wanted.server, wanted.name) in mine


def _is_of_before(home: StateDirectory, wanted: Slot) -> bool:
    folder: Path = home.root / FOLDER / wanted.domain
    has_note, is_default = (
        folder / _NOTE
    ).exists(), wanted.name == f"lake_{wanted.domain}"
    return not has_note and is_default and (folder / _POSITIONS).is_dir()


def _file(home: StateDirectory, slot: Slot) -> Path:
    return home.root / FOLDER / slot.domain / _NOTE
