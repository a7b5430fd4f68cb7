"""What `./run_locally.sh [COMMAND] --help` prints, in files: the script needs no set-up for it.

    PYTHONPATH=emulator:local:dags:infra .venv-airflow/bin/python -m lake_local.cli.help_text

writes them from the parsers; a test keeps both equal.
"""

from __future__ import annotations

import io
import os
from contextlib import redirect_stdout, suppress
from typing import Dict

from lake_local.cli.parser import parse, whole_parser
from lake_local.cli.registry import BY_NAME
from lake_local.workspace.project import find

FOLDER = "local/help"
OF_ALL = "_all"
"""The file with the help of the script itself; no command has this name."""

WIDTH = "90"
"""Columns of the terminal that they are written for."""


def texts() -> Dict[str, str]:
    """Return what each file holds, by its name without the ending."""
    os.environ["COLUMNS"] = WIDTH
    return {OF_ALL: whole_parser().format_help(), **{n: _printed(n) for n in BY_NAME}}


def _printed(name: str) -> str:
    """Return what a command prints of itself, and then ends."""
    with redirect_stdout(io.StringIO()) as printed, suppress(SystemExit):
        asked = parse([name, "--help"])
        asked.run(asked)
    return printed.getvalue()


def main() -> None:
    """Write the files; one of a command that is no more is left, which a test tells."""
    for name, text in texts().items():
        (find().root / FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
