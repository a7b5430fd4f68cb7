"""Commands as a person types them next, with the options that were given."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from lake_local.workspace.project import Project, find
from lake_local.workspace.state_dir import Home

SCRIPT = "./run_locally.sh"


def typed(command: str, *, home: Home, tables: Path | None = None) -> str:
    """A command of the script for the same state directory and tables.

    Args:
        command: its words, those of a shell quoted.
        home: named by `--state-dir`, unless it is the default.
        tables: named by `--tables`, unless they are the project's; None where the
            command takes none, as when they are up.
    """
    project = find()
    words = f"{SCRIPT} {command}"
    if tables is not None and tables.resolve() != project.tables:
        words += f" --tables {short(tables)}"
    if home != default_home(project):
        words += f" --state-dir {short(home.root)}"
    return words


def default_home(project: Project) -> Home:
    """The state directory without `--state-dir`."""
    return Home.at(project.root / ".local" / "home")


def short(path: Path) -> str:
    """The path as it is typed from here, quoted for a shell."""
    relative = os.path.relpath(path)
    return shlex.quote(str(path) if relative.startswith("..") else relative)
