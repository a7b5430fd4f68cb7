"""A snapshot into the change log: what is new, changed or absent."""

from __future__ import annotations

from dataclasses import replace
from typing import List, Sequence

from pyspark.sql import Row

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import TableSpec
from lake_spec.text.marked_values import quoted_value, row_value
from lake_spark.changelog.schema import LogColumn
from lake_spark.errors import RefusedInput, WrongScopes, WrongSnapshotFiles
from lake_spark.ingest import batches, snapshot_outcomes
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.reading import quarantine
from lake_spark.snapshots import snapshot_completeness, source_snapshot
from lake_spark.snapshots.source_snapshot import SourceSnapshot
from lake_spark.tables.table_run import TableRun


def ingest_snapshot(
    run: TableRun, snapshot: SourceSnapshot, ingested: IngestedFiles
) -> bool:
    """Ingest one snapshot, whole or not at all, by one commit.

    Return whether one was made.
    """
    batch = batches.shaped(run, snapshot.files, ingested)
    batch.snapshot = snapshot
    if len(batch.inputs) < len(snapshot.files):
        return _refused_whole(run, snapshot)
    rows = batches.read_rows(run, batch)
    if rows is None:
        return _refused_whole(run, snapshot)
    try:
        batches.judge(run, batch, rows, f"snapshot {snapshot.name}")
        if not snapshot.scopes:
            cover(run, batch, scopes_of_rows(run.spec, rows))
            source_snapshot.refuse_late(batch.snapshot, ingested, run.spec)
        return _ingest_rows(run, batch, rows, ingested)
    finally:
        rows.release()


def _refused_whole(run: TableRun, snapshot: SourceSnapshot) -> bool:
    """Refuse a snapshot for one bad file: the good ones wait for it, by name."""
    bad = {each["path"] for each in run.report.set_aside}
    named = ", ".join(each.path for each in snapshot.files if each.path in bad)
    reason = (
        f"waits with its snapshot {snapshot.name} for {named}. Fix or replace that."
    )
    set_aside(run, snapshot, WarningId.INCOMPLETE_SNAPSHOT.value, reason)
    return False


def set_aside(run: TableRun, snapshot: SourceSnapshot, id: str, reason: str) -> None:
    """Leave the files of a snapshot where they are; the run will end red."""
    set_paths_aside(run, [each.path for each in snapshot.files], id, reason)


def refuse(run: TableRun, snapshot: SourceSnapshot, refused: RefusedInput) -> None:
    """Set aside the files that were refused: the snapshot's, if not some of them."""
    paths = [each.path for each in snapshot.files]
    id = type(refused).__name__
    set_paths_aside(run, getattr(refused, "paths", paths), id, str(refused))


def set_paths_aside(run: TableRun, paths: Sequence[str], id: str, reason: str) -> None:
    """Leave files where they are, those that were set aside before with their reason."""
    done = {each["path"] for each in run.report.set_aside}
    for path in paths:
        if path not in done:
            batches.set_path_aside(run, id, path, reason)


def scopes_of_rows(spec: TableSpec, rows: batches.Rows) -> List[Row]:
    """Return the scope values of the good rows of each file: scope, lake_path."""
    scope = source_snapshot.scope_text(spec).alias("scope")
    good = quarantine.good_rows(rows.numbered)
    return good.select(scope, LogColumn.PATH).distinct().collect()


def cover(run: TableRun, batch: batches.Batch, values: Sequence[Row]) -> None:
    """Let the snapshot cover the scope values of its rows, and those said to be empty."""
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
    batch.snapshot = replace(batch.snapshot, scopes=scopes)
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


def _ingest_rows(
    run: TableRun, batch: batches.Batch, rows: batches.Rows, ingested: IngestedFiles
) -> bool:
    with snapshot_outcomes.outcomes(run, [batch], rows, ingested) as found:
        found.refuse(0)
        found.settle(0)
        if not run.dry_run:
            if rows.counted.bad:
                quarantine.keep(run, rows.numbered)
            batches.commit(run, batch, found.events(1), ingested)
    run.report.add_files(batch.files)
    return not run.dry_run
