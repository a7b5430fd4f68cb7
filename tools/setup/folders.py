"""The folders of pieces: whether each is built, as it is wanted, and by a set-up of ours.

A stamp, written last, holds the hash of all that a piece was built of; so half a piece
never counts. What a set-up began has a note, what it finished has the stamp: nothing else
is ever removed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Optional, Sequence

from tools.setup.machine import Machine
from tools.setup.pieces import CLASS_DATA, SPARK_ENVIRONMENT, SPARK_JARS, Piece

STAMP, NOTE = ".setup-stamp", ".setup-begun"
INSTALLER = ".local/uv"
INSTALLER_LOCK = "requirements/uv.lock"


class Folders:
    """The pieces of one checkout."""

    def __init__(self, root: Path, machine: Machine) -> None:
        self.root = root
        self._machine = machine

    def fingerprint(self, piece: Piece) -> str:
        """Return the hash of a piece as it is wanted: place, platform, Python, locks."""
        digest = hashlib.sha256()
        digest.update(f"1 {self.root} {self._machine.platform}\n".encode())
        digest.update(_version(self.root / piece.path / "bin/python"))
        for each in piece.inputs:
            digest.update((self.root / each).read_bytes())
        if piece == CLASS_DATA:
            digest.update(self._machine.java_release())
        return digest.hexdigest()

    def is_ready(self, piece: Piece) -> bool:
        """Whether a piece is built as it is wanted."""
        if self._stamp(piece.path) != self.fingerprint(piece):
            return False
        # The archive is of these very files: Java compares their times.
        of = (SPARK_ENVIRONMENT, SPARK_JARS) if piece == CLASS_DATA else ()
        return not any(self._is_newer(each, piece) for each in of)

    def is_installer_ready(self) -> bool:
        """Whether the installer is there, at its pinned version."""
        program = self.root / INSTALLER / "bin/uv"
        return (
            os.access(program, os.X_OK) and self._stamp(INSTALLER) == self._installer()
        )

    def in_the_way(self, paths: Sequence[str]) -> list[str]:
        """Return a sentence for each path that no set-up of this checkout made."""
        return [words for each in paths if (words := self._foreign(each))]

    def begin(self, path: str) -> Path:
        """Empty a folder, and note that it is being built.

        Raises:
            SetupFailed: no set-up made what is there, so that it stays.
        """
        if words := self._foreign(path):
            raise SetupFailed([words])
        folder = self.root / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / NOTE).touch()
        (folder / STAMP).unlink(missing_ok=True)
        for each in folder.iterdir():
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each)
            elif each.name != NOTE:
                each.unlink()
        return folder

    def finish(self, piece: Piece) -> None:
        """Note that a piece is built."""
        self._finish(piece.path, self.fingerprint(piece))

    def finish_installer(self) -> None:
        """Note that the installer is there."""
        self._finish(INSTALLER, self._installer())

    def _finish(self, path: str, stamp: str) -> None:
        (self.root / path / STAMP).write_text(f"{stamp}\n", encoding="utf-8")
        (self.root / path / NOTE).unlink()

    def _installer(self) -> str:
        return hashlib.sha256((self.root / INSTALLER_LOCK).read_bytes()).hexdigest()

    def _stamp(self, path: str) -> Optional[str]:
        """The hash in a stamp: its first word."""
        try:
            text = (self.root / path / STAMP).read_text(encoding="utf-8")
        except OSError:
            return None
        return text.split()[0] if text.split() else None

    def _is_newer(self, one: Piece, other: Piece) -> bool:
        times = [
            (self.root / each.path / STAMP).stat().st_mtime_ns
            for each in (one, other)
            if (self.root / each.path / STAMP).exists()
        ]
        return len(times) == 2 and times[0] > times[1]

    def _foreign(self, path: str) -> Optional[str]:
        """Why a set-up must not build there: None for nothing yet, or what a set-up made,
        which may be half of it."""
        folder = self.root / path
        if folder.is_symlink():
            what = f"it is a link to {os.readlink(folder)}"
        elif not folder.exists() or _is_ours(folder):
            return None
        else:
            what = "no set-up made it"
        return (
            f"{folder} is in the way, and stays: {what}. Move it elsewhere, or if nobody"
            f" needs it rm -r {path}, then run this again; or set up another checkout of"
            " the project"
        )


class SetupFailed(Exception):
    """Set-up cannot go on. Each of `reasons` is one line, and names what to do."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = reasons


def _is_ours(folder: Path) -> bool:
    if not folder.is_dir():
        return False
    noted = (folder / STAMP).is_file() or (folder / NOTE).is_file()
    return noted or not any(folder.iterdir())


def _version(python: Path) -> bytes:
    """What a Python of a piece calls itself, nothing where there is none."""
    if not os.access(python, os.X_OK):
        return b""
    try:
        done = subprocess.run(
            [python, "-V"], capture_output=True, stdin=subprocess.DEVNULL
        )
    except OSError:  # of another machine, or without what it starts
        return b""
    return done.stdout + done.stderr
