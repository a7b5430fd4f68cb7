"""scd2: history, brought up to the change log."""

from __future__ import annotations

from lake_spec.contract.report import State
from lake_spark.build.materialize import build_history
from lake_spark.tables import catalog
from lake_spark.tables.table_run import TableRun


def scd2(run: TableRun) -> None:
    """Open, close, change and remove version rows by one commit."""
    if run.dry_run:
        run.report.state = State.DRY_RUN.value
        return
    if build_history(run):
        run.report.state = State.DONE.value
    catalog.register(run)
