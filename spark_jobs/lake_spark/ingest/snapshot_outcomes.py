"""What became of the rows of snapshots, one or several, and of the keys that they lack."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Callable, Iterator, List, Sequence, Set

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import MissingKeys
from lake_spark.changelog.schema import LogColumn, log_columns
from lake_spark.ingest.batch import Batch
from lake_spark.ingest.batch_rows import Rows
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.reading import quarantine
from lake_spark.scd2.events import KEY
from lake_spark.schema.columns import any_null
from lake_spark.snapshots import (
    derived_events,
    previous_snapshot,
    snapshot_counts,
    snapshot_sequence,
    source_snapshot,
)
from lake_spark.snapshots.snapshot_sequence import PLACE, PREVIOUS, SnapshotInOrder
from lake_spark.storage.inline_rows import small_table
from lake_spark.tables.table_run import SnapshotRun


@dataclass(frozen=True)
class Outcomes:
    """Snapshots in order, with a row for each landed row, absent key and held key.

    `counts` are those of `snapshot_counts`, per snapshot; `unreadable` the files with
    quarantined rows whose keys cannot be read.
    """

    run: SnapshotRun
    found: Sequence[Batch]
    ingested: IngestedFiles
    compared: DataFrame
    counts: Sequence[Sequence[Row]]
    unreadable: Set[str]

    def refuse(self, place: int) -> None:
        """Raise TooManyLosses if the snapshot is empty, or lacks too many keys."""
        each = self.found[place]
        snapshot_counts.refuse(
            self.run, each.snapshot, each.files, self.counts[place], self._known(each)
        )

    def _known(self, each: Batch) -> Callable[[], int]:
        """Return how many keys lived before: counted where a refusal says it."""
        before = previous_snapshot.before
        parts = (self.run, each.snapshot, each.columns, self.ingested)
        return lambda: before(*parts).where(derived_events.KNOWN).count()

    def settle(self, place: int) -> None:
        """Set what became of the rows of the snapshot's files."""
        each, counts = self.found[place], self.counts[place]
        if self.unreadable.intersection(each.paths):
            self.run.report.warn(
                WarningId.KEPT_MISSING_KEYS,
                "missing_keys was not applied, because the key of a quarantined row cannot "
                "be read. Fix the row and land the snapshot again.",
            )
        snapshot_counts.settle(each.files, counts)
        if self.run.spec.source.missing_keys is MissingKeys.DELETE:
            deletes = snapshot_counts.total(counts, change="absent")
            self.run.report.derived_deletes += deletes

    def events(self, first: int) -> DataFrame:
        """Return upserts and derived deletes of so many snapshots."""
        spec = self.run.spec
        compared = self.compared.where(F.col(PLACE) < first)
        upserts = compared.where(derived_events.UPSERTS)
        upserts = derived_events.dated(upserts, spec, F.col(PREVIOUS))
        facts = [
            (place, *derived_events.facts_of_deletes(each.snapshot))
            for place, each in enumerate(self.found[:first])
        ]
        table = ((PLACE, "int"), *derived_events.FACTS_OF_DELETES)
        absent = compared.where("lake_change = 'absent'")
        absent = absent.drop(*[name for name, _ in derived_events.FACTS_OF_DELETES])
        facts_of = F.broadcast(small_table(self.run.spark, table, facts))
        deletes = derived_events.as_deletes(absent.join(facts_of, PLACE))
        count = sum(snapshot_counts.events(self.run, e) for e in self.counts[:first])
        return snapshot_counts.in_few_files(upserts.unionByName(deletes), count)


@contextmanager
def outcomes(
    run: SnapshotRun, found: Sequence[Batch], rows: Rows, ingested: IngestedFiles
) -> Iterator[Outcomes]:
    """Compare snapshots, oldest first, each with what was known before it."""
    names = [name for name, _ in found[0].columns]
    unreadable = _unreadable(run, rows)
    line = _compared(run, found, rows, unreadable, ingested)
    line = line.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        compared = snapshot_sequence.outcomes(line, run.spec, names)
        counts: List[List[Row]] = [[] for _ in found]
        for row in snapshot_counts.count(compared, run.spec, F.col(PLACE)):
            counts[row[PLACE]].append(row)
        yield Outcomes(run, found, ingested, compared, counts, unreadable)
    finally:
        line.unpersist()


def _unreadable(run: SnapshotRun, rows: Rows) -> Set[str]:
    if not rows.counted.bad:
        return set()
    bad = quarantine.bad_rows(rows.numbered).where(any_null(run.spec.key))
    return {row.lake_path for row in bad.select(LogColumn.PATH).distinct().collect()}


def _compared(
    run: SnapshotRun,
    found: Sequence[Batch],
    rows: Rows,
    unreadable: Set[str],
    ingested: IngestedFiles,
) -> DataFrame:
    columns = found[0].columns
    steps = [
        SnapshotInOrder(each.snapshot, not unreadable.intersection(each.paths))
        for each in found
    ]
    scopes = {scope for each in found for scope in each.snapshot.scopes}
    whole = replace(found[0].snapshot, scopes=tuple(scopes))
    good = quarantine.good_rows(rows.numbered).select(*log_columns(columns))
    held = None
    if rows.counted.bad:  # a quarantined row counts as present
        bad = quarantine.bad_rows(rows.numbered).select(LogColumn.PATH, KEY)
        held = bad.where(f"{KEY} IS NOT NULL")
    return snapshot_sequence.compared(
        good,
        previous_snapshot.before(run, whole, columns, ingested),
        held,
        steps,
        source_snapshot.times_taken(ingested),
        run.spec,
        [name for name, _ in columns],
    )
