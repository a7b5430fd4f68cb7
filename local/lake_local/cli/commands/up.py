"""Start everything and leave it up: Airflow's UI and the emulator for AWS."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from lake_local.airflow import settings
from lake_local.aws.keys import credentials_file
from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.runs import release
from lake_local.stack import session, state
from lake_local.stack.state import Stack
from lake_local.workspace.state_dir import Home

NAME = "up"
HELP = "start everything and leave it up"


def add_arguments(parser: ArgumentParser) -> None:
    """It takes none of its own."""


def run(args: Namespace) -> int:
    """Start what is not up; say where it is."""
    home, specs = home_of(args), specs_of_args(args)
    up = session.up_for_all(home)
    if up is not None:
        session.require_tables(args.tables, up)
        _tell(home, up)
        return 0
    with session.opened(home, specs, who=NAME, airflow=True, keep=True) as opened:
        release.publish(home, opened.specs, opened.aws("s3"))
    _tell(home, state.read(home) or opened.stack)
    return 0


def _tell(home: Home, stack: Stack) -> None:
    print(f"Airflow   {stack.airflow_url}")
    print(f"          user {settings.USER}, password {settings.password(home)}")
    print(f"AWS       {stack.aws_url}   (AWS_ENDPOINT_URL)")
    print(f"          keys in {credentials_file(home.root)}")
    print(f"Tables    {stack.tables}")
    if stack.environment:
        print(f"          environment {stack.environment}")
    print(f"Home      {home.root}")
    print("Stop it with ./run_locally.sh down" + _same_home(home))


def _same_home(home: Home) -> str:
    return "" if home == home_of(None) else f" --state-dir {home.root}"
