"""Print what is running and where: processes, clusters, leases, and the last runs.

It starts and changes nothing. With --json it prints one JSON object.
"""

from __future__ import annotations

import json
import sqlite3
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import Any, Iterator

from botocore.exceptions import BotoCoreError, ClientError

from lake_spec.diagnostics.errors import LakeError
from lake_spec.state.lease import lease_folder, lease_uri

from lake_local import text
from lake_local.capture import slots
from lake_local.cli.commands.scope import home_of
from lake_local.stack import emulator, lock, objects
from lake_local.stack.stack import Stack
from lake_local.workspace import background
from lake_local.workspace.project import find
from lake_local.workspace.specs import specs_of
from lake_local.workspace.state_dir import StateDirectory

LAST_RUNS = 10
_RUNS = """
    select dag_id, run_id, state, start_date, end_date from dag_run
    order by coalesce(start_date, queued_at) desc limit ?
"""
_RUN_KEYS = ("dag", "run", "state", "started", "ended")


def add_arguments(parser: ArgumentParser) -> None:
    """Add the option for the output's form."""
    parser.add_argument(
        "--json", action="store_true", help="one JSON object, for programs"
    )


def run(args: Namespace) -> int:
    """Print the state; start and change nothing; always return 0."""
    found = state_of(home_of(args))
    if args.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return 0
    for line in lines(found):
        print(line)
    return 0


def state_of(home: StateDirectory) -> dict[str, Any]:
    """Return the state of a state directory as JSON-ready data.

    Returns:
        `state_dir`, `in_use_by` (texts), `up` (None, or since, tables, environment and
        processes), `left_over` (process ids), `clusters` and `leases` (None where they are
        unknown), `problems` (why they are), `slots` (of PostgreSQL, as they were last
        seen) and `last_runs`, the newest first. Times are UTC, but `since`, which is local
        with its zone left out.
    """
    stack = Stack.noted(home)
    found: dict[str, Any] = {
        "state_dir": str(home.root),
        "in_use_by": [str(each) for each in lock.holders(home)],
        "up": _up(stack) if stack else None,
        "left_over": [] if stack else [x.pid for x in background.marked(home.root)],
        "clusters": [],
        "leases": [],
        "problems": [],
        "slots": [asdict(each) for each in slots.known(home)],
        "last_runs": [dict(zip(_RUN_KEYS, row)) for row in _rows(home)],
    }
    if stack is not None:
        found["clusters"] = _clusters(stack, found["problems"])
        found["leases"] = _leases(stack, found["problems"])
    return found


def lines(found: dict[str, Any]) -> Iterator[str]:
    """Format the state, as `state_of` returns it, as lines for people."""
    yield f"State directory {found['state_dir']}"
    yield from (f"In use by {each}" for each in found["in_use_by"])
    if found["up"]:
        yield from _lines_of_up(found)
    elif found["left_over"]:
        left = ", ".join(map(str, found["left_over"]))
        yield (
            f"Nothing is running, but processes of a killed command still run: {left}. Stop"
            " them: ./run_locally.sh down"
        )
    else:
        yield "Nothing is running."
    for each in found["slots"]:
        home = StateDirectory.at(Path(found["state_dir"]))
        yield slots.what_stays(slots.Slot(**each), home)
    if found["last_runs"]:
        yield "Last runs"
        rows = [tuple(each.values()) for each in found["last_runs"]]
        yield from text.table(_RUN_KEYS, rows)
    else:
        yield "No runs yet."


def _lines_of_up(found: dict[str, Any]) -> Iterator[str]:
    up = found["up"]
    yield f"Running since {up['since']}, tables {up['tables']}"
    rows = [
        (each["name"], str(each["pid"]), each["state"], each["address"] or "")
        for each in up["processes"]
    ]
    yield from text.table(("process", "pid", "state", "address"), rows)
    yield from found["problems"]
    if found["clusters"]:
        rows = [tuple(each.values()) for each in found["clusters"]]
        yield from text.table(("cluster", "state", "name"), rows)
    elif found["clusters"] is not None:
        yield "No cluster is running."
    for each in found["leases"] or ():
        yield f"Lease of {each['domain']}: {each['holder']} since {each['since']} UTC"


def _up(stack: Stack) -> dict[str, Any]:
    ports = {"aws": stack.aws_url, "api-server": stack.airflow_url}
    return {
        "since": stack.since,
        "tables": stack.tables,
        "environment": stack.environment,
        "processes": [
            {
                "name": each.name,
                "pid": each.pid,
                "state": "alive" if each.is_alive() else "ended",
                "address": ports.get(each.name),
            }
            for each in stack.processes
        ],
    }


def _clusters(stack: Stack, problems: list[str]) -> list[dict[str, str]] | None:
    try:
        live = emulator.live_clusters(stack.aws("emr"))
    except (BotoCoreError, ClientError) as error:
        problems.append(
            f"Clusters and leases: unknown, the AWS emulator does not answer ({error}). Its"
            " log is aws.log in the state directory's logs/; where it has ended, the next"
            " command that uses it starts it again."
        )
        return None
    return [
        {"id": x["Id"], "state": x["Status"]["State"], "name": x["Name"]} for x in live
    ]


def _leases(stack: Stack, problems: list[str]) -> list[dict[str, Any]] | None:
    s3 = stack.aws("s3")
    found = []
    try:
        environment = specs_of(find(), None, stack.environment).environment
        for key in objects.under(s3, lease_folder(environment.runs)):
            domain = key.rsplit("/", 1)[-1][: -len(".json")]
            lease = objects.read_json(s3, lease_uri(environment.runs, domain)) or {}
            if lease.get("holder"):
                since = _second(lease["since"])
                each = {"domain": domain, "holder": lease["holder"], "since": since}
                found.append(each)
    except LakeError as error:
        problems.append(f"Leases: unknown. {error}")
        return None
    except (BotoCoreError, ClientError):
        return None  # Reported with the clusters.
    return found


def _rows(home: StateDirectory) -> list[tuple[Any, ...]]:
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
