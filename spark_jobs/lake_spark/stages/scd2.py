"""scd2: history, brought up to the change log."""

from __future__ import annotations

from lake_spec.model import FileTable
from lake_spark.checks import table_checks
from lake_spark.materialize.layers import build_history
from lake_spark.publish.publication import publish
from lake_spark.tables import catalog
from lake_spark.tables.table_run import TableRun


def scd2(run: TableRun) -> None:
    """Open, close, change and remove version rows by one commit."""
    if not run.dry_run:
        build_history(run.of_kind(FileTable))
        catalog.register(run)
        publish(run, ("history",))
        table_checks.without_commit(run, "history")
