"""What became of the rows of a snapshot, counted; refusals and accounting by it."""

from __future__ import annotations

from typing import Callable, List, Optional, Sequence

from pyspark.sql import Column, DataFrame, Row

from lake_spec.model import MissingKeys, SnapshotTable
from lake_spec.state.report import FileReport
from lake_spark.changelog.schema import LogColumn
from lake_spark.snapshots import lost_keys, source_snapshot
from lake_spark.snapshots.source_snapshot import SourceSnapshot
from lake_spark.storage.session import FEW_ROWS
from lake_spark.tables.table_run import SnapshotRun

_KNOWN = ("changed", "unchanged", "absent", "held")
"""What can become of a key that lived as of the snapshot before."""


def count(compared: DataFrame, spec: SnapshotTable, *more: Column) -> List[Row]:
    """Count the rows, by lake_path (null if absent), lake_scope, lake_change and more."""
    scope = source_snapshot.scope_text(spec).alias("lake_scope")
    groups = compared.groupBy(LogColumn.PATH, scope, "lake_change", *more)
    return groups.count().collect()


def total(counts: Sequence[Row], **wanted: Optional[str]) -> int:
    """Sum the rows that are so: `path`, `scope` and `change` choose."""
    return sum(
        row["count"]
        for row in counts
        if all(row[f"lake_{name}"] == value for name, value in wanted.items())
    )


def refuse(
    run: SnapshotRun,
    snapshot: SourceSnapshot,
    files: Sequence[FileReport],
    counts: Sequence[Row],
    known: Callable[[], int],
) -> None:
    """Raise TooManyLosses for a snapshot that is empty, or that lacks too many keys.

    `known` counts the keys that lived before it.
    """
    _refuse_empty(run, snapshot, files, known)
    _refuse_losses(run, files, counts)


def _refuse_empty(
    run: SnapshotRun,
    snapshot: SourceSnapshot,
    files: Sequence[FileReport],
    known: Callable[[], int],
) -> None:
    said = set(snapshot.scopes) <= set(run.accepted.empty_scopes)
    if run.accepted.losses or run.spec.source.may_be_empty or said:
        return
    if not any(each.landed for each in files):
        lost_keys.refuse_empty(snapshot, known(), run.spec)


def _refuse_losses(
    run: SnapshotRun, files: Sequence[FileReport], counts: Sequence[Row]
) -> None:
    is_empty = not any(each.landed for each in files)
    if run.accepted.losses or (is_empty and run.spec.source.may_be_empty):
        return
    for scope in {row.lake_scope for row in counts} - set(run.accepted.empty_scopes):
        lost = {what: total(counts, scope=scope, change=what) for what in _KNOWN}
        words = source_snapshot.of_scope(scope, run.spec)
        lost_keys.refuse_losses(sum(lost.values()), lost["absent"], run.spec, words)


def events(run: SnapshotRun, counts: Sequence[Row]) -> int:
    """Return how many upserts and derived deletes follow from the rows."""
    deletes = run.spec.source.missing_keys is MissingKeys.DELETE
    kinds = ("new", "changed", *(["absent"] if deletes else []))
    return sum(total(counts, change=each) for each in kinds)


def in_few_files(rows: DataFrame, count: int) -> DataFrame:
    """Return the rows so that few of them are written as one file.

    Else each task that has a row writes one, and every later run opens all of them.
    """
    return rows.repartition(1) if count <= FEW_ROWS else rows


def settle(files: Sequence[FileReport], counts: Sequence[Row]) -> None:
    """Set what became of each file's rows."""
    for each in files:
        each.unchanged = total(counts, path=each.path, change="unchanged")
        each.duplicates = total(counts, path=each.path, change="duplicate")
        each.accepted = total(counts, path=each.path, change="new")
        each.accepted += total(counts, path=each.path, change="changed")
