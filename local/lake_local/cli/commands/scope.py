"""What all commands read from the arguments: the home and the specs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from lake_local.stack.session import require_environment, require_tables, up_for_all
from lake_local.workspace.command_line import default_home
from lake_local.workspace.project import find
from lake_local.workspace.specs import Specs, asked_environment, specs_of
from lake_local.workspace.state_dir import Home


def home_of(args: Namespace | None) -> Home:
    """The home that the arguments name; the project's own without arguments."""
    return Home.at(args.state_dir) if args else default_home(find())


def add_dag(parser: ArgumentParser, *, params: str) -> None:
    """The arguments of commands that run a DAG; `params` is the help for its params."""
    parser.add_argument("dag_id", metavar="DAG_ID")
    parser.add_argument(
        "--param", metavar="K=V", action="append", default=[], help=params
    )


def specs_of_args(args: Namespace) -> Specs:
    """The specs that the arguments name, which must be those that are up."""
    up = up_for_all(home_of(args))
    if up is None:
        return specs_of(find(), args.tables)
    require_tables(args.tables, up)
    require_environment(asked_environment(find()), up)
    return specs_of(find(), args.tables, up.environment).of_running(Path(up.tables))
