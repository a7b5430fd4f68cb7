"""A server of the tests, which is not run as root if it refuses that."""

from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path
from typing import Any, Dict

from lake_local.capture import server
from lake_local.capture.installed import installed
from lake_local.capture.server import ServerError

__all__ = ["Server", "ServerError", "lets_in"]
ANYBODY = "nobody"  # whom a server that refuses root is run as


class Server(server.Server):
    """A server that may refuse to run as root."""

    refuses_root = False

    def make_folder(self) -> None:
        super().make_folder()
        user = self.popen_options()
        if user:
            os.chown(self.folder, user["user"], user["group"])
            for each in self.folder.resolve().parents:
                _must_let_in(each, self.folder)

    def popen_options(self) -> Dict[str, Any]:
        if not self.refuses_root or os.geteuid() != 0:
            return {}
        account = pwd.getpwnam(ANYBODY)
        return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}

    def _programs_of(self, piece: str) -> Path:
        """The programs of a piece, copied where the server's user may not enter."""
        found = installed(piece)
        copy = self.folder / "programs"
        is_copied = self.popen_options() and not all(
            lets_in(each) for each in found.resolve().parents
        )
        if is_copied:
            if not copy.exists():
                shutil.copytree(found, copy, symlinks=True)
            return copy
        return found


def lets_in(folder: Path) -> bool:
    """Tell whether other users may enter a folder."""
    return bool(folder.stat().st_mode & 0o001)


def _must_let_in(parent: Path, folder: Path) -> None:
    if not lets_in(parent):
        raise ServerError(
            f"{folder}: the server runs as {ANYBODY}, who may not enter {parent}; "
            f"choose another folder, or run chmod o+x {parent}"
        )
