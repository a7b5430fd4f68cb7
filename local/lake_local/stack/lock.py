"""The lock of a state directory: one command starts and stops it, or many use it.

The kernel releases a lock when its process ends, however it ends; the files next to it
only have the names of the commands.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Iterator

import psutil

from lake_local.errors import StateDirectoryBusy
from lake_local.workspace.state_dir import StateDirectory

PATIENCE = 30.0

PATIENCE_WITH_PAGES = 300.0
"""Seconds that a command waits while another one builds the pages of the lake."""


class Lock:
    """An acquired lock, exclusive or shared."""

    def __init__(
        self, home: StateDirectory, file: IO[str], *, shared: bool, patience: float
    ) -> None:
        self._home = home
        self._file = file
        self._patience = patience
        self.shared = shared

    def share(self) -> None:
        """Share the lock with commands that only use what is running."""
        fcntl.flock(self._file, fcntl.LOCK_SH)
        self.shared = True

    def alone(self) -> None:
        """Wait until no other command has the lock. Raises StateDirectoryBusy."""
        _acquire(self._file, self._home, shared=False, patience=self._patience)
        self.shared = False


@contextmanager
def hold(
    home: StateDirectory, who: str, *, shared: bool, patience: float = PATIENCE
) -> Iterator[Lock]:
    """Acquire the lock of a state directory for the block, within `patience` seconds.

    Raises StateDirectoryBusy, which names the command that has it.
    """
    home.create()
    card = home.holders / str(os.getpid())
    with open(home.lock_file, "a", encoding="utf-8") as file:
        _acquire(file, home, shared=shared, patience=patience)
        card.write_text(f"`{who}` (pid {os.getpid()}, since {datetime.now():%H:%M:%S})")
        try:
            yield Lock(home, file, shared=shared, patience=patience)
        finally:
            card.unlink(missing_ok=True)


@contextmanager
def hold_pages(
    home: StateDirectory, *, patience: float = PATIENCE_WITH_PAGES
) -> Iterator[None]:
    """Acquire the lock of the pages for the block, which builds and writes them.

    `site` needs no lock of the state directory where another command runs its processes,
    so it is another lock. Raises StateDirectoryBusy after `patience` seconds.
    """
    home.create()
    with _hold_file(
        home.site_lock_file, f"building the pages in {home.site}", patience
    ):
        yield


@contextmanager
def hold_restart(
    home: StateDirectory, *, patience: float = PATIENCE_WITH_PAGES
) -> Iterator[None]:
    """Acquire the lock of a restart of processes for the block.

    Commands that share the state directory's lock meet a process that has ended at the
    same time. Raises StateDirectoryBusy after `patience` seconds.
    """
    doing = "starting again what had ended"
    with _hold_file(home.restart_lock_file, doing, patience):
        yield


@contextmanager
def _hold_file(path: Path, doing: str, patience: float) -> Iterator[None]:
    with open(path, "a", encoding="utf-8") as file:
        for tried, is_late in enumerate(_tries(file, fcntl.LOCK_EX, patience)):
            if is_late:
                raise StateDirectoryBusy(
                    f"another command is {doing}. Wait until that ends, or give this "
                    "command a directory of its own: --state-dir DIR"
                )
            if not tried:
                print(f"waiting for another command: it is {doing}", file=sys.stderr)
        yield


def holders(home: StateDirectory) -> list[str]:
    """List the commands that use the state directory now."""
    cards = sorted(home.holders.glob("*")) if home.holders.is_dir() else []
    others = [card for card in cards if card.name != str(os.getpid())]
    return [card.read_text(encoding="utf-8") for card in others if _lives(card.name)]


def _acquire(
    file: IO[str], home: StateDirectory, *, shared: bool, patience: float
) -> None:
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    for tried, is_late in enumerate(_tries(file, kind, patience)):
        names = " and ".join(holders(home)) or "another command"
        if is_late:
            raise StateDirectoryBusy(
                f"the state directory {home.root} is in use by {names}. Wait until that"
                " ends, or give this command a directory of its own: --state-dir DIR"
            )
        if not tried:
            print(f"waiting for {names}: it uses {home.root}", file=sys.stderr)


def _tries(file: IO[str], kind: int, patience: float) -> Iterator[bool]:
    """Try until the lock is acquired; yield after each failure whether time is up."""
    deadline = time.monotonic() + patience
    while not _try(file, kind):
        yield time.monotonic() > deadline
        time.sleep(0.2)


def _try(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lives(pid: str) -> bool:
    return pid.isdigit() and psutil.pid_exists(int(pid))
