"""The command line: what can be asked, and how `--help` says it."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Sequence

from lake_spec.diagnostics.suggestions import did_you_mean

from lake_local.cli.commands import (
    backfill,
    cost,
    demo,
    down,
    logs,
    onboard,
    put,
    run,
    secret,
    show,
    status,
    up,
    validate,
)
from lake_local.workspace.project import find

PROGRAM = "./run_locally.sh"
COMMANDS = (
    *(demo, up, down, status, put, run, backfill, logs),
    *(validate, onboard, secret, show, cost),
)
KEEPING = (demo, run, backfill)
"""Those that may leave up what they started."""

_EPILOG = """\
Every command starts what it needs and stops it again, or uses what is up.
`up` leaves it up, for all commands, until `down`. Without a command: the demo.
"""


class _Parser(argparse.ArgumentParser):
    """Says which choice was probably meant where a word is none of them."""

    def error(self, message: str) -> NoReturn:
        """End with exit code 2, the usage and the message."""
        found = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if found:
            hint = did_you_mean(found[1], re.findall(r"[\w-]+", found[2]))
            message = f"{message}. {hint}".rstrip(". ")
        super().error(message)


class _Version(argparse.Action):
    """Print the version as the script does, which alone knows how, and end."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        script = find().root / PROGRAM
        parser.exit(subprocess.run([str(script), "--version"]).returncode)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments; `run` in them is the function of the command to call."""
    parser = whole_parser()
    if "_ARGCOMPLETE" in os.environ:  # The shell asks what may come next.
        import argcomplete

        argcomplete.autocomplete(parser)
    args, unknown = parser.parse_known_args(argv)
    if args.command is None:
        args, unknown = parser.parse_known_args([*argv, demo.NAME])
    if unknown:
        known = re.findall(r"--[a-z-]+", args.parser.format_help())
        hints = "".join(did_you_mean(each, known) for each in unknown)
        words = f"unrecognized arguments: {' '.join(unknown)}. {hints}"
        args.parser.error(words.rstrip(". "))
    keeping = [command.NAME for command in KEEPING]
    if args.keep_up and args.command not in keeping:
        parser.error(f"--keep-up goes with {', '.join(keeping)}, not {args.command}")
    return args


def whole_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = _Parser(
        prog=PROGRAM,
        description="The lake on this machine: real DAGs, EMR steps, Spark and Hudi.",
        epilog=_EPILOG,
        # As wide on every terminal: local/help.txt holds what it prints.
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=88),
    )
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        help="the version, the commit and the last release",
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
        added.set_defaults(run=command.run, uses_aws=uses_aws, parser=added)
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
        "--state-dir",
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
