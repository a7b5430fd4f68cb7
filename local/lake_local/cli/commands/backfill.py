"""Run a DAG for past intervals of its schedule, oldest first, as Airflow's backfill.

Exit code 0 if all runs succeeded, 1 with the failing tables and their causes.
Example: ./run_locally.sh backfill moma_incremental --from 2016-03-01 --to 2016-05-31
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import Any

from lake_local.cli import backfills
from lake_local.cli.commands.run import lines
from lake_local.cli.commands.scope import add_dag, home_of, specs_of_args
from lake_local.runs import dag_runs
from lake_local.stack import session
from lake_local.text import tell

NAME = "backfill"
HELP = "run a DAG for past intervals of its schedule"


def add_arguments(parser: ArgumentParser) -> None:
    """The DAG, the intervals and the params of every run."""
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
        choices=backfills.REPROCESS,
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
    """Create, follow, print each run's summary; RunFailed for the first red one."""
    asked = asked_of(args)
    home, specs = home_of(args), specs_of_args(args)
    with session.opened(
        home, specs, who=f"backfill {args.dag_id}", airflow=True, keep=args.keep_up
    ) as opened:
        try:
            ended = []
            for each in backfills.run(opened, args.dag_id, asked):
                ended.append(each)
                for line in lines(each):
                    print(line)
            for each in ended:
                dag_runs.check(opened, each)
        except KeyboardInterrupt:
            if not opened.is_own:
                tell("the backfill goes on in what is up; see ./run_locally.sh status")
            raise
    return 0


def asked_of(args: Namespace) -> dict[str, Any]:
    """The backfill as Airflow's API takes it; BadRequest for a time that is none."""
    return {
        "from_date": dag_runs.moment(args.start),
        "to_date": dag_runs.moment(args.end),
        "reprocess_behavior": args.reprocess,
        "max_active_runs": args.max_active_runs,
        "dag_run_conf": dag_runs.params(args.param, None),
    }


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r}: it takes a whole number, 1 or more")
    return int(text)
