"""What is up, where it listens, which clusters live, which run has which domain,
and how the last runs went."""

from __future__ import annotations

import sqlite3
from argparse import ArgumentParser, Namespace
from typing import Any, Iterator

from botocore.exceptions import BotoCoreError, ClientError

from lake_spec.contract.lease import lease_folder, lease_uri
from lake_spec.diagnostics.errors import LakeError

from lake_local import text
from lake_local.cli.commands.scope import home_of
from lake_local.stack import emulator, lock, objects, state
from lake_local.stack.state import Stack
from lake_local.workspace import background
from lake_local.workspace.project import find
from lake_local.workspace.specs import specs_of
from lake_local.workspace.state_dir import Home

NAME = "status"
HELP = "what is up, live clusters, leases, last runs"
LAST_RUNS = 10
_RUNS = """
    select dag_id, run_id, state, start_date, end_date from dag_run
    order by coalesce(start_date, queued_at) desc limit ?
"""


def add_arguments(parser: ArgumentParser) -> None:
    """It takes none of its own."""


def run(args: Namespace) -> int:
    """Print the state; it starts and changes nothing, and always ends with 0."""
    home = home_of(args)
    for line in lines(home):
        print(line)
    return 0


def lines(home: Home) -> Iterator[str]:
    """The state of a home as lines."""
    stack = state.read(home)
    yield f"Home {home.root}"
    yield from (f"In use by {each}" for each in lock.holders(home))
    if stack is None:
        yield from _leftovers(home)
    else:
        yield from _processes(stack)
        yield from _clusters(stack)
        yield from _leases(stack)
    yield from _runs(home)


def _leftovers(home: Home) -> Iterator[str]:
    left = [str(each.pid) for each in background.marked(home.root)]
    if left:
        yield f"Left over from a command that was killed: {', '.join(left)}. `down` ends them."
    else:
        yield "Nothing is up."


def _processes(stack: Stack) -> Iterator[str]:
    yield f"Up since {stack.since}, tables {stack.tables}"
    ports = {"aws": stack.aws_url, "api-server": stack.airflow_url}
    rows = [
        (each.name, str(each.pid), _state(each.is_alive()), ports.get(each.name, ""))
        for each in stack.processes
    ]
    yield from text.table(("process", "pid", "state", "address"), rows)


def _clusters(stack: Stack) -> Iterator[str]:
    try:
        live = emulator.live_clusters(emulator.client("emr", stack, stack.region))
    except (BotoCoreError, ClientError) as error:
        yield f"Clusters: unknown, the emulator does not answer ({error})"
        return
    if not live:
        yield "No cluster is alive."
        return
    rows = [(each["Id"], each["Status"]["State"], each["Name"]) for each in live]
    yield from text.table(("cluster", "state", "name"), rows)


def _leases(stack: Stack) -> Iterator[str]:
    s3 = emulator.client("s3", stack, stack.region)
    try:
        environment = specs_of(find(), None, stack.environment).environment
    except LakeError as error:
        yield f"Leases: unknown. {error}"
        return
    try:
        for key in objects.under(s3, lease_folder(environment.runs)):
            domain = key.rsplit("/", 1)[-1][: -len(".json")]
            lease = objects.read_json(s3, lease_uri(environment.runs, domain)) or {}
            if lease.get("holder"):
                since = _second(lease["since"])
                yield f"Lease of {domain}: {lease['holder']} since {since} UTC"
    except (BotoCoreError, ClientError):
        return  # Said of the clusters already.


def _runs(home: Home) -> Iterator[str]:
    rows = _rows(home)
    if rows:
        yield "Last runs"
        yield from text.table(("dag", "run", "state", "started", "ended"), rows)
    else:
        yield "No run yet."


def _rows(home: Home) -> list[tuple[Any, ...]]:
    database = home.airflow / "airflow.db"
    if not database.exists():
        return []
    connection = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=10)
    try:
        found = connection.execute(_RUNS, (LAST_RUNS,)).fetchall()
    except sqlite3.Error:
        return []  # It is being made, or upgraded.
    finally:
        connection.close()
    return [
        (dag_id, run_id, state_, _second(start), _second(end))
        for dag_id, run_id, state_, start, end in found
    ]


def _second(timestamp: str | None) -> str | None:
    return timestamp[:19] if timestamp else None


def _state(alive: bool) -> str:
    return "alive" if alive else "ended"
