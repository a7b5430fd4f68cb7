"""prepare_full_load and prepare_incremental: what a streamer step will read."""

from __future__ import annotations

from typing import Sequence

from lake_spark.formats.inference import load_globs
from lake_spark.ingest import hoodie_streamer, reprocess
from lake_spark.ingest.unseen_files import unseen_files
from lake_spark.sources.pull import FULL_LOAD, INCREMENTAL, land_pulled
from lake_spark.tables.table_run import TableRun


def prepare_full_load(run: TableRun) -> None:
    """Name the unseen load files."""
    land_pulled(run, FULL_LOAD)
    _prepare(run, load_globs(run.spec))


def prepare_incremental(run: TableRun) -> None:
    """Name the unseen change files."""
    land_pulled(run, INCREMENTAL)
    _prepare(run, [run.spec.feed.changes])


def _prepare(run: TableRun, globs: Sequence[str]) -> None:
    reprocess.finish(run)
    ingested = run.ingested_files()
    files = unseen_files(run, ingested, globs)
    if files:
        hoodie_streamer.prepare(run, files, ingested)
