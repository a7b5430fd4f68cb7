"""A folder that its owner alone may enter, and files in it that nobody else wrote.

The state directory has passwords and keys in it, and moto's state, which runs code when
it is read.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class NotPrivate(Exception):
    """A state directory, or a file of it, belongs to another user or may be written by one.

    Fix: Run the command that the message names, once you know what lies there, or choose
    another directory with --state-dir DIR.
    """


def make_private(folder: Path) -> None:
    """Create a folder for its owner alone; close one that is open to others.

    Raises NotPrivate if it belongs to somebody else.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    facts = folder.stat()
    _check_owner(folder, facts)
    mode = stat.S_IMODE(facts.st_mode)
    if mode & OF_OTHERS:
        folder.chmod(mode & ~OF_OTHERS)


def read_own(file: Path) -> bytes:
    """Read a file that nobody else can have written; NotPrivate if somebody could."""
    with open(file, "rb") as stream:
        facts = os.fstat(stream.fileno())
        _check_owner(file, facts)
        if facts.st_mode & WRITABLE_BY_OTHERS:
            raise NotPrivate(
                f"{file} can be written by other users, and reading it runs what it says:"
                f" see that it is what you left there, then run chmod go-w '{file}'."
            )
        return stream.read()


def _check_owner(path: Path, facts: os.stat_result) -> None:
    me = os.geteuid()
    if facts.st_uid != me:
        raise NotPrivate(
            f"{path} belongs to user {facts.st_uid}, not to you (user {me}): choose another"
            f" state directory with --state-dir DIR, or run sudo chown -R {me} '{path}'."
        )
