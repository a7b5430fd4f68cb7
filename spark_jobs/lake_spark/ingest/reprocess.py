"""A reprocess: retract landing files from the change log and ingests them again.

Contract section 8. A feed's files are reprocessed by one log commit. Snapshots are
differences against the one before, so a reprocess retracts a snapshot and all after
it, and takes them again in their order; until the last of them is taken, current and
history stay as they were. Decision 012.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Dict, List, Optional, Sequence, Tuple

from lake_spec.model import FileTable, SnapshotTable
from lake_spec.text.globs import glob_pattern
from lake_spark.errors import BadFile, FilesNotFound
from lake_spark.formats.inference import all_globs
from lake_spark.ingest import change_files, full_refresh
from lake_spark.ingest.log_commit import commit_retractions
from lake_spark.ingest.snapshot_backlog import Backlog
from lake_spark.ingest.source_kind import kind_of
from lake_spark.ingest.unseen_files import dated_files, landing_of, warn_of_reading
from lake_spark.landing.files import LandingFile, first_shown
from lake_spark.landing.ingested_files import IngestedFile, IngestedFiles
from lake_spark.materialize.layers import build_current
from lake_spark.reading import quarantine
from lake_spark.snapshots import snapshot_completeness, source_snapshot
from lake_spark.snapshots.source_snapshot import group_snapshots
from lake_spark.tables.table_run import FileRun, SnapshotRun


@dataclass(frozen=True)
class Selection:
    """Which files a reprocess chooses, next to those of its window.

    `globs` are paths or globs below the landing folder; `quarantined` leaves only
    files with rows in the quarantine. Chosen files that are no longer in landing
    are refused, or retracted alone where `retract_missing` is set.
    """

    globs: Tuple[str, ...] = ()
    quarantined: bool = False
    retract_missing: bool = False


@dataclass(frozen=True)
class Candidate:
    """A file as it was ingested, as it lies in landing now, or both."""

    path: str
    ingested: Optional[IngestedFile]
    file: Optional[LandingFile]

    @property
    def snapshot_at(self) -> Optional[datetime]:
        """Return the time of its snapshot, if its source has snapshots."""
        if self.file:
            return self.file.snapshot_at
        at = self.ingested.snapshot_at if self.ingested else None
        return datetime.fromisoformat(at) if at else None

    @property
    def times(self) -> List[datetime]:
        """Return what a window is compared with: the snapshot's time, else its landings."""
        if self.snapshot_at:
            return [self.snapshot_at]
        then = (
            [datetime.fromisoformat(self.ingested.landed_at)] if self.ingested else []
        )
        return then + ([self.file.landed_at] if self.file else [])


def reprocess(run: FileRun, selection: Selection) -> None:
    """Retract the chosen files and ingest what lies there now."""
    ingested = run.ingested_files()
    found = candidates(run, ingested)
    chosen = with_dependent(run.spec, found, choose(run, selection, found))
    if not selection.retract_missing:
        _refuse_missing(run, [each.path for each in chosen if each.file is None])
    known = [each.ingested for each in chosen if each.ingested]
    files = [each.file for each in chosen if each.file]
    if run.dry_run:
        run.report.retracted = [each.path for each in known]
    if not chosen:
        return
    is_full_copy = kind_of(run.spec).is_full_copy
    again = [each.path for each in files] if is_full_copy else []
    ingested = ingested.without(known, again)
    warn_of_reading(run, ingested)
    if is_full_copy:
        _reprocess_snapshots(run, ingested)
    else:
        _reprocess_feed(run, files, ingested)


def candidates(run: FileRun, ingested: IngestedFiles) -> List[Candidate]:
    """List every file that was ingested or that lies in landing, in order.

    A snapshot newer than the last one taken waits for a run of its own.
    """
    landing = landing_of(run, all_globs(run.spec)).files
    landing = dated_files(run, landing)
    last = source_snapshot.last_taken(ingested)
    found: Dict[str, LandingFile] = {
        file.path: file
        for file in landing
        if file.snapshot_at is None or (last is not None and file.snapshot_at <= last)
    }
    known = {each.path: each for each in ingested.all}
    spec = run.spec
    if isinstance(spec, SnapshotTable) and snapshot_completeness.is_one_file(spec):
        found = _without_second(found, known)
    paths = [*known, *(path for path in found if path not in known)]
    return [Candidate(path, known.get(path), found.get(path)) for path in paths]


def _without_second(
    found: Dict[str, LandingFile], known: Dict[str, IngestedFile]
) -> Dict[str, LandingFile]:
    """Leave out files next to the one that is the snapshot of their time and scope."""
    first = {
        (file.snapshot_at, file.scopes) for path, file in found.items() if path in known
    }
    return {
        path: file
        for path, file in found.items()
        if path in known or (file.snapshot_at, file.scopes) not in first
    }


def choose(
    run: FileRun, selection: Selection, found: Sequence[Candidate]
) -> List[Candidate]:
    """Return the files that window, globs and quarantine have in common."""
    chosen = [each for each in found if any(map(run.window.holds, each.times))]
    if selection.globs:
        chosen = _matching(run, selection.globs, chosen)
    if selection.quarantined:
        bad = quarantine.paths_of(run)
        chosen = [each for each in chosen if each.path in bad]
    return chosen


