"""Read from the arguments what all commands need: state directory and specs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from lake_local.stack.state import require_environment, require_tables, up_for_all
from lake_local.workspace.command_line import default_home
from lake_local.workspace.project import find
from lake_local.workspace.specs import Specs, asked_environment, specs_of
from lake_local.workspace.state_dir import StateDirectory


def home_of(args: Namespace | None) -> StateDirectory:
    """Return the state directory of the arguments; the default without arguments.

    Raises BadRequest for a folder that others filled.
    """
    home = StateDirectory.at(args.state_dir) if args else default_home(find())
    home.check()
    return home


def add_dag(parser: ArgumentParser, *, params: str) -> None:
    """Add the arguments of commands that run a DAG; `params` is the help of --param."""
    parser.add_argument("dag_id", metavar="DAG_ID")
    parser.add_argument(
        "--param", metavar="K=V", action="append", default=[], help=params
    )


def specs_of_args(args: Namespace) -> Specs:
    """Return the specs that the arguments name; they must be the running ones."""
    up = up_for_all(home_of(args))
    if up is None:
        return specs_of(find(), args.tables)
    require_tables(args.tables, up)
    require_environment(asked_environment(find()), up)
    return specs_of(find(), args.tables, up.environment).of_running(Path(up.tables))
