"""Read from the arguments what all commands need: state directory and specs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from lake_local.errors import BadRequest
from lake_local.stack.stack import Stack
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
    up = Stack.up_for_all(home_of(args))
    if up is None:
        return specs_of(find(), args.tables)
    require_tables(args.tables, up)
    require_environment(asked_environment(find()), up)
    return specs_of(find(), args.tables, up.environment).of_running(Path(up.tables))


def require_tables(asked: Path | None, up: Stack) -> None:
    """Raise BadRequest if other tables are asked for than those that are up."""
    if asked is not None and str(asked.resolve()) != up.tables:
        raise BadRequest(
            f"--tables {asked}: this state directory runs with the tables {up.tables}. Stop"
            " it first (./run_locally.sh down), or give the other tables a state directory"
            " of their own (--state-dir DIR)."
        )


def require_environment(asked: str, up: Stack) -> None:
    """Raise BadRequest if another environment is asked for than the one that is up."""
    if asked and up.environment and asked != up.environment:
        raise BadRequest(
            f"LAKE_ENVIRONMENT={asked}: this state directory runs with {up.environment}."
            " Stop it first (./run_locally.sh down), unset the variable, or give the other"
            " environment a state directory of its own (--state-dir DIR)."
        )
