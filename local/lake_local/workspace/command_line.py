"""Commands to copy, with the options that were given."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from lake_local.workspace.project import Project, find
from lake_local.workspace.state_dir import StateDirectory

SCRIPT = "./run_locally.sh"


def typed(command: str, *, home: StateDirectory, tables: Path | None = None) -> str:
    """Return a command of the script for the same state directory and tables.

    Args:
        command: its words, those of a shell quoted.
        home: the state directory; named by `--state-dir` unless it is the default.
        tables: named by `--tables`, unless they are the project's; None where the
            command needs none, as when they are running.
    """
    project = find()
    words = f"{SCRIPT} {command}"
    if tables is not None and tables.resolve() != project.tables:
        words += f" --tables {short(tables)}"
    if home != default_home(project):
        words += f" --state-dir {short(home.root)}"
    return words


def default_home(project: Project) -> StateDirectory:
    """Return the state directory that is used without `--state-dir`."""
    return StateDirectory.at(project.root / ".local" / "home")


def short(path: Path) -> str:
    """Return the path relative to the working directory, quoted for a shell."""
    relative = os.path.relpath(path)
    return shlex.quote(str(path) if relative.startswith("..") else relative)
