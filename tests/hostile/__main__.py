"""Statements of other engines and people on a published table, each on a fresh copy.

    python -m tests.hostile [--quick] [--only NAME]... [--role ROLE]... [--list]

Each is played as a person with a reader's rights, as an administrator whose own policy
allows all, and with no policy at all, so that location and protocol alone protect; an
author of specs asks for what is another domain's. One line each says what happened. The
last one says `N attacks, L lost, R ran`: L left a row or a file of ours gone, or a table
red for good; R got more than was granted. The exit code is 1 if one of them is not 0, or
an attack ended with an error that is nobody's refusal (`?`). Trino itself needs Java 25
(`JAVA_HOME_25_X64`, or `*-25-*` in /usr/lib/jvm): where there is none, the line before the
last counts what was left out, and the calls that Trino makes are played all the same.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Iterable, Iterator, List, Optional, Sequence, Tuple

from tests.hostile.attacks import ATTACKS
from tests.hostile.attacks.attack import AUTHOR, EVERY_ROLE, Attack
from tests.hostile.child import Refused

if TYPE_CHECKING:
    from tests.hostile.verdict import Outcome

Played = Tuple[Attack, str, str]
"""An attack, the layer and the role."""


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Play, print, and return 1 if anything is lost or was got."""
    asked = _parser().parse_args(argv)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends what was started
    if asked.list:
        for attack, layer, role in _chosen(asked):
            print(
                f"{attack.name} ({attack.engine}: {attack.statement}): {layer}, {role}"
            )
        return 0
    chosen, left_out = _playable(_chosen(asked))
    folder = Path(tempfile.mkdtemp(prefix="lake-hostile-"))
    lost, ran, failed = play(chosen, folder)
    if failed:
        print(f"{failed} were not played: mend them")
    if left_out:
        print(f"{left_out} of Trino were left out: no Java 25 here")
    print(f"{len(chosen)} attacks, {lost} lost, {ran} ran")
    if lost or ran or failed:
        print(f"what the programs said is in {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


def play(chosen: Sequence[Played], folder: Path) -> Tuple[int, int, int]:
    """Play attacks, a line for each; return how many lost something, got more, or failed."""
    lost = ran = failed = 0
    for attack, who, outcome in _outcomes(chosen, folder):
        lost += outcome.is_lost
        ran += outcome.got_more
        failed += not outcome.is_played
        mark = "L" if outcome.is_lost else "R" if outcome.got_more else " "
        mark = mark if outcome.is_played else "?"
        print(f"{mark} {attack.name}: {who}: {outcome.told}", flush=True)
    return lost, ran, failed


def _outcomes(
    chosen: Sequence[Played], folder: Path
) -> Iterator[Tuple[Attack, str, "Outcome"]]:
    """Yield attacks with their circumstances and outcomes."""
    from tests.hostile import verdict
    from tests.hostile.world import World

    world = World(folder)
    try:
        on_tables = [each for each in chosen if each[2] != AUTHOR]
        judge = verdict.of_a_new_lake(world) if on_tables else None
        for attack, layer, role in chosen:
            who = f"{attack.engine}, {attack.statement}, {layer}, {role}"
            refused = None
            try:
                program = world.child(attack.program, role)
                program.ask(what="play", attack=attack.name, layer=layer)
            except Refused as error:
                refused = error
            if role == AUTHOR:
                yield attack, who, verdict.of_an_author(refused)
            else:
                yield attack, who, judge.after(role, refused)
    finally:
        world.close()


def _playable(chosen: Iterable[Played]) -> Tuple[List[Played], int]:
    """Return what can be played on this machine, and how many cannot."""
    from tests.hostile.world import can_play

    wanted = list(chosen)
    found = [each for each in wanted if can_play(each[0].program)]
    return found, len(wanted) - len(found)


def _chosen(asked: argparse.Namespace) -> Iterator[Played]:
    """Yield what is to be played, role by role: each is a program of its own."""
    for role in (*EVERY_ROLE, AUTHOR):
        for attack in ATTACKS.values():
            is_asked = not asked.only or attack.name in asked.only
            if not is_asked or (asked.quick and role not in attack.quick):
                continue
            if role in attack.roles and (not asked.role or role in asked.role):
                for layer in attack.layers[:1] if asked.quick else attack.layers:
                    yield attack, layer, role


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="hostile", description=__doc__)
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    made.add_argument(
        "--only", action="append", choices=sorted(ATTACKS), metavar="NAME"
    )
    made.add_argument("--role", action="append", choices=(*EVERY_ROLE, AUTHOR))
    made.add_argument("--quick", action="store_true", help="a choice without Spark")
    made.add_argument("--list", action="store_true", help="show attacks, play none")
    return made


if __name__ == "__main__":
    sys.exit(main())
