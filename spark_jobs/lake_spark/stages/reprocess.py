"""redo: chosen landing files are withdrawn and taken in anew, then current."""

from __future__ import annotations

from lake_spark.build.materialize import build_current
from lake_spark.ingest import reprocess as redos
from lake_spark.ingest.reprocess import Selection
from lake_spark.stages.ingest import end
from lake_spark.tables.table_run import TableRun


def redo(run: TableRun, selection: Selection = Selection()) -> None:
    """Make the tables what they were, had the chosen files always been as now."""
    if redos.finish(run, withdraw_missing=selection.withdraw_missing):
        build_current(run)
        redos.redo(run, selection)
    end(run)
