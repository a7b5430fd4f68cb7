"""prepare_full_load and prepare_incremental: what a streamer step will read."""

from __future__ import annotations

from typing import Sequence

from lake_spec.model import FeedTable
from lake_spark.formats.inference import load_globs
from lake_spark.ingest import hoodie_streamer, reprocess
from lake_spark.ingest.unseen_files import unseen_files
from lake_spark.sources.pull import FULL_LOAD, INCREMENTAL, land_pulled
from lake_spark.tables.table_run import FeedRun, TableRun


def prepare_full_load(run: TableRun) -> None:
    """Name the unseen load files."""
    of_feed = run.of_kind(FeedTable)
    land_pulled(of_feed, FULL_LOAD)
    _prepare(of_feed, load_globs(of_feed.spec))


def prepare_incremental(run: TableRun) -> None:
    """Name the unseen change files."""
    of_feed = run.of_kind(FeedTable)
    land_pulled(of_feed, INCREMENTAL)
    _prepare(of_feed, [of_feed.spec.source.changes])


def _prepare(run: FeedRun, globs: Sequence[str]) -> None:
    reprocess.finish(run)
    ingested = run.ingested_files()
    files = unseen_files(run, ingested, globs)
    if files:
        hoodie_streamer.prepare(run, files, ingested)
