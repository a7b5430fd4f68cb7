"""A set-up: what is missing is built, as much of it at once as can be."""

from __future__ import annotations

import fcntl
import time
from functools import partial
from pathlib import Path
from typing import Callable, Iterator, Mapping, Sequence

from tools.processes import ProcessGroups, side_by_side
from tools.setup.building import BuildFailed, Workshop
from tools.setup.folders import INSTALLER, Folders, SetupFailed
from tools.setup.machine import Machine
from tools.setup.pieces import (
    CLASS_DATA,
    Jars,
    Piece,
    SPARK_39,
    Samples,
    Wanted,
    pieces_of,
)

NEEDED_MB = 6000
LOGS = ".local/log/setup"
LOCK = ".local/setup.lock"
LINES_OF_A_FAILURE = 15


def say(words: str) -> None:
    """Print a line of set-up's."""
    print(f"setup: {words}", flush=True)


class Setup:
    """One set-up of a checkout.

    Args:
        environ: the variables of the environment, of which commands get what is fit.
        machine: what the machine has, needed_mb: the room that a set-up wants.
    """

    def __init__(
        self,
        root: Path,
        targets: Sequence[str],
        environ: Mapping[str, str],
        machine: Machine,
        needed_mb: int = NEEDED_MB,
    ) -> None:
        self._root = root
        self._wanted = Wanted(root, machine, targets)
        self._machine = machine
        self._folders = Folders(root, machine)
        self._env = environ
        self._needed_mb = needed_mb
        self._started = time.monotonic()

    def missing_pieces(self) -> list[Piece]:
        """Return what is not built, or not as it is wanted."""
        pieces = pieces_of(self._wanted)
        return [each for each in pieces if not self._folders.is_ready(each)]

    def run(self, quiet: bool, groups_with: Callable[[int], ProcessGroups]) -> None:
        """Build what is missing.

        Args:
            quiet: say nothing where all is in place.
            groups_with: makes the groups of commands that keep a file descriptor open.

        Raises:
            SetupFailed: the machine lacks something, or a piece could not be built.
        """
        missing = self.missing_pieces()
        if not missing:
            if not quiet:
                say("everything is in place")
            return
        python = self._check_machine(missing)
        (self._root / LOGS).mkdir(parents=True, exist_ok=True)
        with (self._root / LOCK).open("w") as lock:
            _take_turn(lock.fileno())
            # Commands keep the lock's file open, and so the lock: where this process is
            # killed (-9), the next set-up waits until the last of them is gone.
            with groups_with(lock.fileno()) as groups:
                shop = Workshop(self._root, self._machine, python, groups, self._env)
                self._build(shop, self.missing_pieces())
        say(f"ready in {self._seconds()} s")

    def _seconds(self) -> int:
        return round(time.monotonic() - self._started)

    # --- What the machine must have ---------------------------------------------

    def _check_machine(self, pieces: Sequence[Piece]) -> str:
        """Name everything that is missing at once, else return the Python."""
        python = self._machine.find_python()
        lacking = [*_lacking(self._machine, pieces, python is not None)]
        free = self._machine.free_mb(self._root)
        if free < self._needed_mb:
            lacking.append(
                f"{self._root} has {free} MB free, set-up wants {self._needed_mb} MB: make"
                " room, or move the checkout"
            )
        paths = [INSTALLER, *(each.path for each in pieces)]
        lacking += self._folders.in_the_way(paths)
        if lacking or python is None:
            raise SetupFailed(lacking)
        return python

    # --- Building ---------------------------------------------------------------

    def _build(self, shop: Workshop, pieces: Sequence[Piece]) -> None:
        if not pieces:  # another set-up has built them
            return
        say(f"building {_paths(pieces)}")
        if not self._folders.is_installer_ready():
            self._side_by_side(shop, {INSTALLER: partial(self._install_uv, shop)})
        works: dict[str, Callable[[], None]] = {
            each.path: partial(self._build_each, shop, [each])
            for each in pieces
            if not isinstance(each, Jars) and each != CLASS_DATA
        }
        # Maven's repository bears one writer.
        jars = [each for each in pieces if isinstance(each, Jars)]
        if jars:
            works[_paths(jars)] = partial(self._build_each, shop, jars)
        if works:
            self._side_by_side(shop, works)
        if CLASS_DATA in pieces:  # of what is there now, hence after all else
            self._build_class_data(shop)
        shop.clear_cache()

    def _side_by_side(
        self, shop: Workshop, works: Mapping[str, Callable[[], None]]
    ) -> None:
        def at_work(names: list[str]) -> None:
            say(f"still at it after {self._seconds()} s: {' '.join(names)}")

        side_by_side(works, shop.groups, lambda name, _: None, at_work)

    def _install_uv(self, shop: Workshop) -> None:
        self._folders.begin(INSTALLER)
        if shop.install_uv():
            raise SetupFailed([f"{INSTALLER} failed: pip says above why"])
        self._folders.finish_installer()

    def _build_class_data(self, shop: Workshop) -> None:
        path, log = CLASS_DATA.path, f"{LOGS}/{CLASS_DATA.log}.log"
        say(
            f"playing a small table, to keep the Java classes of a step in {path}: with"
            " them each step starts some seconds sooner"
        )
        work = partial(self._build_each, shop, [CLASS_DATA])
        self._side_by_side(shop, {path: work})
        if not list((self._root / path).glob("classes-*.jsa")):
            say(
                f"Java's archive of classes could not be made, see {log}. Steps run as"
                f" before, but start some seconds later. To try again: rm -r {path}"
            )

    def _build_each(self, shop: Workshop, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            started = time.monotonic()
            self._folders.begin(piece.path)
            log = f"{LOGS}/{piece.log}.log"
            with (self._root / log).open("wb") as output:
                try:
                    shop.build(piece, output)
                except BuildFailed:
                    output.flush()
                    raise SetupFailed(
                        [f"{piece.path} failed; the end of {log}:\n{self._end_of(log)}"]
                    ) from None
            # Last, so that half a piece never counts.
            self._folders.finish(piece)
            say(f"{piece.path} done in {round(time.monotonic() - started)} s")

    def _end_of(self, log: str) -> str:
        text = (self._root / log).read_text(encoding="utf-8", errors="replace")
        lines = text.splitlines()[-LINES_OF_A_FAILURE:]
        return "\n".join(f"    {each}" for each in lines)


def _take_turn(lock: int) -> None:
    """Of two set-ups at once one works; the other waits, and finds the work done."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("another set-up is at work in this checkout; waiting for it")
        fcntl.flock(lock, fcntl.LOCK_EX)


def _lacking(
    machine: Machine, pieces: Sequence[Piece], has_python: bool
) -> Iterator[str]:
    """What the machine lacks for these pieces, a line for each with what to do."""
    if not has_python:
        yield (
            "Python 3.11 or 3.12 with pip is missing: apt-get install python3.11"
            " python3-pip, or brew install python@3.11"
        )
    if SPARK_39 in pieces and machine.find_python_39() is None:
        yield "Python 3.9 is missing: apt-get install python3.9, or pyenv install 3.9"
    if any(isinstance(each, Jars) for each in pieces):
        java = machine.java_version()
        if java != "17":
            yield (
                f"Java 17 is missing (found: {java or 'none'}): apt-get install"
                " openjdk-17-jre-headless, or brew install openjdk@17; set JAVA_HOME if you"
                " have several"
            )
        if not machine.has("mvn"):
            yield "Maven is missing: apt-get install maven, or brew install maven"
    if any(isinstance(each, Samples) for each in pieces) and not machine.has("npm"):
        yield "npm is missing: apt-get install npm, or brew install node"
    if not machine.has("git"):
        yield "git is missing: apt-get install git, or brew install git"


def _paths(pieces: Sequence[Piece]) -> str:
    return " ".join(each.path for each in pieces)
