"""A DAG run, triggered and followed to its end."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, Iterator

from lake_spec.layout.dag_names import ids_of
from lake_spec.layout.run_key import run_key
from lake_spec.model.names import NAME
from lake_spec.run_options.asked import TYPES
from lake_spec.state.lease import lease_uri
from lake_spec.text.times import GRAMMAR, parse_timestamp

from lake_local.airflow.rest import ApiError
from lake_local.errors import BadRequest, RunFailed, unknown
from lake_local.runs import logs, release
from lake_local.runs.watcher import Follower, StepOutput
from lake_local.stack import objects, policies
from lake_local.stack.session import Session
from lake_local.text import progress

KNOWN_SECONDS = 60


@dataclass(frozen=True)
class Ended:
    """A run that ended, with its summary if it wrote one."""

    dag_id: str
    run_id: str
    state: str
    seconds: float
    summary: dict[str, Any] | None

    def reports(self) -> Iterator[dict[str, Any]]:
        """List the reports of its stages, table by table."""
        tables = (self.summary or {}).get("tables", {})
        for stages in tables.values():
            yield from stages.values()


def run(session: Session, dag_id: str, conf: dict[str, Any]) -> Ended:
    """Publish the release, trigger the DAG, follow the run. Raises BadRequest for an
    unknown DAG or param."""
    number = prepare(session, dag_id)
    run_id = f"cli__{datetime.now(timezone.utc):%Y-%m-%dT%H-%M-%S.%f}"
    _trigger(session, dag_id, run_id, conf)
    progress(f"{dag_id}  run {run_id}  release {number}")
    return follow(session, dag_id, run_id)


def prepare(session: Session, dag_id: str) -> str:
    """Publish the release with its policies, and wait until Airflow knows the DAG.

    Return the release's id.
    """
    session.specs.dags_folder(session.home.dags)
    up = session.stack
    policies.replace(up.aws_url, up.aws_secret, session.specs)
    number = release.publish(session.home, session.specs, session.aws("s3"))
    _wait_until_known(session, dag_id)
    return number


def follow(session: Session, dag_id: str, run_id: str) -> Ended:
    """Print the progress of a run until it ends."""
    begin = time.monotonic()
    state = _follower(session, dag_id, run_id).follow(dag_id, run_id)
    return Ended(
        dag_id,
        run_id,
        state,
        time.monotonic() - begin,
        _summary(session, dag_id, run_id),
    )


def check(session: Session, ended: Ended) -> None:
    """Raise RunFailed with the failed tables and their causes, if the run failed."""
    failed = (ended.summary or {}).get("state") == "failed"
    if ended.state == "success" and not failed:
        return
    causes = (ended.summary or {}).get("causes") or _causes_in_logs(session, ended)
    lines = "\n".join(f"  FAILED {cause}" for cause in causes)
    raise RunFailed(
        f"{ended.dag_id} {ended.run_id} failed.\n{lines}\n"
        f"  Full logs: ./run_locally.sh logs {ended.run_id}"
    )


def params(pairs: list[str], window: list[str] | None) -> dict[str, Any]:
    """Return `K=V` pairs and a window as the run's conf. Raises BadRequest."""
    conf = dict(_param(pair) for pair in pairs)
    if window:
        conf["window_from"], conf["window_to"] = (timestamp(text) for text in window)
    return conf


def timestamp(text: str) -> str:
    """Return a date or time as an instant in UTC; a time without zone is UTC."""
    parsed = parse_timestamp(text)
    if parsed is None:
        raise BadRequest(
            f"not a valid timestamp: {text!r} (expected {GRAMMAR}). Write it as in"
            " 2026-01-31 or 2026-01-31T06:30:00Z."
        )
    return parsed.isoformat().replace("+00:00", "Z")


