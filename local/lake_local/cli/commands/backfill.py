"""Run a DAG for past intervals of its schedule, oldest first, as Airflow's backfill.

Exit code 0 if all runs succeeded, 1 with the failed tables and their causes.
Example: ./run_locally.sh backfill moma_incremental --from 2016-03-01 --to 2016-05-31
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import Any, Iterator

from lake_local.airflow.rest import ApiError
from lake_local.cli.commands.run import lines
from lake_local.cli.commands.scope import add_dag, home_of, specs_of_args
from lake_local.errors import BadRequest, RunFailed
from lake_local.runs import asked_run, dag_runs
from lake_local.runs.dag_runs import Ended
from lake_local.stack import session
from lake_local.stack.session import Session
from lake_local.text import progress

START_SECONDS = 120
"""How long to wait until Airflow has created a run of the backfill."""

BUSY = 503  # HTTP status
BUSY_SECONDS = 60
"""How long to retry while Airflow's database is busy; nothing was created then."""

REPROCESS = ("none", "failed", "completed")


def add_arguments(parser: ArgumentParser) -> None:
    """Add the DAG, the intervals and the params of every run."""
    add_dag(parser, params="a param of every run: tables=artists,works")
    parser.add_argument(
        "--from",
        dest="start",
        metavar="A",
        required=True,
        help="the first logical date: the start of the first interval (UTC)",
    )
    parser.add_argument(
        "--to",
        dest="end",
        metavar="B",
        required=True,
        help="the last logical date that may have a run; a date alone is its midnight",
    )
    parser.add_argument(
        "--reprocess",
        choices=REPROCESS,
        default="none",
        help="which intervals that have a run already are run again",
    )
    parser.add_argument(
        "--max-active-runs",
        type=_count,
        default=3,
        metavar="N",
        help="how many runs Airflow starts at once; all but the oldest wait",
    )


def run(args: Namespace) -> int:
    """Create the runs, follow them, print each summary. Raises RunFailed for the first
    that failed."""
    asked = asked_of(args)
    home, specs = home_of(args), specs_of_args(args)
    asked_run.check(specs, args.dag_id, asked["dag_run_conf"])
    with session.opened(
        home, specs, who=f"backfill {args.dag_id}", airflow=True, keep=args.keep_up
    ) as opened:
        try:
            ended = []
            for each in _runs(opened, args.dag_id, asked):
                ended.append(each)
                for line in lines(each):
                    print(line)
            for each in ended:
                dag_runs.check(opened, each)
        except KeyboardInterrupt:
            if not opened.is_own:
                progress(
                    "interrupted; the backfill continues in Airflow: ./run_locally.sh status"
                )
            raise
    return 0


def asked_of(args: Namespace) -> dict[str, Any]:
    """Return the backfill as Airflow's API accepts it. Raises BadRequest for a time
    that is not valid."""
    return {
        "from_date": dag_runs.timestamp(args.start),
        "to_date": dag_runs.timestamp(args.end),
        "reprocess_behavior": args.reprocess,
        "max_active_runs": args.max_active_runs,
        "dag_run_conf": dag_runs.params(args.param, None),
    }


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"got {text!r}. Write a whole number, 1 or more")
    return int(text)


def _runs(session: Session, dag_id: str, asked: dict[str, Any]) -> Iterator[Ended]:
    """Create the backfill and yield each of its runs when it has ended, oldest first.

    Raises BadRequest for what Airflow refuses, and if no interval is left to run.
    """
    number = dag_runs.prepare(session, dag_id)
    dates = _create(session, dag_id, asked)
    progress(f"{dag_id}  backfill of {len(dates)} intervals  release {number}")
    for date in dates:
        run_id = _begun(session, dag_id, date)
        progress(f"{dag_id}  run {run_id}  release {number}")
        yield dag_runs.follow(session, dag_id, run_id)


def _create(session: Session, dag_id: str, asked: dict[str, Any]) -> list[str]:
    dates = _asked_for(session, dag_id, asked)
    if not dates:
        raise BadRequest(
            f"{dag_id}: no interval from {asked['from_date']} to {asked['to_date']} is left"
            " to run. Choose a later --to (a date alone is its midnight), or run"
            " intervals again with --reprocess failed or --reprocess completed."
        )
    return dates


def _asked_for(session: Session, dag_id: str, asked: dict[str, Any]) -> list[str]:
    """Retry while Airflow's database is busy: it is one file with one writer at a time."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return session.airflow.backfill(dag_id, asked)
        except ApiError as error:
            if error.status < 500:
                words = f"{dag_id}: Airflow refused the backfill: {error.detail}{_remedy(error)}"
                raise BadRequest(words) from error
            if error.status != BUSY or time.monotonic() > deadline:
                raise
        time.sleep(1)


def _remedy(error: ApiError) -> str:
    if "non-periodic" not in str(error.detail):
        return ""
    return (
        ". A backfill needs a schedule, whose intervals it runs: write one into the"
        ' _domain.yml of its domain, as in schedules: {incremental: "@daily"}.'
    )


def _begun(session: Session, dag_id: str, date: str) -> str:
    """Return the id of the run of a logical date, once Airflow has created it."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if run_id := session.airflow.runs_at(dag_id, [date]).get(date):
            return run_id
        time.sleep(1)
    raise RunFailed(
        f"{dag_id}: Airflow created no run of {date} within {START_SECONDS} s. See"
        " scheduler.log in the state directory's logs/, then start the backfill again."
    )
