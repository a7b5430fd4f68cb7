"""A feed's files into the change log: every good row is a delivery."""

from __future__ import annotations

from typing import Callable, Sequence

from pyspark.sql import DataFrame

from lake_spark.ingest import full_refresh
from lake_spark.ingest.batch import Batch, batch_of
from lake_spark.ingest.batch_accounting import judge_batch
from lake_spark.ingest.batch_rows import read_rows
from lake_spark.ingest.log_commit import commit_events
from lake_spark.landing.files import LandingFile
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.reading import enrichment, moved_keys, quarantine
from lake_spark.tables.table_run import FileRun

Take = Callable[[FileRun, Batch, DataFrame, IngestedFiles], None]
"""Takes files, all of whose rows were judged, and the events of their good rows."""


def ingest_files(
    run: FileRun, files: Sequence[LandingFile], ingested: IngestedFiles
) -> bool:
    """Ingest the files by one commit; return whether one was made."""
    return take_events(run, files, ingested, commit_events)


def take_events(
    run: FileRun, files: Sequence[LandingFile], ingested: IngestedFiles, take: Take
) -> bool:
    """Judge the files, keep their bad rows, let `take` have the events of the others.

    Return whether it had any: not in a dry run, nor where each file was set aside.
    """
    batch = batch_of(run, files, ingested)
    rows = read_rows(run, batch)
    if rows is None:
        return False
    try:
        judge_batch(run, batch, rows, f"{len(batch.inputs)} file(s)")
        if not run.dry_run:
            if rows.counted.bad:
                quarantine.keep(run, rows.numbered)
            good = quarantine.good_rows(rows.numbered)
            good = enrichment.enriched(run, good, batch.columns)
            if rows.counted.moved:
                good = moved_keys.as_events(run.spec, good, batch.columns)
            events = full_refresh.with_markers(run, good, batch.inputs)
            take(run, batch, events, ingested)
    finally:
        rows.release()
    run.report.add_files(batch.files)
    return not run.dry_run
