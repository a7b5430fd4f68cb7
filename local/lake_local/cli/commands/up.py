"""Start Airflow and the local AWS emulator, and leave them running until `down`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Iterator

from lake_emulator.keys import credentials_file
from lake_local.airflow import settings
from lake_local.cli.commands import site
from lake_local.cli.commands.scope import home_of, require_tables, specs_of_args
from lake_local.runs import release
from lake_local.stack import session
from lake_local.stack.stack import Stack
from lake_local.workspace.command_line import typed
from lake_local.workspace.dags_folder import domains_in
from lake_local.workspace.state_dir import StateDirectory

NAME = "up"


def add_arguments(parser: ArgumentParser) -> None:
    """Add nothing: the command has no arguments of its own."""


def run(args: Namespace) -> int:
    """Start what is not running; print the addresses."""
    home, specs = home_of(args), specs_of_args(args)
    up = Stack.up_for_all(home)
    if up is not None:
        require_tables(args.tables, up)
        with session.opened(home, specs, who=NAME) as opened:
            _print_addresses(home, opened.stack)
        return 0
    with session.opened(home, specs, who=NAME, airflow=True, keep=True) as opened:
        release.publish(home, opened.specs, opened.aws("s3"))
        site.build(opened)
    _print_addresses(home, Stack.noted(home) or opened.stack)
    return 0


def _print_addresses(home: StateDirectory, stack: Stack) -> None:
    print(f"Airflow   {stack.airflow_url}")
    print(f"          user {settings.USER}, password {settings.password(home)}")
    if stack.pages_port:
        print(f"Catalogue {stack.pages_url}")
    print(f"AWS       {stack.aws_url}   (AWS_ENDPOINT_URL)")
    print(f"          keys in {credentials_file(home.root)}")
    print(f"Tables    {stack.tables}")
    if stack.environment:
        print(f"          environment {stack.environment}")
    print(f"State     {home.root}   (state directory)")
    for line in next_steps(home, Path(stack.tables)):
        print(line)


def next_steps(home: StateDirectory, tables: Path) -> Iterator[str]:
    """List the next commands; the running tables need no option."""
    domain = next(iter(domains_in(tables)))
    names = sorted(x.stem for x in (tables / domain).glob("[a-z]*.yml"))
    table = f"{domain}.{names[0]}" if names else f"{domain}.TABLE"
    yield "Next:"
    steps = (
        ("put FILE_OR_DIR s3://lake/landing/...", "land files"),
        (f"run {domain}_full_load", "load them"),
        (f"show {table}", "see the rows"),
        ("status", "see what is running"),
        ("down", "stop everything; the data stays"),
    )
    lines = [(typed(command, home=home), words) for command, words in steps]
    width = max(len(command) for command, _ in lines)
    yield from (f"  {command:{width}}   # {words}" for command, words in lines)
