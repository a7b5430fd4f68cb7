"""Writes what `./run_locally.sh --help` prints to a file, so that it needs no set-up.

    PYTHONPATH=local:dags .venv-airflow/bin/python -m lake_local.cli.help_text

writes the file from the parser; a test keeps the two equal.
"""

from __future__ import annotations

from lake_local.cli.parser import whole_parser
from lake_local.workspace.project import find

FILE = "local/help.txt"

if __name__ == "__main__":
    text = whole_parser().format_help()
    (find().root / FILE).write_text(text, encoding="utf-8")
