"""A feed's files into the change log: every good row is a delivery."""

from __future__ import annotations

from typing import Sequence

from lake_spark.ingest import (
    batches,
    enrichment,
    full_refresh,
    moved_keys,
    quarantine,
)
from lake_spark.landing.files import LandingFile
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.tables.table_run import TableRun


def ingest_files(
    run: TableRun, files: Sequence[LandingFile], ingested: IngestedFiles
) -> bool:
    """Ingest the files by one commit; return whether one was made."""
    batch = batches.shaped(run, files, ingested)
    rows = batches.read_rows(run, batch)
    if rows is None:
        return False
    try:
        batches.judge(run, batch, rows, f"{len(batch.inputs)} file(s)")
        if run.dry_run:
            run.report.add_files(batch.files)
            return False
        if rows.counted.bad:
            quarantine.keep(run, rows.numbered)
        good = quarantine.good_rows(rows.numbered)
        good = enrichment.enriched(run, good, batch.columns)
        if rows.counted.moved:
            good = moved_keys.as_events(run.spec, good, batch.columns)
        batches.commit(
            run, batch, full_refresh.with_markers(run, good, batch.inputs), ingested
        )
    finally:
        rows.release()
    run.report.add_files(batch.files)
    return True
