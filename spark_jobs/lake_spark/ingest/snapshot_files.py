"""Snapshots into the change log: what is new, changed or absent.

The first of those that wait is ingested whole, or refused by name. Those behind it are
read with it as long as no check stops them, and come in by the same commit: decision 050.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import or_
from typing import Dict, List, Optional, Sequence, Tuple

from pyspark.sql import Row
from pyspark.sql import functions as F

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import SnapshotTable
from lake_spec.text.marked_values import quoted_value, row_value
from lake_spark.changelog.schema import LogColumn
from lake_spark.errors import RefusedInput, WrongScopes, WrongSnapshotFiles
from lake_spark.formats.placeholders import placeholder_texts
from lake_spark.ingest import snapshot_outcomes
from lake_spark.ingest.batch import Batch, warn_of_names
from lake_spark.ingest.batch_accounting import account_for, file_reports, refuse_changed
from lake_spark.ingest.batch_rows import read_once, Rows
from lake_spark.ingest.log_commit import commit_events
from lake_spark.ingest.set_aside import Reasons, set_inputs_aside, set_path_aside
from lake_spark.ingest.snapshot_outcomes import Outcomes
from lake_spark.landing.files import moved_on
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.reading import quarantine
from lake_spark.snapshots import snapshot_completeness, source_snapshot
from lake_spark.snapshots.source_snapshot import SourceSnapshot
from lake_spark.tables.table_run import SnapshotRun


def ingest_snapshots(
    run: SnapshotRun, found: Sequence[Batch], ingested: IngestedFiles
) -> int:
    """Ingest the first of the snapshots by one commit; return how many were.

    That is 0 in a dry run, or where a file of the first is bad, which is set aside. Raises
    RefusedInput or TooManyBadRows where a check stops the first.
    """
    found, rows = _read(run, found)
    if rows is None:
        return 0
    try:
        found = _judged(run, found, rows, ingested)
        with snapshot_outcomes.outcomes(run, found, rows, ingested) as compared:
            done = _not_refused(compared)
            _take(run, found[:done], rows, compared, ingested)
    finally:
        rows.release()
    return 0 if run.dry_run else done


def _read(
    run: SnapshotRun, found: Sequence[Batch]
) -> Tuple[Sequence[Batch], Optional[Rows]]:
    """Return those before the first with a bad file, and the rows of all that were read."""
    while True:
        try:
            rows, reasons = read_once(run, _joined(found))
        except Exception:  # as for want of memory: the first by itself says why
            if len(found) == 1:
                raise
            found = found[:1]
            continue
        good = _before_bad(found, reasons)
        if not good:
            if rows is not None:
                rows.release()
            set_inputs_aside(run, found[0].inputs, reasons)
            refuse_whole(run, found[0].snapshot)
            return [], None
        found = good
        if rows is not None:
            return found, rows


def _joined(found: Sequence[Batch]) -> Batch:
    """Return one batch of the files of all."""
    return Batch([each for batch in found for each in batch.inputs], found[0].columns)


def _before_bad(found: Sequence[Batch], bad: Reasons) -> Sequence[Batch]:
    """Return the snapshots before the first that has one of these files."""
    for place, each in enumerate(found):
        if any(path in bad for path in each.paths):
            return found[:place]
    return found


@dataclass(frozen=True)
class _RowFacts:
    """What is known of the rows of several snapshots, by their files."""

    rows: Rows
    changed: Sequence[str]
    """Files that are no longer what was read."""
    scopes: Dict[str, List[Row]]
    """The scope values of the good rows of each file."""

    def scopes_of(self, batch: Batch) -> List[Row]:
        return [row for path in batch.paths for row in self.scopes.get(path, ())]


def _judged(
    run: SnapshotRun, found: Sequence[Batch], rows: Rows, ingested: IngestedFiles
) -> List[Batch]:
    """Return the first, if no check of its files and rows refuses it, and those like it.

    Behind one that covers other scope values than its path says, or whose rows leave
    values out, the next ones wait for its commit.
    """
    files = [each.file for batch in found for each in batch.inputs]
    facts = _RowFacts(rows, moved_on(run.store, files), _scopes_of_rows(run.spec, rows))
    first, *others = found
    refuse_changed([path for path in first.paths if path in facts.changed])
    mine = rows.numbered
    if others:
        mine = mine.where(F.col(LogColumn.PATH).isin(first.paths))
    _account(run, first, rows, partial(quarantine.examples, run.spec, mine))
    _find_scopes(run, first, facts, ingested)
    good = [first]
    if not _is_plain(run, first, facts):
        return good
    for each in others:
        if not _is_good(run, each, facts, ingested):
            break
        each.files = file_reports(each, rows.counted.of(each.paths))
        good.append(each)
    return good


def _find_scopes(
    run: SnapshotRun, batch: Batch, facts: _RowFacts, ingested: IngestedFiles
) -> None:
    """Let a snapshot whose path names no scope values cover those of its rows.

    Raises RefusedInput where these are not known, or the snapshot is late for one of them.
    """
    if not batch.snapshot.scopes:
        _cover(run, batch, facts.scopes_of(batch))
        source_snapshot.refuse_late(batch.snapshot, ingested, run.spec)


def _is_plain(run: SnapshotRun, batch: Batch, facts: _RowFacts) -> bool:
    """Return whether the snapshot covers what its path says, and sends all values."""
    contents = facts.rows.counted.of(batch.paths).contents
    if placeholder_texts(run.spec) and contents.has_unsent_values:
        return False
    scopes = {row.scope for row in facts.scopes_of(batch)}
    return not run.spec.scope or scopes <= set(batch.snapshot.scopes)


def _is_good(
    run: SnapshotRun, batch: Batch, facts: _RowFacts, ingested: IngestedFiles
) -> bool:
    """Return whether no check would stop the snapshot if it were the first."""
    if any(path in facts.changed for path in batch.paths):
        return False
    if quarantine.is_refused(run, facts.rows.counted.of(batch.paths)):
        return False
    try:
        _find_scopes(run, batch, facts, ingested)
    except RefusedInput:
        return False
    return _is_plain(run, batch, facts)


def _not_refused(compared: Outcomes) -> int:
    """Return how many come before the first that is empty or loses too many keys.

    Raises TooManyLosses where that is the first of all.
    """
    for place in range(len(compared.found)):
        try:
            compared.refuse(place)
        except RefusedInput:
            if place == 0:
                raise
            return place
    return len(compared.found)


def _account(
    run: SnapshotRun, batch: Batch, rows: Rows, examples: quarantine.Examples
) -> None:
    counted = rows.counted.of(batch.paths)
    account_for(run, batch, counted, examples, f"snapshot {batch.snapshot.name}")


def _take(
    run: SnapshotRun,
    found: Sequence[Batch],
    rows: Rows,
    compared: Outcomes,
    ingested: IngestedFiles,
) -> None:
    """Commit the snapshots, and report of each what would be if it were alone."""
    bad: Dict[str, List[Row]] = {}
    if len(found) > 1 and rows.counted.bad:
        bad = quarantine.examples_of_files(run.spec, rows.numbered)
    for place, each in enumerate(found):
        if place:  # the first one is accounted for
            warn_of_names(run, each.inputs)
            mine = [row for path in each.paths for row in bad.get(path, ())]
            _account(run, each, rows, partial(list, mine))
        compared.settle(place)
    batch = _joined(found)
    batch.files = [report for each in found for report in each.files]
    batch.contents = reduce(or_, (each.contents for each in found))
    events_at = [each.newest_event for each in found if each.newest_event]
    batch.newest_event = max(events_at, default=None)
    if not run.dry_run:
        if rows.counted.of(batch.paths).bad:
            in_batch = F.col(LogColumn.PATH).isin(batch.paths)
            quarantine.keep(run, rows.numbered.where(in_batch))
        commit_events(run, batch, compared.events(len(found)), ingested)
    run.report.add_files(batch.files)


def refuse_whole(run: SnapshotRun, snapshot: SourceSnapshot) -> None:
    """Refuse a snapshot for one bad file: the good ones wait for it, by name."""
    bad = {each["path"] for each in run.report.set_aside}
    named = ", ".join(each.path for each in snapshot.files if each.path in bad)
    reason = (
        f"waits with its snapshot {snapshot.name} for {named}. Fix or replace that."
    )
    set_aside(run, snapshot, WarningId.INCOMPLETE_SNAPSHOT.value, reason)


def set_aside(run: SnapshotRun, snapshot: SourceSnapshot, id: str, reason: str) -> None:
    """Leave the files of a snapshot where they are; the run will end red."""
    set_paths_aside(run, [each.path for each in snapshot.files], id, reason)


def refuse(run: SnapshotRun, snapshot: SourceSnapshot, refused: RefusedInput) -> None:
    """Set aside the files that were refused: the snapshot's, if not some of them."""
    paths = [each.path for each in snapshot.files]
    id = type(refused).__name__
    set_paths_aside(run, getattr(refused, "paths", paths), id, str(refused))


