"""Stop everything of this home: runs are ended, clusters terminated, data stays."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from lake_local.cli.commands.scope import home_of
from lake_local.stack import lock, session, state
from lake_local.workspace import background

NAME = "down"
HELP = "stop everything that is up"


def add_arguments(parser: ArgumentParser) -> None:
    """It takes none of its own."""


def run(args: Namespace) -> int:
    """Stop what is noted, and whatever else still runs for this home."""
    home = home_of(args)
    if not home.root.is_dir():
        print(f"nothing is up: {home.root} does not exist")
        return 0
    with lock.hold(home, NAME, shared=False):
        was_up = state.read(home) is not None or bool(background.marked(home.root))
        session.end(home)
    print("stopped" if was_up else "nothing is up")
    return 0
