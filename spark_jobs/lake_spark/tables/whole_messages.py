"""Texts of runs with values of a guarded table, next to the table.

The reports, logs and notifications of such a table have no value of a row. Who may read
the table finds the whole texts here, as long as a failure is of interest; an erase of keys
removes all of them, for each may name a key.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from lake_spec.state.report import Report
from lake_spark.tables.table_run import TableRun

KEPT = timedelta(days=30)
"""Age after which maintenance removes them."""


def uri_of(run: TableRun) -> str:
    """Return where the texts of the run are."""
    return f"{_folder(run)}{run.report.run}/{run.report.stage}.txt"


def put(run: TableRun, report: Report) -> None:
    """Put the texts that a report leaves out, and let it say where they are."""
    if not report.withheld:
        return
    uri = uri_of(run)
    try:
        run.store.write(uri, "\n\n".join(report.withheld).encode())
        report.whole_messages = uri
    except Exception as error:  # the report counts more; the lease may be lost
        run.say(f"{uri} was not put: {type(error).__name__}")


def remove(run: TableRun) -> None:
    """Remove the texts of all runs, with what a store keeps of older ones."""
    for each in run.store.list(_folder(run)):
        run.store.delete(each.uri)
    run.store.delete_old_versions(_folder(run))


def remove_old(run: TableRun) -> None:
    """Remove the texts that nobody has looked for in time."""
    before = datetime.now(timezone.utc) - KEPT
    for each in run.store.list(_folder(run)):
        if each.modified < before:
            run.store.delete(each.uri)


def _folder(run: TableRun) -> str:
    return f"{run.home}/messages/"