def set_paths_aside(
    run: SnapshotRun, paths: Sequence[str], id: str, reason: str
) -> None:
    """Leave files where they are, those that were set aside before with their reason."""
    done = {each["path"] for each in run.report.set_aside}
    for path in paths:
        if path not in done:
            set_path_aside(run, id, path, reason)


def _scopes_of_rows(spec: SnapshotTable, rows: Rows) -> Dict[str, List[Row]]:
    """Return the scope values of the good rows of each file: scope, lake_path."""
    found: Dict[str, List[Row]] = {}
    if not spec.scope:
        return found
    scope = source_snapshot.scope_text(spec).alias("scope")
    good = quarantine.good_rows(rows.numbered)
    for row in good.select(scope, LogColumn.PATH).distinct().collect():
        found.setdefault(row.lake_path, []).append(row)
    return found


def _cover(run: SnapshotRun, batch: Batch, values: Sequence[Row]) -> None:
    """Let the snapshot cover the scope values of its rows, and those said to be empty."""
    assert run.spec.scope is not None, "a snapshot of one scope covers its rows"
    column = run.spec.scope.column
    found = {row.scope for row in values}
    if snapshot_completeness.is_one_file(run.spec):
        _refuse_several(batch.snapshot, values)
    empty = set(run.accepted.empty_scopes)
    if found & empty:
        named = ", ".join(sorted(found & empty))
        raise WrongScopes(
            f"has rows of {column} {row_value(named)}, which empty_scopes lists as empty. Remove "
            "it from empty_scopes, or give the run a window without this snapshot."
        )
    if not found | empty:
        raise WrongScopes(
            f"has no good row, so it is unknown which values of {column} it covers. "
            "Land a whole snapshot in its place, or name them in empty_scopes."
        )
    scopes = tuple(sorted(found | empty))
    batch.of_snapshot = replace(batch.snapshot, scopes=scopes)
    batch.inputs = [
        replace(each, file=replace(each.file, scopes=scopes)) for each in batch.inputs
    ]


def _refuse_several(snapshot: SourceSnapshot, values: Sequence[Row]) -> None:
    """Refuse several files of a scope value where nothing is declared: it is one file."""
    files = {each.path: each for each in snapshot.files}
    for scope in sorted({row.scope for row in values}):
        paths = sorted(row.lake_path for row in values if row.scope == scope)
        if len(paths) > 1:
            name = f"{snapshot.name} of {quoted_value(scope)}"
            words = snapshot_completeness.several(name, [files[path] for path in paths])
            raise WrongSnapshotFiles(paths, words)
