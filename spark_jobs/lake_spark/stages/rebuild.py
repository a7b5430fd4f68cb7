"""rebuild: current and history again from the change log.

Each is replaced by one commit, so readers see the old rows until the new ones
are whole.
"""

from __future__ import annotations

from lake_spec.model import FileTable
from lake_spark.materialize.layers import build_current, build_history
from lake_spark.publish.publication import publish
from lake_spark.tables import catalog
from lake_spark.tables.table_run import TableRun


def rebuild(run: TableRun) -> None:
    """Fold every event of the log again, with the settings of today."""
    if not run.dry_run:
        of_files = run.of_kind(FileTable)
        build_current(of_files, rebuild=True)
        build_history(of_files, rebuild=True)
        catalog.register(run)
        publish(run, ("current", "history"))
