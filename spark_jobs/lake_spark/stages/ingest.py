"""full_load and incremental: landing files into the change log, then current."""

from __future__ import annotations

from typing import List, Optional, Sequence, Set, Tuple

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import Engine, FeedTable, FileTable, SnapshotTable
from lake_spark.checks import table_checks
from lake_spark.errors import FailedChecks
from lake_spark.formats.inference import load_globs
from lake_spark.ingest import change_files, hoodie_streamer, reprocess
from lake_spark.ingest.snapshot_backlog import Backlog
from lake_spark.ingest.unseen_files import landing_of, unseen_files, unseen_of
from lake_spark.landing.files import LandingFile, shown
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.materialize.layers import build_current
from lake_spark.profiling.profile import profile_loaded
from lake_spark.publish.publication import publish
from lake_spark.snapshots import snapshot_completeness
from lake_spark.snapshots.source_snapshot import SourceSnapshot, group_snapshots
from lake_spark.sources.jdbc_landed import lands_in_load
from lake_spark.sources.pull import FULL_LOAD, INCREMENTAL, land_pulled
from lake_spark.stages import overdue
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.timeline import time_of
from lake_spark.tables import catalog
from lake_spark.tables.table_run import FeedRun, FileRun, SnapshotRun, TableRun


def full_load(run: TableRun) -> None:
    """Ingest the first copy of a table: a feed's load files, or the first snapshot."""
    of_files = run.of_kind(FileTable)
    land_pulled(of_files, FULL_LOAD)
    if not reprocess.finish(of_files):
        return end(of_files)
    is_built = catch_up(of_files)
    if isinstance(run.spec, FeedTable):
        _feed(run.of_kind(FeedTable), load_globs(run.spec))
    elif not run.ingested_files().count:
        _snapshots(run.of_kind(SnapshotTable), first_only=True)
    if not is_built:
        build_current(of_files)
    end(of_files)
    profile_loaded(run)


def incremental(run: TableRun) -> None:
    """Ingest what is new: a feed's change files, or every snapshot not ingested yet."""
    of_files = run.of_kind(FileTable)
    land_pulled(of_files, INCREMENTAL)
    if not reprocess.finish(of_files):
        return end(of_files)
    is_built = catch_up(of_files)
    if isinstance(run.spec, FeedTable):
        _feed(run.of_kind(FeedTable), _globs_of_changes(run.spec))
    else:
        _snapshots(run.of_kind(SnapshotTable))
    if not is_built:
        build_current(of_files)
    end(of_files)


def _globs_of_changes(spec: FeedTable) -> List[str]:
    """Return what an incremental run ingests: rows of a load that a pull by a cursor
    read again, for they have a column more, belong to the load."""
    again = lands_in_load(spec)
    source = spec.source
    return [source.load, source.changes] if again else [source.changes]


def catch_up(run: FileRun) -> bool:
    """Bring current up to what earlier runs left in the log; return whether it is.

    What checks of the table stopped stays there: what this run ingests may correct it,
    and current is then built of both.
    """
    unresolved = run.report.unresolved
    try:
        build_current(run)
    except FailedChecks as failed:
        run.report.unresolved = unresolved  # counted again by the next build
        run.say(f"{failed} What this run ingests may correct it.")
        return False
    return True


def _feed(run: FeedRun, globs: Sequence[str]) -> None:
    if run.spec.engine is Engine.STREAMER:
        done = hoodie_streamer.account(run)
    else:
        ingested = run.ingested_files()
        files = unseen_files(run, ingested, globs)
        done = bool(files) and change_files.ingest_files(run, files, ingested)
    if done:
        run.report.settle_duplicates(build_current(run))


def _snapshots(run: SnapshotRun, *, first_only: bool = False) -> None:
    """Ingest the oldest first: together, or each as if by a run of its own.

    A late one is passed over; one that can still be taken, or is not complete, holds
    back the rest, other scope values apart.
    """
    ingested = run.ingested_files()
    waiting, paths = _waiting(run, ingested)
    if first_only:
        waiting = [each for each in waiting if each.at == waiting[0].at]
    backlog = Backlog(run, paths)
    held: Set[Tuple[Optional[str], ...]] = set()
    while waiting:
        taken = backlog.take(waiting, ingested)
        if not taken.may_others_follow:
            held.add(waiting[0].scopes)
        waiting = [each for each in waiting[taken.count :] if each.scopes not in held]
        build_current(run)
        ingested = run.ingested_files()


def _waiting(
    run: SnapshotRun, ingested: IngestedFiles
) -> Tuple[List[SourceSnapshot], List[str]]:
    """Return the snapshots never ingested, and the paths of all files in landing."""
    landing = landing_of(run, [run.spec.source.files])
    markers, files = landing.markers, unseen_of(run, ingested, landing)
    if files and markers:
        # What landed while the list was made, with its marker, is in a second one.
        again = landing_of(run, [run.spec.source.files])
        if again.files != landing.files:
            landing, files = again, unseen_of(run, ingested, again)
    paths = [each.path for each in landing.files]
    found = group_snapshots(_without_copies(run, files, ingested), run.spec)
    return snapshot_completeness.with_markers(run, found, markers, ingested), paths


def _without_copies(
    run: SnapshotRun, files: Sequence[LandingFile], ingested: IngestedFiles
) -> List[LandingFile]:
    """Leave out files with the content of one that is ingested, of the same time."""
    if not files:
        return []
    by_path = run.spec.scope is not None and run.spec.scope.pattern is not None
    known = {
        (each.snapshot_at, each.etag, tuple(each.scopes) if by_path else ()): each.path
        for each in ingested.all
    }
    found = []
    for file in files:
        at = file.snapshot_at.isoformat() if file.snapshot_at else None
        first = known.get((at, file.etag, file.scopes))
        if first is None:
            found.append(file)
        else:
            run.report.warn(
                WarningId.REPEATED_FILE,
                f"{shown(file.path)} has the content of {shown(first)}, which is ingested "
                "for the same time: it changes nothing. Move it out of landing.",
            )
    return found


def end(run: FileRun) -> None:
    """End an ingesting stage; rows unaccounted for fail it."""
    unbalanced = [each.path for each in run.report.files if not each.is_balanced]
    if unbalanced:
        raise AssertionError(f"rows are unaccounted for in {', '.join(unbalanced)}")
    _report_freshness(run)
    overdue.warn(run)
    if not run.dry_run:
        catalog.register(run)
        publish(run, ("changes", "current"))
        table_checks.settle(run, "changes")
        table_checks.without_commit(run, "current")


def _report_freshness(run: FileRun) -> None:
    """Report how far current is behind: by events, by their landing, by its own commit."""
    ingested = run.ingested_files()
    run.report.newest_input = ingested.newest
    run.report.newest_event = ingested.newest_event
    built = run.current.last_instant(CommitValue.LOG_INSTANT)
    if built:
        run.report.current_built = time_of(built).isoformat()
