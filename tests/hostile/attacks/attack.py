"""An attack: a function of few lines that an engine plays on one layer of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Sequence

from tests.hostile import names

EVERY_LAYER = ("current", "history", "changes")
EVERY_ROLE = (names.READER, names.ADMINISTRATOR, names.UNGUARDED)
AUTHOR = "author"
"""Of specs: what is accepted from them that is not theirs was got."""

GUARDED = (names.READER, names.ADMINISTRATOR)
"""Of what deletes our files by their names: nothing but a policy can stop it."""

PROGRAMS = {"Spark": "spark", "Trino": "trino", "validate": "author"}
"""Those of engines that are not libraries of Python, by the first word."""


@dataclass(frozen=True)
class Attack:
    """What is done, by which engine, in whose name, and on which layers."""

    name: str
    engine: str
    statement: str
    program: str
    layers: Sequence[str]
    roles: Sequence[str]
    quick: Sequence[str]
    play: Callable[[Any, str], Any]


ATTACKS: Dict[str, Attack] = {}


def attack(
    engine: str,
    statement: str,
    *,
    on: Sequence[str] = ("current",),
    roles: Sequence[str] = EVERY_ROLE,
    quick: Sequence[str] = (),
) -> Callable[[Callable[[Any, str], Any]], Callable[[Any, str], Any]]:
    """Make an attack of a function; in the roles `quick` it is of the full tests too.

    What changes something takes half a minute, for the next runs are judged: so few of
    those are quick.
    """
    program = PROGRAMS.get(engine.split()[0], "readers")

    def note(play: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
        name = play.__name__
        ATTACKS[name] = Attack(name, engine, statement, program, on, roles, quick, play)
        return play

    return note
