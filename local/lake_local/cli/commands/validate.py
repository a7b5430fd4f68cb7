"""Check table specs: every mistake of every file at once, with what to do.

It starts nothing. Exit code 0 if there is no mistake, 1 if there is one.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from lake_spec.parsing.loader import check

from lake_local.workspace.project import find

NAME = "validate"
HELP = "check table specs, all mistakes at once"


def add_arguments(parser: ArgumentParser) -> None:
    """Where the specs are."""
    parser.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        type=Path,
        help="folder of domains (default: --tables, else dags/tables)",
    )


def run(args: Namespace) -> int:
    """Print each mistake on a line of its own, then how many there are."""
    project = find()
    tables = args.folder or args.tables or project.tables
    files, faults = check(
        tables,
        clusters=project.dags / "clusters",
        environments=project.dags / "environments",
    )
    for fault in faults:
        print(fault)
    print(f"{_count(files, 'file')}: {_count(len(faults), 'mistake')}")
    return 1 if faults else 0


def _count(number: int, thing: str) -> str:
    return f"{number or 'no'} {thing}{'' if number == 1 else 's'}"
