"""The command line: its commands, options and help."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Optional, Sequence

from lake_spec.diagnostics.suggestions import did_you_mean

from lake_local.cli.registry import BY_NAME, COMMANDS, PROGRAMS, Command, Program
from lake_local.workspace.command_line import default_home
from lake_local.workspace.project import find

PROGRAM = "./run_locally.sh"
DEMO = "demo"
_WITH_VALUE = ("--tables", "--state-dir")
"""Options of every command that are followed by a value."""

_EPILOG = """\
Every command starts what it needs and stops it again, or uses what `up` has started.
`up` leaves everything running, for all commands, until `down`. Without a command: the
demo.
"""


class _Parser(argparse.ArgumentParser):
    """Suggests the nearest choice for a word that is not valid."""

    def error(self, message: str) -> NoReturn:
        """End with exit code 2, the usage and the message."""
        found = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if found:
            hint = did_you_mean(found[1], re.findall(r"[\w-]+", found[2]))
            message = f"{message}. {hint}".rstrip(". ")
        if message.startswith("the following arguments are required"):
            message = f"{message}. Add what is missing; see {self.prog} --help"
        super().error(message)


class _Version(argparse.Action):
    """Print the version as the script does, which alone knows how, and end."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        script = find().root / PROGRAM
        parser.exit(subprocess.run([str(script), "--version"]).returncode)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments; `run` in them is the function of the command.

    A program of another package gets those of its own unparsed.
    """
    if "_ARGCOMPLETE" in os.environ:  # The shell asks what may come next.
        import argcomplete

        argcomplete.autocomplete(whole_parser())
    place = _place_of_command(argv)
    name = DEMO if place is None else argv[place]
    asked = BY_NAME.get(name)
    if isinstance(asked, Program) and place is not None:
        return _of_program(asked, [*argv[:place], *argv[place + 1 :]])
    parser = _parser([asked] if isinstance(asked, Command) else COMMANDS)
    args, unknown = parser.parse_known_args(argv)
    if args.command is None:
        args, unknown = parser.parse_known_args([*argv, DEMO])
    if unknown:
        known = re.findall(r"--[a-z-]+", args.parser.format_help())
        hints = "".join(did_you_mean(each, known) for each in unknown)
        words = f"unrecognized arguments: {' '.join(unknown)}. {hints}"
        args.parser.error(words.rstrip(". "))
    keeping = [command.name for command in COMMANDS if command.keeps]
    if args.keep_up and args.command not in keeping:
        commands = ", ".join(keeping)
        parser.error(
            f"--keep-up is not an option of {args.command}: use it with {commands}, or"
            " start everything with `up`"
        )
    return args


def _place_of_command(argv: Sequence[str]) -> Optional[int]:
    """Return where the first word stands that is neither an option nor its value."""
    before = ""
    for place, word in enumerate(argv):
        if not word.startswith("-") and before not in _WITH_VALUE:
            return place
        before = word
    return None


def _of_program(program: Program, argv: Sequence[str]) -> argparse.Namespace:
    return argparse.Namespace(
        command=program.name,
        run=lambda _: program.run(argv, PROGRAM),
        uses_aws=program.uses_aws,
    )


def whole_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    return _parser(COMMANDS)


def _parser(whole: Sequence[Command]) -> argparse.ArgumentParser:
    """Build a parser that knows every command by name, and these with their arguments."""
    parser = _Parser(
        prog=PROGRAM,
        allow_abbrev=False,  # else a value could be taken for the command
        description="The lake on this machine: real DAGs, EMR steps, Spark and Hudi.",
        epilog=_EPILOG,
        # As wide on every terminal: local/help/_all.txt holds what it prints.
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=88),
    )
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        help="the version, the commit and the last release",
    )
    _add_options(parser, default=True)
    options = _Parser(add_help=False)
    _add_options(options, default=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in (*COMMANDS, *PROGRAMS):
        if isinstance(command, Program) or command not in whole:
            commands.add_parser(command.name, help=command.help)
            continue
        module = command.module
        added = commands.add_parser(
            command.name,
            help=command.help,
            description=module.__doc__,
            parents=[options],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(added)
        added.set_defaults(run=module.run, uses_aws=command.uses_aws, parser=added)
    return parser


def _add_options(parser: argparse.ArgumentParser, *, default: bool) -> None:
    """Add the options of every command, valid before or after its name."""
    home = default_home(find())

    def unless_given(value: object) -> object:
        return value if default else argparse.SUPPRESS

    group = parser.add_argument_group("where")
    group.add_argument(
        "--tables",
        metavar="DIR",
        type=Path,
        default=unless_given(None),
        help="folder of domains and table specs (default dags/tables)",
    )
    group.add_argument(
        "--state-dir",
        metavar="DIR",
        type=Path,
        default=unless_given(home.root),
        help="state directory: data, logs and processes (default .local/home)",
    )
    group.add_argument(
        "--keep-up",
        action="store_true",
        default=unless_given(False),
        help="leave everything running after a demo or a run",
    )