def _param(pair: str) -> tuple[str, Any]:
    name, equals, text = pair.partition("=")
    if not equals or not NAME.fits(name):
        raise BadRequest(
            f"--param: got {pair!r}. Write name=value, as in tables=artists."
        )
    if TYPES.get(name) == "array":
        return name, [each.strip() for each in text.split(",") if each.strip()]
    if text.lower() in ("true", "false"):
        return name, text.lower() == "true"
    if TYPES.get(name) == "number":
        return name, _number(name, pair, text)
    return name, text


def _number(name: str, pair: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadRequest(
            f"--param: got {pair!r}. Write a number, as in {name}=0.1."
        ) from None


def _wait_until_known(session: Session, dag_id: str) -> None:
    """Wait until Airflow has parsed the DAG's file; report a broken file at once."""
    deadline = time.monotonic() + KNOWN_SECONDS
    while True:
        try:
            session.airflow.dag(dag_id)
            return
        except ApiError as error:
            if error.status != 404:
                raise
        _raise_import_errors(session, dag_id)
        known = session.airflow.dag_ids()
        if time.monotonic() > deadline or _nobody_could_mean(session, dag_id, known):
            raise BadRequest(unknown("DAG", dag_id, known))
        time.sleep(0.5)


def _nobody_could_mean(session: Session, dag_id: str, known: list[str]) -> bool:
    """Return whether no DAG file can still bring this DAG: all are parsed without it."""
    if dag_id in known:
        return False  # Read between the question for it and the one for all.
    names = [each.name for each in session.specs.domains()]
    read = [
        name for name in names if any(each.startswith(f"{name}_") for each in known)
    ]
    mine = [name for name in names if dag_id.startswith(f"{name}_")]
    return len(read) == len(names) or (bool(mine) and set(mine) <= set(read))


def _raise_import_errors(session: Session, dag_id: str) -> None:
    for file, trace in session.airflow.import_errors():
        if dag_id.startswith(Path(file).stem):
            raise BadRequest(
                f"{file}: Airflow cannot import this DAG file. Fix the error and run again:\n"
                f"{trace}"
            )


def _trigger(session: Session, dag_id: str, run_id: str, conf: dict[str, Any]) -> None:
    try:
        session.airflow.trigger(dag_id, run_id=run_id, conf=conf)
    except ApiError as error:
        if error.status in (400, 422):
            raise BadRequest(
                f"{dag_id}: Airflow refused the run: {error.detail}. Correct --param."
            ) from error
        raise


def _follower(session: Session, dag_id: str, run_id: str) -> Follower:
    folders = partial(logs.step_folders, session, dag_id, run_id)
    output = StepOutput(folders=folders)
    held_up = partial(what_holds_up, session, dag_id, run_id)
    return Follower(session.airflow, progress, output, session.dead, held_up)


def what_holds_up(session: Session, dag_id: str, run_id: str) -> str:
    """Return in words which other run has the lease of the DAG's domain; "" if none."""
    names = (each for each in session.specs.domain_names() if dag_id in ids_of(each))
    uri = lease_uri(session.specs.environment.runs, next(names, ""))
    lease = objects.read_json(session.aws("s3"), uri) or {}
    holder = lease.get("holder")
    if not holder or holder.endswith(f"{dag_id}/{run_key(run_id)}"):
        return ""
    return f"waits: the run {holder} has the domain's lease"


def _summary(session: Session, dag_id: str, run_id: str) -> dict[str, Any] | None:
    root = f"{session.specs.environment.runs}/{dag_id}/{run_key(run_id)}"
    found: dict[str, Any] | None = objects.read_json(
        session.aws("s3"), f"{root}/summary.json"
    )
    return found


def _causes_in_logs(session: Session, ended: Ended) -> list[str]:
    """List the failed tasks and their last errors, for a run without a summary."""
    tasks = session.airflow.tasks(ended.dag_id, ended.run_id)
    red = [each["task_id"] for each in tasks if each["state"] == "failed"]
    return [
        f"{task}: {logs.last_error(session.home, ended.dag_id, ended.run_id, task)}"
        for task in red
    ]
