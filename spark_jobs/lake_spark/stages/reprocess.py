"""reprocess: chosen landing files are retracted and ingested again, then current."""

from __future__ import annotations

from lake_spec.model import FileTable
from lake_spark.ingest import reprocess as reprocesses
from lake_spark.ingest.reprocess import Selection
from lake_spark.materialize.layers import build_current
from lake_spark.stages.ingest import catch_up, end
from lake_spark.tables.table_run import TableRun


def reprocess(run: TableRun, selection: Selection = Selection()) -> None:
    """Make the tables what they were, had the chosen files always been as now."""
    of_files = run.of_kind(FileTable)
    if reprocesses.finish(of_files, retract_missing=selection.retract_missing):
        is_built = catch_up(of_files)
        reprocesses.reprocess(of_files, selection)
        if not is_built:
            build_current(of_files)
    end(of_files)
