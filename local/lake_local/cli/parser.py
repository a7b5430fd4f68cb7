"""The command line: what can be asked, and how `--help` says it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Sequence

from lake_local.cli.commands import (
    backfill,
    cost,
    demo,
    down,
    logs,
    onboard,
    put,
    run,
    show,
    status,
    up,
    validate,
)
from lake_local.workspace.project import find

PROGRAM = "./run_locally.sh"
COMMANDS = (
    *(demo, up, down, status, put, run, backfill, logs),
    *(validate, onboard, show, cost),
)
KEEPING = (demo, run, backfill)
"""Those that may leave up what they started."""

_EPILOG = """\
Every command starts what it needs and stops it again, or uses what is up.
`up` leaves it up, for all commands, until `down`. Without a command: the demo.
"""


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments; `run` in them is the function of the command to call."""
    parser = _parser()
    args = parser.parse_args(argv)
    if args.command is None:
        for key, value in vars(parser.parse_args([*argv, demo.NAME])).items():
            setattr(args, key, value)
    keeping = [command.NAME for command in KEEPING]
    if args.keep_up and args.command not in keeping:
        parser.error(f"--keep-up goes with {', '.join(keeping)}, not {args.command}")
    args.line = " ".join(argv) or demo.NAME
    return args


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="The lake on this machine: real DAGs, EMR steps, Spark and Hudi.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_options(parser, default=True)
    options = argparse.ArgumentParser(add_help=False)
    _add_options(options, default=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        added = commands.add_parser(
            command.NAME,
            help=command.HELP,
            description=command.__doc__,
            parents=[options],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(added)
        uses_aws = getattr(command, "USES_AWS", False)
        added.set_defaults(run=command.run, uses_aws=uses_aws)
    return parser


def _add_options(parser: argparse.ArgumentParser, *, default: bool) -> None:
    """The options that every command takes, before or after its name."""
    home = find().root / ".local" / "home"

    def unless_given(value: object) -> object:
        return value if default else argparse.SUPPRESS

    group = parser.add_argument_group("where")
    group.add_argument(
        "--tables",
        metavar="DIR",
        type=Path,
        default=unless_given(None),
        help="folder of domains and table specs in place of dags/tables",
    )
    group.add_argument(
        "--home",
        metavar="DIR",
        type=Path,
        default=unless_given(home),
        help="where its state lives (default .local/home)",
    )
    group.add_argument(
        "--keep-up",
        action="store_true",
        default=unless_given(False),
        help="leave everything up after a demo or a run",
    )
