"""Landing files that a table pulls itself, before its stage looks for files."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Callable, Dict

from lake_spec.model import Engine, Feed, FeedTable, JdbcChanges, KafkaTopic, Snapshot
from lake_spark.sources import jdbc_incremental, jdbc_reader, kafka
from lake_spark.tables.table_run import FileRun

FULL_LOAD, INCREMENTAL = "full_load", "incremental"


def land_pulled(run: FileRun, kind: str) -> None:
    """Land what a full load or an incremental run of the table pulls, if anything.

    A dry run pulls nothing, nor does one whose window the files would not be in.
    """
    if not _is_due(run):
        return
    if not run.window.holds(datetime.now(timezone.utc)):
        run.say("nothing to pull: files landed now are outside of the run's window")
        return
    _KINDS[kind](run)


def _is_due(run: FileRun) -> bool:
    """Return whether the stage pulls: only the one that reads landing files first does."""
    prepares = run.report.stage.startswith("prepare_")
    return not run.dry_run and prepares == (run.spec.engine is Engine.STREAMER)


def _full_load(run: FileRun) -> None:
    source = run.spec.source
    if isinstance(source, Feed) and source.load_from:
        jdbc_reader.pull_load(run, source.load_from)
    if isinstance(source, Snapshot) and source.pulled_from:
        jdbc_reader.pull_first_snapshot(run, source.pulled_from)


def _incremental(run: FileRun) -> None:
    source = run.spec.source
    if isinstance(source, Snapshot) and source.pulled_from:
        jdbc_reader.pull_snapshot(run, source.pulled_from)
    changes = run.spec.changes_from
    if isinstance(changes, JdbcChanges):
        jdbc_incremental.pull_changes(run, changes)
    if isinstance(changes, KafkaTopic):
        kafka.pull_topic(run.of_kind(FeedTable), changes)


_KINDS: Dict[str, Callable[[FileRun], None]] = {
    FULL_LOAD: _full_load,
    INCREMENTAL: _incremental,
}
