"""Print the logs of a run: its Airflow tasks, then its EMR steps.

RUN_ID is the id that `run` and `status` print. It works during the run, after it, and
after `down`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.runs import logs
from lake_local.stack import session


def add_arguments(parser: ArgumentParser) -> None:
    """Add the run."""
    parser.add_argument("run_id", metavar="RUN_ID")


def run(args: Namespace) -> int:
    """Print the logs of every run with this id."""
    home, specs = home_of(args), specs_of_args(args)
    found = logs.runs_named(home, args.run_id)
    with session.observed(home, specs, who=f"logs {args.run_id}") as opened:
        for dag_id, run_id in found:
            print(f"= {dag_id} {run_id}")
            for line in logs.task_lines(home, dag_id, run_id):
                print(line)
            for line in logs.step_lines(opened, dag_id, run_id):
                print(line)
    return 0
