"""A snapshot into the change log: what is new, changed or absent."""

from __future__ import annotations

from dataclasses import replace
from typing import List, Sequence

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import MissingKeys, TableSpec
from lake_spec.text.marked_values import quoted_value, row_value
from lake_spark.changelog.schema import log_columns, LogColumn
from lake_spark.errors import RefusedInput, WrongScopes, WrongSnapshotFiles
from lake_spark.ingest import (
    batches,
    previous_snapshot,
    quarantine,
    snapshot_completeness,
    snapshot_counts,
    snapshot_diff,
)
from lake_spark.ingest.snapshot_diff import SourceSnapshot
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.scd2.events import KEY
from lake_spark.schema.columns import any_null
from lake_spark.tables.table_run import TableRun


def ingest_snapshot(
    run: TableRun, snapshot: SourceSnapshot, ingested: IngestedFiles
) -> bool:
    """Ingest one snapshot, whole or not at all, by one commit.

    Return whether one was made.
    """
    snapshot_diff.refuse_late(snapshot, ingested, run.spec)
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
            snapshot_diff.refuse_late(batch.snapshot, ingested, run.spec)
        return _take_rows(run, batch, rows, ingested)
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
    scope = snapshot_diff.scope_text(spec).alias("scope")
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


def _take_rows(
    run: TableRun, batch: batches.Batch, rows: batches.Rows, ingested: IngestedFiles
) -> bool:
    compared = _compared(run, batch, rows, ingested).persist()
    try:
        events = _events(run, batch, compared, ingested)
        if not run.dry_run:
            if rows.counted.bad:
                quarantine.keep(run, rows.numbered)
            batches.commit(run, batch, events, ingested)
    finally:
        compared.unpersist()
    run.report.add_files(batch.files)
    return not run.dry_run


def _compared(
    run: TableRun, batch: batches.Batch, rows: batches.Rows, ingested: IngestedFiles
) -> DataFrame:
    """Return every row of the snapshot and every absent key, with what became of it."""
    names = [name for name, _ in batch.columns]
    good = quarantine.good_rows(rows.numbered).select(*log_columns(batch.columns))
    state = previous_snapshot.before(run, batch.snapshot, batch.columns, ingested)
    compared = snapshot_diff.changes(good, state, run.spec, names)
    if not rows.counted.bad:
        return compared
    bad = quarantine.bad_rows(rows.numbered)
    if not bad.where(any_null(run.spec.key)).isEmpty():
        warn_of_unreadable_key(run)
        return snapshot_diff.held(compared, F.lit(True))
    # A quarantined row counts as present.
    keys = bad.select(KEY).distinct().withColumn("lake_bad", F.lit(True))
    return snapshot_diff.held(compared.join(keys, KEY, "left"), F.col("lake_bad")).drop(
        "lake_bad"
    )


def warn_of_unreadable_key(run: TableRun) -> None:
    """Report that a snapshot deletes nothing."""
    run.report.warn(
        WarningId.KEPT_MISSING_KEYS,
        "missing_keys was not applied, because the key of a quarantined row cannot be "
        "read. Fix the row and land the snapshot again.",
    )


def _events(
    run: TableRun, batch: batches.Batch, compared: DataFrame, ingested: IngestedFiles
) -> DataFrame:
    """Return upserts and derived deletes; settle the batch's accounting."""
    snapshot = batch.snapshot
    counts = snapshot_counts.count(compared, run.spec)
    snapshot_counts.refuse(run, snapshot, batch.files, counts)
    snapshot_counts.settle(batch.files, counts)
    upserts = compared.where(snapshot_diff.UPSERTS)
    previous = snapshot_diff.previous_of(snapshot, ingested, run.spec)
    upserts = snapshot_diff.dated(upserts, run.spec, previous)
    deletes = snapshot_diff.derived_deletes(compared, snapshot, run.spec)
    if run.spec.source.missing_keys is MissingKeys.DELETE:
        run.report.derived_deletes += snapshot_counts.total(counts, change="absent")
    count = snapshot_counts.events(run, counts)
    return snapshot_counts.in_few_files(upserts.unionByName(deletes), count)
