"""A backfill of Airflow, created and told to its end, run by run."""

from __future__ import annotations

import time
from typing import Any, Iterator

from lake_local.airflow.rest import ApiError
from lake_local.errors import BadRequest, RunFailed
from lake_local.runs import dag_runs
from lake_local.runs.dag_runs import Ended
from lake_local.stack.session import Session
from lake_local.text import tell

START_SECONDS = 120
"""So long Airflow may take to make the runs that it promised."""

BUSY = 503  # HTTP status
BUSY_SECONDS = 60
"""So long is asked again where the database is busy; Airflow then has made nothing."""

REPROCESS = ("none", "failed", "completed")


def run(session: Session, dag_id: str, asked: dict[str, Any]) -> Iterator[Ended]:
    """Create the backfill; each of its runs when it has ended, oldest first.

    `asked` is what Airflow's API takes. BadRequest for what Airflow refuses, and
    where no interval is left to run.
    """
    number = dag_runs.prepare(session, dag_id)
    dates = _create(session, dag_id, asked)
    tell(f"{dag_id}  backfill of {len(dates)} intervals  release {number}")
    for date in dates:
        run_id = _begun(session, dag_id, date)
        tell(f"{dag_id}  run {run_id}  release {number}")
        yield dag_runs.follow(session, dag_id, run_id)


def _create(session: Session, dag_id: str, asked: dict[str, Any]) -> list[str]:
    dates = _asked_for(session, dag_id, asked)
    if not dates:
        raise BadRequest(
            f"{dag_id}: from {asked['from_date']} to {asked['to_date']} no interval is"
            " left to run. The end counts to the second, and an interval that has a run"
            " is run again with --reprocess failed or --reprocess completed."
        )
    return dates


def _asked_for(session: Session, dag_id: str, asked: dict[str, Any]) -> list[str]:
    """Ask until Airflow's database, one file, lets it: it takes one writer at a time."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return session.airflow.backfill(dag_id, asked)
        except ApiError as error:
            if error.status < 500:
                words = f"{dag_id} refuses this: {error.detail}{_remedy(error)}"
                raise BadRequest(words) from error
            if error.status != BUSY or time.monotonic() > deadline:
                raise
        time.sleep(1)


def _remedy(error: ApiError) -> str:
    if "non-periodic" not in str(error.detail):
        return ""
    return (
        ". Give its domain a schedule in _domain.yml, such as schedules: {incremental:"
        ' "@daily"}: its intervals are those of the backfill.'
    )


def _begun(session: Session, dag_id: str, date: str) -> str:
    """The id of the run of a logical date, once Airflow has made it."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if run_id := session.airflow.runs_at(dag_id, [date]).get(date):
            return run_id
        time.sleep(1)
    raise RunFailed(f"{dag_id}: Airflow made no run of {date} in {START_SECONDS} s.")