def _matching(
    run: FileRun, globs: Sequence[str], found: Sequence[Candidate]
) -> List[Candidate]:
    """Return the files that a glob matches; refuse a glob that matches none.

    A file of exactly that path is chosen alone: its `*` or `?` is then no wildcard.
    """
    matching = set()
    for glob in globs:
        pattern = glob_pattern(glob)
        hits = {each.path for each in found if each.path == glob} or {
            each.path for each in found if pattern.fullmatch(each.path)
        }
        if not hits:
            raise FilesNotFound(
                f"files: {glob!r} matches none of the {len(found)} file(s) of "
                f"{run.spec.full_name} that can be reprocessed. Give paths or globs below "
                f"{run.landing}, and in `tables` the tables that have them."
            )
        matching |= hits
    return [each for each in found if each.path in matching]


def with_dependent(
    spec: FileTable, found: Sequence[Candidate], chosen: Sequence[Candidate]
) -> List[Candidate]:
    """Return the chosen files and those that cannot stay as they are without them.

    With a snapshot every later one: they are differences. With one file of a full
    refresh all of it: one of them carries the row that says what the refresh lacks.
    """
    if chosen and kind_of(spec).is_full_copy:
        times = {each.path: each.snapshot_at for each in found if each.snapshot_at}
        first = min(times[each.path] for each in chosen)
        return [each for each in found if times[each.path] >= first]
    starts = {each.path: _start_of_full_refresh(spec, each.path) for each in found}
    whole = {starts[each.path] for each in chosen} - {None}
    paths = {each.path for each in chosen}
    return [e for e in found if e.path in paths or starts[e.path] in whole]


def _start_of_full_refresh(spec: FileTable, path: str) -> Optional[str]:
    try:
        return full_refresh.start_of(spec, path)
    except BadFile:  # it will be set aside if it is ingested
        return None


def _refuse_missing(run: FileRun, paths: Sequence[str]) -> None:
    if paths:
        raise FilesNotFound(
            f"{first_shown(paths)}: no longer in landing, so it cannot be ingested "
            "again. Restore it, or set retract_missing to retract its rows for good."
        )


def _reprocess_feed(
    run: FileRun, files: Sequence[LandingFile], before: IngestedFiles
) -> None:
    """Reprocess all of a feed's chosen files by one log commit."""
    done = bool(files) and change_files.ingest_files(run, files, before)
    gone = before.sparing([each.path for each in files])
    if not done and gone.retracting and not run.dry_run:
        commit_retractions(run, gone)
        done = True
    if done:
        _end(run)


def _reprocess_snapshots(run: FileRun, before: IngestedFiles) -> None:
    if before.reprocess:
        _ingest_again(run.of_kind(SnapshotTable), before)
    elif not run.dry_run:
        commit_retractions(run, before)
        _end(run)


def finish(run: FileRun, *, retract_missing: bool = False) -> bool:
    """Bring a stopped reprocess to its end; return whether the tables may be built.

    Its files that are no longer in landing are refused, or only retracted.
    """
    quarantine.drop_old_takes(run)
    ingested = run.ingested_files()
    if not ingested.reprocess:
        return True
    there = {file.path for file in _landing_snapshots(run)[0]}
    if not retract_missing:
        _refuse_missing(run, [path for path in ingested.reprocess if path not in there])
    left = replace(
        ingested, reprocess=tuple(path for path in ingested.reprocess if path in there)
    )
    if left.reprocess:
        return _ingest_again(run.of_kind(SnapshotTable), left)
    if run.dry_run:
        return False
    commit_retractions(run, left)
    _end(run)
    return True


def _landing_snapshots(run: FileRun) -> Tuple[List[LandingFile], List[LandingFile]]:
    """Return the files in landing with their times, and the markers of complete snapshots."""
    landing = landing_of(run, all_globs(run.spec))
    return dated_files(run, landing.files), landing.markers


def _ingest_again(run: SnapshotRun, ingested: IngestedFiles) -> bool:
    """Ingest the snapshots of a reprocess, oldest first.

    Return whether all of them were ingested.

    A snapshot of several files is taken with all files of its time, new ones too.
    """
    first = len(run.report.files)
    landing, markers = _landing_snapshots(run)
    paths = [each.path for each in landing]
    times = {file.snapshot_at for file in landing if file.path in ingested.reprocess}
    has_several = not snapshot_completeness.is_one_file(run.spec)
    waiting = [
        file
        for file in landing
        if file.snapshot_at in times
        and (has_several or file.path in ingested.reprocess)
    ]
    found = group_snapshots(waiting, run.spec)
    found = snapshot_completeness.with_markers(run, found, markers, ingested)
    left = [each for each in found if each.files]  # not markers alone
    backlog = Backlog(run, paths, again=True)
    while left:
        taken = backlog.take(left, ingested)
        if not taken.may_others_follow:
            return False
        left = left[taken.count :]
        quarantine.drop_old_takes(run)
        ingested = run.ingested_files()
    _end(run, first)
    return True


def _end(run: FileRun, first: int = 0) -> None:
    """End the reprocess: the log is whole, so build current and settle the duplicates."""
    quarantine.drop_old_takes(run)
    run.report.settle_duplicates(build_current(run), first)
