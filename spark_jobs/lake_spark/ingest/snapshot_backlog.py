"""Snapshots that wait, oldest first: together by one commit of the log, or by themselves.

The batch ends before the first snapshot that a check stops (late, incomplete, bad,
empty, too many losses) or that brings a column. That one is left to
`snapshot_files.ingest_snapshot`, which refuses or ingests it by itself. Decision 050.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from operator import or_
from typing import Dict, FrozenSet, List, Optional, Sequence, Set

from pyspark.sql import Row
from pyspark.sql import functions as F

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import TableSpec
from lake_spark.changelog.schema import LogColumn
from lake_spark.errors import BadFile, LateSnapshot, RefusedInput
from lake_spark.formats.inference import source_name
from lake_spark.formats.placeholders import placeholder_texts
from lake_spark.ingest import batches, snapshot_outcomes, snapshot_files
from lake_spark.ingest.batches import Batch, Look, Rows
from lake_spark.ingest.snapshot_outcomes import Outcomes
from lake_spark.landing.files import LandingFile, moved_on
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.reading import quarantine, row_expressions
from lake_spark.reading.reader import Input
from lake_spark.schema.columns import Columns
from lake_spark.snapshots import snapshot_completeness, source_snapshot
from lake_spark.snapshots.source_snapshot import SourceSnapshot
from lake_spark.tables.table_run import TableRun

MOST_SNAPSHOTS = 1_000
"""So many are ingested by one commit."""

MOST_BYTES = 256 * 1024 * 1024
"""Of landing files that are read at once, if there is more than one snapshot of them."""


@dataclass(frozen=True)
class Taken:
    """So many of the first snapshots need not be looked at again in this run."""

    count: int
    may_others_follow: bool = True
    """Whether those behind them are not held back, as by one that can still be taken."""


class Backlog:
    """The snapshots that wait for a table, in one run."""

    def __init__(
        self, run: TableRun, landing: Sequence[str], *, again: bool = False
    ) -> None:
        """`landing` are the paths of all files that the table's glob matches.

        In a reprocess they are ingested `again`: one that cannot be ends the run red.
        """
        self._run = run
        self._landing = landing
        self._again = again
        self._most = MOST_SNAPSHOTS

    def take(self, waiting: Sequence[SourceSnapshot], ingested: IngestedFiles) -> Taken:
        """Ingest the first of the snapshots by one commit, or refuse the first by name."""
        together = self._take_together(waiting, ingested)
        if together:
            return Taken(together)
        return Taken(1, self._take_first(waiting, ingested))

    def _take_first(
        self, waiting: Sequence[SourceSnapshot], ingested: IngestedFiles
    ) -> bool:
        """Ingest the first by itself; return whether those behind it may follow."""
        run, snapshot = self._run, waiting[0]
        try:
            missing = self._what_is_missing(snapshot, ingested)
            if missing is None:
                return snapshot_files.ingest_snapshot(run, snapshot, ingested)
            self._tell_of_missing(waiting, missing)
        except LateSnapshot as late:
            snapshot_files.set_aside(run, snapshot, type(late).__name__, str(late))
            return not self._again
        except RefusedInput as refused:
            snapshot_files.refuse(run, snapshot, refused)
        except BadFile as bad:
            batches.set_aside(run, bad)
        return False

    def _tell_of_missing(self, waiting: Sequence[SourceSnapshot], missing: str) -> None:
        """Report that the first is not complete: it was, if it is ingested again."""
        snapshot, id = waiting[0], WarningId.INCOMPLETE_SNAPSHOT
        if self._again:
            words = snapshot_completeness.waits(snapshot, missing, ())
            snapshot_files.set_aside(self._run, snapshot, id.value, words)
            return
        behind = [each for each in waiting[1:] if each.scopes == snapshot.scopes]
        words = snapshot_completeness.waits(snapshot, missing, behind)
        self._run.report.warn(id, words)

    def _take_together(
        self, waiting: Sequence[SourceSnapshot], ingested: IngestedFiles
    ) -> int:
        """Ingest the first of the snapshots by one commit; return how many were.

        That is 0 where the first must be ingested by itself, or is the only one.
        """
        if self._run.dry_run or self._run.accepted.empty_scopes:
            return 0
        if self._most < 2:  # the last attempt was in vain
            self._most = min(2, MOST_SNAPSHOTS)
            return 0
        found = self._leading(waiting[: self._most], ingested)
        if len(found) < 2:
            return 0
        taken = _take(self._run, found, ingested)
        # What is read in vain is at most as much as what is not.
        self._most = min(2 * taken or len(found) // 2, MOST_SNAPSHOTS)
        return taken

    def _leading(
        self, waiting: Sequence[SourceSnapshot], ingested: IngestedFiles
    ) -> List[Batch]:
        """Return the first snapshots whose files have the columns of the table."""
        run = self._run
        first = ingested.oldest_snapshot
        ready: List[SourceSnapshot] = []
        size = 0
        for snapshot in waiting:
            size += sum(each.size for each in snapshot.files)
            if size > MOST_BYTES or first is None or snapshot.at <= first:
                break
            if not self._is_complete(snapshot, ingested):
                break
            ready.append(snapshot)
        columns = batches.known_columns(run)
        files = [file for snapshot in ready for file in snapshot.files]
        inputs = {
            file.path: _input(run, file, look, columns, ingested)
            for file, look in batches.looked_into(run, files)
        }
        found: List[Batch] = []
        unsent: Set[FrozenSet[str]] = set()
        for snapshot in ready:
            mine = [inputs[each.path] for each in snapshot.files]
            good = [each for each in mine if each is not None]
            unsent.update(_unsent(run.spec, each) for each in good)
            if len(good) < len(mine) or len(unsent) > 1:
                self._most = 2 * len(found)
                break
            found.append(Batch(good, columns, snapshot))
        return found

    def _is_complete(self, snapshot: SourceSnapshot, ingested: IngestedFiles) -> bool:
        """Return whether a snapshot is not late, and waits for nothing."""
        try:
            return self._what_is_missing(snapshot, ingested) is None
        except (RefusedInput, BadFile):
            return False

    def _what_is_missing(
        self, snapshot: SourceSnapshot, ingested: IngestedFiles
    ) -> Optional[str]:
        """Return what a snapshot waits for; raise LateSnapshot where it comes too late."""
        run = self._run
        source_snapshot.refuse_late(snapshot, ingested, run.spec)
        return snapshot_completeness.what_is_missing(
            run, snapshot, self._landing, ingested
        )


def _input(
    run: TableRun,
    file: LandingFile,
    look: Look,
    columns: Columns,
    ingested: IngestedFiles,
) -> Optional[Input]:
    """Return a file with its shape; None if it is bad, or changes the columns."""
    try:
        found, grown = batches.input_of(run, file, look, columns, ingested)
    except BadFile:
        return None
    return found if grown == columns else None


def _unsent(spec: TableSpec, each: Input) -> FrozenSet[str]:
    """Return the dropped columns that a file lacks: its rows say nothing of them."""
    return frozenset(
        name
        for name, _ in spec.columns
        if row_expressions.is_dropped(spec, name)
        and source_name(spec, name, each.shape) is None
    )


def _take(run: TableRun, found: Sequence[Batch], ingested: IngestedFiles) -> int:
    """Ingest those before the first that must go by itself; return how many."""
    batch = _joined(found)
    rows, bad = batches.read_together(run, batch)
    if rows is None and bad:  # broken CSV: those before are read again without it
        found = _before(found, bad)
        if len(found) < 2:
            return 0
        batch = _joined(found)
        rows, bad = batches.read_together(run, batch)
    if rows is None:
        return 0
    try:
        found = _judged(run, found, rows, bad, ingested)
        return _take_rows(run, found, rows, ingested) if found else 0
    finally:
        rows.release()


def _joined(found: Sequence[Batch]) -> Batch:
    """Return one batch of the files of all."""
    return Batch([each for batch in found for each in batch.inputs], found[0].columns)


def _before(found: Sequence[Batch], bad: Set[str]) -> List[Batch]:
    """Return the snapshots before the first that has one of these files."""
    for place, each in enumerate(found):
        if bad.intersection(each.paths):
            return list(found[:place])
    return list(found)


def _judged(
    run: TableRun,
    found: Sequence[Batch],
    rows: Rows,
    bad: Set[str],
    ingested: IngestedFiles,
) -> List[Batch]:
    """Return the first snapshots that no check of their files and rows refuses."""
    files = [each.file for batch in found for each in batch.inputs]
    bad = bad | set(moved_on(run.store, files))
    scopes: Dict[str, List[Row]] = {}
    for row in snapshot_files.scopes_of_rows(run.spec, rows) if run.spec.scope else ():
        scopes.setdefault(row.lake_path, []).append(row)
    good: List[Batch] = []
    for each in _before(found, bad):
        counted = rows.counted.of(each.paths)
        if quarantine.is_refused(run, counted) or (
            placeholder_texts(run.spec) and counted.contents.has_unsent_values
        ):
            break
        values = [row for path in each.paths for row in scopes.get(path, ())]
        if run.spec.scope and not _covers(run, each, values, ingested):
            break
        each.files = batches.file_reports(each, counted)
        good.append(each)
    return good


def _covers(
    run: TableRun, batch: Batch, values: Sequence[Row], ingested: IngestedFiles
) -> bool:
    """Return whether it is known what the snapshot covers, and that it is not late."""
    if batch.snapshot.scopes:
        return {row.scope for row in values} <= set(batch.snapshot.scopes)
    try:
        snapshot_files.cover(run, batch, values)
        source_snapshot.refuse_late(batch.snapshot, ingested, run.spec)
    except RefusedInput:
        return False
    return True


def _take_rows(
    run: TableRun, found: Sequence[Batch], rows: Rows, ingested: IngestedFiles
) -> int:
    with snapshot_outcomes.outcomes(run, found, rows, ingested) as compared:
        done = _not_refused(compared)
        if done:
            _commit(run, done, rows, compared, ingested)
        return done


def _not_refused(compared: Outcomes) -> int:
    """Return how many come before the first that is empty or loses too many keys."""
    for place in range(len(compared.found)):
        try:
            compared.refuse(place)
        except RefusedInput:
            return place
    return len(compared.found)


def _commit(
    run: TableRun, done: int, rows: Rows, compared: Outcomes, ingested: IngestedFiles
) -> None:
    """Commit so many, and report of each snapshot what would be if it were alone."""
    found = compared.found[:done]
    paths = [path for each in found for path in each.paths]
    has_bad = bool(rows.counted.bad)
    bad = quarantine.examples_of_files(run.spec, rows.numbered) if has_bad else {}
    for place, each in enumerate(found):
        mine = each.paths
        examples = [row for path in mine for row in bad.get(path, ())]
        batches.warn_of_names(run, each.inputs)
        words = f"snapshot {each.snapshot.name}"
        counted = rows.counted.of(mine)
        batches.account(run, each, counted, partial(list, examples), words)
        compared.settle(place)
    batch = _joined(found)
    batch.files = [report for each in found for report in each.files]
    batch.contents = reduce(or_, (each.contents for each in found))
    events_at = [each.newest_event for each in found if each.newest_event]
    batch.newest_event = max(events_at, default=None)
    if rows.counted.of(paths).bad:
        quarantine.keep(run, rows.numbered.where(F.col(LogColumn.PATH).isin(paths)))
    batches.commit(run, batch, compared.events(done), ingested)
    run.report.add_files(batch.files)
