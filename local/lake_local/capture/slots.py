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
from typing import Iterator, List, Optional

from lake_local.capture.request import Capture, default_name
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
    for file in sorted((home.root / FOLDER).glob(f"*/{_NOTE}")):
        yield from _read(file)


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
    _write(home, slot, [*_others(home, slot), slot])


def begin(home: StateDirectory, slot: Slot) -> None:
    """Note, before positions are kept, that a capture made no slot yet; or that of the
    release before, of which there are positions alone."""
    before = replace(slot, name=default_name(slot.domain))
    if _is_of_before(home, before):
        note(home, before)
    elif not _file(home, slot).exists():
        forget(home, slot)


def forget(home: StateDirectory, slot: Slot) -> None:
    """Note that a slot is not ours: one of its name that is made later is of others."""
    _write(home, slot, _others(home, slot))


def _others(home: StateDirectory, slot: Slot) -> List[Slot]:
    """Return the slots that are noted of the same domain."""
    there = _read(_file(home, slot))
    return [e for e in there if (e.server, e.name) != (slot.server, slot.name)]


def _read(file: Path) -> List[Slot]:
    if not file.exists():
        return []
    said = json.loads(file.read_text(encoding="utf-8"))
    # One slot, not in a list, as notes had it at first.
    return [Slot(**each) for each in (said if isinstance(said, list) else [said])]


def _write(home: StateDirectory, slot: Slot, noted: List[Slot]) -> None:
    file = _file(home, slot)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    text = json.dumps([asdict(each) for each in noted]) + "\n"
    part.write_text(text, encoding="utf-8")
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
    file = _file(home, wanted)
    has_positions = (file.parent / _POSITIONS).is_dir()
    is_default = wanted.name == default_name(wanted.domain)
    return has_positions and is_default and not file.exists()


def _file(home: StateDirectory, slot: Slot) -> Path:
    return home.root / FOLDER / slot.domain / _NOTE
