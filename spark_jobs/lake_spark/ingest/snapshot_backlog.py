"""Snapshots that wait, oldest first: which of them are read and ingested together.

A batch ends before a snapshot that is late, incomplete or has a bad file, or that brings a
column. `snapshot_files.ingest_snapshots` may end it before. Decision 050.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import FrozenSet, List, Optional, Sequence

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import SnapshotTable
from lake_spark.errors import BadFile, LateSnapshot, RefusedInput
from lake_spark.formats.inference import source_name
from lake_spark.ingest import snapshot_files
from lake_spark.ingest.batch import (
    Batch,
    batch_of,
    input_of,
    known_columns,
    Look,
    looked_into,
)
from lake_spark.ingest.set_aside import set_aside
from lake_spark.landing.files import LandingFile
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.reading import row_expressions
from lake_spark.reading.reader import Input
from lake_spark.schema.columns import Columns
from lake_spark.snapshots import snapshot_completeness, source_snapshot
from lake_spark.snapshots.source_snapshot import SourceSnapshot
from lake_spark.tables.table_run import SnapshotRun

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
        self, run: SnapshotRun, landing: Sequence[str], *, again: bool = False
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
        run, first = self._run, waiting[0]
        try:
            missing = self._what_is_missing(first, ingested)
            if missing is None:
                return self._ingest(waiting, ingested)
            self._tell_of_missing(waiting, missing)
        except LateSnapshot as late:
            snapshot_files.set_aside(run, first, type(late).__name__, str(late))
            return Taken(1, not self._again)
        except RefusedInput as refused:
            snapshot_files.refuse(run, first, refused)
        except BadFile as bad:
            set_aside(run, bad)
        return Taken(1, False)

    def _ingest(
        self, waiting: Sequence[SourceSnapshot], ingested: IngestedFiles
    ) -> Taken:
        found = self._leading(waiting, ingested)
        if not found:
            snapshot_files.refuse_whole(self._run, waiting[0])
            return Taken(1, False)
        taken = snapshot_files.ingest_snapshots(self._run, found, ingested)
        # What is read in vain is at most as much as what is not.
        most = self._most if taken == len(found) else taken
        self._most = max(1, min(2 * most, MOST_SNAPSHOTS))
        return Taken(max(1, taken), taken > 0)

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

    def _leading(
        self, waiting: Sequence[SourceSnapshot], ingested: IngestedFiles
    ) -> List[Batch]:
        """Return the first snapshot and those that can be read with it.

        None at all where a file of the first is bad, which is set aside.
        """
        run, known = self._run, known_columns(self._run)
        first = batch_of(run, waiting[0].files, ingested)
        first.of_snapshot = waiting[0]
        if len(first.inputs) < len(waiting[0].files):
            return []
        found = [first]
        if first.columns != known:
            return found
        ready = self._ready(waiting, ingested)
        inputs = {
            file.path: _input(run, file, look, known, ingested)
            for file, look in looked_into(
                run, [f for each in ready for f in each.files]
            )
        }
        unsent = {_unsent(run.spec, each) for each in first.inputs}
        for snapshot in ready:
            mine = [inputs[each.path] for each in snapshot.files]
            good = [each for each in mine if each is not None]
            unsent.update(_unsent(run.spec, each) for each in good)
            if len(good) < len(mine) or len(unsent) > 1:
                self._most = len(found)  # the others were looked into in vain
                break
            found.append(Batch(good, known, snapshot))
        return found

    def _ready(
        self, waiting: Sequence[SourceSnapshot], ingested: IngestedFiles
    ) -> List[SourceSnapshot]:
        """Return those behind the first that may come in with it, as far as lists say."""
        run, oldest = self._run, ingested.oldest_snapshot
        is_alone = oldest is None or waiting[0].at <= oldest
        if is_alone or run.dry_run or run.accepted.empty_scopes:
            return []
        size = sum(each.size for each in waiting[0].files)
        ready: List[SourceSnapshot] = []
        for snapshot in waiting[1 : self._most]:
            size += sum(each.size for each in snapshot.files)
            if size > MOST_BYTES or not self._is_complete(snapshot, ingested):
                break
            ready.append(snapshot)
        return ready

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
    run: SnapshotRun,
    file: LandingFile,
    look: Look,
    columns: Columns,
    ingested: IngestedFiles,
) -> Optional[Input]:
    """Return a file with its shape; None if it is bad, or changes the columns."""
    try:
        found, grown = input_of(run, file, look, columns, ingested)
    except BadFile:
        return None
    return found if grown == columns else None


def _unsent(spec: SnapshotTable, each: Input) -> FrozenSet[str]:
    """Return the dropped columns that a file lacks: its rows say nothing of them."""
    return frozenset(
        name
        for name, _ in spec.columns
        if row_expressions.is_dropped(spec, name)
        and source_name(spec, name, each.shape) is None
    )
