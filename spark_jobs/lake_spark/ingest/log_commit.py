"""One commit of the change log: its events, and which files are ingested by it."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lake_spec.hudi.options import Operation
from lake_spark.changelog.retractions import retract_rows
from lake_spark.changelog.schema import log_columns, LogColumn, UPSERT
from lake_spark.checks import table_checks
from lake_spark.checks.checked_rows import CheckedRows
from lake_spark.ingest import same_content
from lake_spark.ingest.batch import Batch
from lake_spark.landing.ingested_files import IngestedFiles, LogContents
from lake_spark.reading.row_expressions import narrow_paths
from lake_spark.storage.commit_values import CommitValue
from lake_spark.tables import recorded_reading, recorded_settings
from lake_spark.tables.table_run import FileRun, table_columns


def commit_events(
    run: FileRun, batch: Batch, events: DataFrame, ingested: IngestedFiles
) -> None:
    """Make one log commit: the events, which files they are from, which it retracts.

    A file that was set aside keeps the deliveries that it has.
    """
    ingested = ingested.sparing([each["path"] for each in run.report.set_aside])
    added = CheckedRows(lambda: events.where(F.col(LogColumn.OP) == UPSERT))
    checked = table_checks.before_commit(run, "changes", added)
    id = run.ingested_files_folder.save(inputs_of(run, batch, ingested))
    metadata = {**run.commit_metadata(), **checked, CommitValue.INPUTS: id}
    ours = events.select(*log_columns(batch.columns))
    if ingested.retracting:
        void = retract_rows(run.spark, ingested.retracting)
        ours = ours.unionByName(void, allowMissingColumns=True)
        run.report.retracted += [each.path for each in ingested.retracting]
    instant = run.log.write(ours, Operation.BULK_INSERT, metadata)
    run.report.commits["changes"] = instant
    table_checks.settle(run, "changes")
    run.say(f"change log commit {instant}")


def inputs_of(run: FileRun, batch: Batch, ingested: IngestedFiles) -> IngestedFiles:
    """Return what the commit of this batch will have ingested."""
    accounting = {each.path: each.__dict__ for each in batch.files}
    files = [each.file for each in batch.inputs]
    reading = recorded_reading.record(run.spec, ingested)
    settings = {**recorded_settings.of_log(run.spec), **reading}
    narrow = frozenset(
        path
        for each in batch.inputs
        for path in narrow_paths(run.spec, each.shape, batch.columns)
    )
    contents = batch.contents | LogContents(float_paths=narrow)
    known = same_content.checksums(run.store, files)
    newest = batch.newest_event
    return ingested.next(files, accounting, settings, contents, newest, known)


def commit_retractions(run: FileRun, ingested: IngestedFiles) -> None:
    """Make one log commit that ingests nothing: files that are gone are void."""
    columns = table_columns(run.spec, run.log)
    columns = [each for each in columns if each[0] in run.log.read().columns]
    commit_events(run, Batch([], columns), run.log.read().limit(0), ingested)
