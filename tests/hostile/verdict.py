"""What is left after an attack: rows by three formats, files of ours, the next run.

A table is whole when Hudi, Iceberg and Delta show the rows that they would show without
the attack, after a run with a new file, a maintenance and an erase that were green. One
red run may come before: where it names foreign files or entries, what its message says is
done. Of landing files that are gone a version must be kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

from tests.hostile import names
from tests.hostile.child import Refused
from tests.hostile.world import ROUNDS, World

Rows = Dict[str, List[str]]
SHOWN = 160

_REFUSED_BY = {
    "in a resource-based policy": "the bucket's policy",
    "no identity-based policy": "the rights of the role",
    "lakeHudi": "Delta's protocol",
    "AlreadyExistsException": "the setting that every published table has",
    "explicit deny in an identity-based policy": "the rights of the role",
    "GC is disabled": "gc.enabled",
    "gc.enabled is false": "gc.enabled",
    "read-only mode": "the engine, which only reads this format",
    "not supported": "the engine",
    "NotSupported": "the engine",
    "Not supported": "the engine",
}
"""Who refuses, by a part of the message; with another one the attack was not played."""


@dataclass(frozen=True)
class Outcome:
    """What an attack did, in words, and whether something is lost or got."""

    told: str
    is_lost: bool = False
    got_more: bool = False
    is_played: bool = True


def of_an_author(refused: Optional[Refused]) -> Outcome:
    """Return the outcome of specs that ask for what is not their domain's."""
    if refused is None:
        return Outcome("accepted", got_more=True)
    return Outcome(f"refused by validate: {_first_line(str(refused))}")


def of_a_new_lake(world: World) -> Verdict:
    """Build the lake, and return what judges attacks on it."""
    world.build()
    made = Verdict(world)
    made.prepare()
    return made


class Verdict:
    """Judges attacks by a lake that nobody attacked."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._expected: List[Rows] = []

    def prepare(self) -> None:
        """Note the rows as they are, and as they are after the next runs."""
        self._expected.append(self._hudi())
        failed = self._next_run()
        if failed:
            raise RuntimeError(f"without any attack: {failed}")
        self._expected.append(self._hudi())
        if wrong := self._differences(1):
            raise RuntimeError(f"without any attack: {'; '.join(wrong)}")
        self._world.restore()

    def after(self, role: str, refused: Optional[Refused]) -> Outcome:
        """Return the outcome of the attack that was just made; put the lake back."""
        world = self._world
        state = world.state()
        changes = state.changes(world.before)
        answer = _refusal(str(refused)) if refused else "accepted"
        if not changes and not answer:
            told = f"not played: {' '.join(str(refused).split())[:SHOWN]}"
            return Outcome(told, is_played=False)
        if not changes:
            return Outcome(f"{answer}; nothing changed")
        try:
            lost = [n for n in state.lost(world.before) if not world.is_kept(n)]
            healed, left = self._left()
            told = [f"{answer or 'ended with an error'}; {', '.join(changes)}"]
            if lost:
                told.append(f"LOST {len(lost)} files, such as {lost[0]}")
            told += left or [healed]
            is_lost = bool(lost or left)
            return Outcome("; ".join(told), is_lost, role == names.READER)
        finally:
            world.restore()

    def _left(self) -> Tuple[str, List[str]]:
        """Return how the table got well, and what is wrong for good."""
        healed, failed = "healed by the next run", self._next_run()
        if "ForeignFiles" in failed:
            healed = "named by the next run, healed by what its message says"
            failed = self._world.step("maintenance", "--move-foreign-files")
            self._world.delete_moved_files()
            failed = failed or self._next_run()
        elif "ForeignTable" in failed:
            healed = "named by the next run, healed by what its message says"
            self._world.drop_moved_entries()
            failed = self._next_run()
        elif failed:
            healed, failed = "healed by the second run", self._next_run()
        if failed:
            return "", [f"red for good: {failed}"]
        settings = self._world.state().settings
        gone = [n for n, v in self._world.before.settings.items() if settings[n] != v]
        left = [*self._differences(1), *(f"{each} stays changed" for each in gone)]
        return healed, left

    def _next_run(self) -> str:
        """Run with a new file, maintain and erase; return why it failed."""
        world = self._world
        world.land(ROUNDS)
        steps = [("incremental", "--then", "scd2"), ("maintenance",)]
        steps.append(("erase", "--request", world.ask_erase(ROUNDS)))
        return next(filter(None, (world.step(*each) for each in steps)), "")

    def _hudi(self) -> Rows:
        return self._world.child("product").ask(what="rows")

    def _differences(self, nth: int) -> List[str]:
        """Return in words where a format shows other rows than expected."""
        found = []
        wanted = self._expected[nth]
        shown = self._world.child("readers", names.UNGUARDED).ask(what="rows")
        for name, rows in {"Hudi": self._hudi(), **shown}.items():
            for layer, expected in wanted.items():
                seen = rows[layer]
                if isinstance(seen, str):
                    found.append(f"{layer} as {name}: {seen[:SHOWN]}")
                elif seen != expected:
                    count = f"{len(seen)} rows in place of {len(expected)}"
                    found.append(f"{layer} as {name}: {count}")
        return found


def _refusal(text: str) -> str:
    """Say who refused; an empty text where nobody is known to."""
    for sign, who in _REFUSED_BY.items():
        if sign in text:
            return f"refused by {who}"
    return ""


def _first_line(text: str) -> str:
    return text.partition(": ")[2].splitlines()[0][:SHOWN]
