"""The programs of the servers, where ./setup.sh --only servers puts them."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import List

from lake_local.errors import Missing
from lake_local.workspace import project

PROJECT = project.find().root
SERVERS = PROJECT / ".local" / "servers"


class NotInstalled(Missing):
    """The programs of a server are missing on this machine.

    Fix: Run `./setup.sh --only servers`.
    """


def installed(piece: str) -> Path:
    """Return the folder of a piece, such as `postgresql`. Raises NotInstalled."""
    folder = SERVERS / piece
    if (folder / ".setup-stamp").is_file():
        return folder
    system, machine = platform.system(), platform.machine()
    if (system, machine) != ("Linux", "x86_64"):
        raise NotInstalled(
            f"{piece}: runs on Linux x86_64 only, not {system} {machine}"
        )
    raise NotInstalled(f"{folder} is missing: run ./setup.sh --only servers")


def java(main_class: str, *arguments: str, options: List[str]) -> List[str]:
    """Return the command that runs a class of Kafka. Raises Missing."""
    jars = f"{installed('kafka')}/*"
    return [project.java(), *options, "-cp", jars, main_class, *arguments]
