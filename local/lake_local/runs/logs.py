"""The logs of a run: its Airflow tasks and its EMR steps, from disk and from S3."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any, Iterator

from lake_spec.layout.run_key import run_key

from lake_local.errors import BadRequest, unknown
from lake_local.stack import objects
from lake_local.stack.session import Session
from lake_local.workspace.state_dir import StateDirectory

_STEP_LOG = re.compile(r"/(j-[A-Z0-9]+)/steps/(s-[A-Z0-9]+)/(stdout|stderr|controller)")
# Never shown, even if a library logs it.
_TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+")
_SECRET = re.compile(
    r"(?i)((?:password|secret|token|authorization)[\"']?\s*[=:]\s*[\"']?)"
    r"(?:bearer\s+)?[^\s\"',}]+"
)


def runs_named(home: StateDirectory, run_id: str) -> list[tuple[str, str]]:
    """Return (DAG, run) of the runs with this id. Raises BadRequest with the nearest."""
    folders = home.task_logs.glob("dag_id=*/run_id=*")
    found = [(_value(each.parent), _value(each)) for each in folders]
    chosen = [each for each in found if each[1] == run_id]
    if not found:
        raise BadRequest(
            f"no run {run_id!r}: the state directory {home.root} has no runs. Start one"
            " with `run`, or name another directory with --state-dir DIR."
        )
    if not chosen:
        raise BadRequest(unknown("run", run_id, {run for _, run in found}))
    return sorted(chosen)


def task_lines(home: StateDirectory, dag_id: str, run_id: str) -> Iterator[str]:
    """List the log lines of every task of the run, in order of start."""
    folder = home.task_logs / f"dag_id={dag_id}" / f"run_id={run_id}"
    files = sorted(folder.rglob("*.log*"), key=lambda each: each.stat().st_mtime)
    for file in files:
        if file.is_file():
            yield f"== task {'/'.join(file.relative_to(folder).parts)}"
            yield from readable(file.read_text(errors="replace").splitlines())


def step_lines(session: Session, dag_id: str, run_id: str) -> Iterator[str]:
    """List the output of the run's steps: of ended ones from S3, else from disk."""
    listed: set[tuple[str, str]] = set()
    s3, logs = session.aws("s3"), _log_root(session, dag_id, run_id)
    bucket, _ = objects.split(logs)
    for key in objects.under(s3, logs):
        found = _STEP_LOG.search(key)
        if found:
            listed.add((found[1], found[2]))
            body = objects.read(s3, f"s3://{bucket}/{key}") or b""
            yield from _step_part(" ".join(found.groups()), _plain(body))
    for folder in step_folders(session, dag_id, run_id):
        for file in sorted(folder.glob("*/std*")):
            if (folder.name, file.parent.name) not in listed:
                name = f"{folder.name} {file.parent.name} {file.name}"
                yield from _step_part(name, file.read_bytes())


def step_folders(session: Session, dag_id: str, run_id: str) -> list[Path]:
    """Return the folders with the step output of the run's clusters on this machine."""
    name = f"lake {dag_id} {run_key(run_id)}"
    pages = session.aws("emr").get_paginator("list_clusters").paginate()
    ids = [
        each["Id"]
        for page in pages
        for each in page["Clusters"]
        if each["Name"] == name
    ]
    return [
        each for each in (session.home.steps / found for found in ids) if each.is_dir()
    ]


def last_error(home: StateDirectory, dag_id: str, run_id: str, task_id: str) -> str:
    """Return the last error that a task logged, in one line."""
    folder = home.task_logs / f"dag_id={dag_id}" / f"run_id={run_id}"
    files = sorted((folder / f"task_id={task_id}").rglob("*.log*"))
    for line in reversed(files[-1].read_text().splitlines() if files else []):
        entry = _entry(line)
        if entry and entry.get("level") in ("error", "critical"):
            return _hidden(_cause(entry))
    return "no error in its log"


def readable(lines: list[str]) -> Iterator[str]:
    """Format Airflow's JSON lines as text, other lines unchanged, without secrets."""
    for line in lines:
        entry = _entry(line)
        if entry is None:
            yield _hidden(line)
            continue
        when = str(entry.get("timestamp", ""))[11:19]
        level = str(entry.get("level", "")).upper()
        yield _hidden(f"{when} {level:<8} {entry.get('event', '')}")
        for error in entry.get("error_detail") or ():
            yield _hidden(f"         {error.get('exc_type')}: {error.get('exc_value')}")


def _entry(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "event" in found else None


def _cause(entry: dict[str, Any]) -> str:
    details = entry.get("error_detail") or ()
    texts = [f"{each.get('exc_type')}: {each.get('exc_value')}" for each in details]
    return texts[-1] if texts else str(entry["event"])


def _step_part(name: str, body: bytes) -> Iterator[str]:
    yield f"== step {name}"
    for line in body.decode(errors="replace").splitlines():
        yield _hidden(line)


def _plain(body: bytes) -> bytes:
    return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body


def _log_root(session: Session, dag_id: str, run_id: str) -> str:
    return f"{session.specs.environment.logs}/{dag_id}/{run_key(run_id)}/"


def _hidden(text: str) -> str:
    return _SECRET.sub(r"\1***", _TOKEN.sub("***", text))


def _value(folder: Path) -> str:
    return folder.name.partition("=")[2]
