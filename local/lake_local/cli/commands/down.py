"""Stop everything of the state directory: runs fail, clusters end, the data stays."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from lake_local.capture import slots
from lake_local.cli.commands.scope import home_of
from lake_local.stack import lock, stack
from lake_local.stack.stack import Stack
from lake_local.workspace import background

NAME = "down"


def add_arguments(parser: ArgumentParser) -> None:
    """Add nothing: the command has no arguments of its own."""


def run(args: Namespace) -> int:
    """Stop the noted processes, and any other of this state directory."""
    home = home_of(args)
    if not home.root.is_dir():
        print(f"nothing is running: the state directory {home.root} does not exist")
        return 0
    with lock.hold(home, NAME, shared=False):
        was_up = Stack.noted(home) is not None or bool(background.marked(home.root))
        stack.end(home)
    print("stopped" if was_up else f"nothing is running in {home.root}")
    for slot in slots.known(home):
        print(slots.what_stays(slot, home))
    return 0
