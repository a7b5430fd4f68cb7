"""Run a DAG with Airflow's scheduler and print its progress until it ends.

Exit code 0 if the run succeeded, 1 with the failed tables and their causes.
Example: ./run_locally.sh run moma_incremental --param tables=artists
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Iterator

from lake_local import text
from lake_local.cli.commands.scope import add_dag, home_of, specs_of_args
from lake_local.runs import asked_run, dag_runs
from lake_local.runs.dag_runs import Ended
from lake_local.stack import session

_COLUMNS = {
    "table": "table",
    "stage": "stage",
    "state": "state",
    "rows in": "rows_in",
    "accepted": "accepted",
    "quarantined": "quarantined",
    "current": "current_rows",
    "versions": "versions",
    "open": "versions_open",
    "seconds": "seconds",
}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the DAG and its params."""
    add_dag(parser, params="a param of the DAG: tables=artists,works or dry_run=true")
    parser.add_argument(
        "--window",
        nargs=2,
        metavar=("A", "B"),
        help="only landing files that landed from A up to, not including, B (UTC)",
    )


def run(args: Namespace) -> int:
    """Trigger the run, follow it, print its summary. Raises RunFailed if it failed."""
    conf = dag_runs.params(args.param, args.window)
    home, specs = home_of(args), specs_of_args(args)
    asked_run.check(specs, args.dag_id, conf)
    with session.opened(
        home, specs, who=f"run {args.dag_id}", airflow=True, keep=args.keep_up
    ) as opened:
        try:
            ended = dag_runs.run(opened, args.dag_id, conf)
            for line in lines(ended):
                print(line)
            dag_runs.check(opened, ended)
        except KeyboardInterrupt:
            if not opened.is_own:
                text.progress(
                    "interrupted; the run continues in Airflow: ./run_locally.sh status"
                )
            raise
    return 0


def lines(ended: Ended) -> Iterator[str]:
    """Format a run's summary: what each stage did to each table."""
    rows = [[each.get(key) for key in _COLUMNS.values()] for each in ended.reports()]
    if rows:
        yield from text.table(tuple(_COLUMNS), rows)
    for warning in (ended.summary or {}).get("warnings", ()):
        yield f"WARNING {warning}"
    yield f"{ended.dag_id} {ended.state} in {text.elapsed(ended.seconds)}"
