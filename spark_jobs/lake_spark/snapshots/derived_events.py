"""The events that follow from a snapshot: upserts with their times, deletes of absent keys.

Contract section 4.
"""

from __future__ import annotations

from typing import Any, Tuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lake_spec.model import SnapshotTable
from lake_spark.changelog.schema import DELETE, LogColumn, UPSERT
from lake_spark.snapshots.source_snapshot import SourceSnapshot

KNOWN = "lake_known"
"""Whether a key of the state lives."""

BEFORE = "lake_effective_before"
"""The declared effective time that a key had when it was last seen."""

UPSERTS = f"lake_op = '{UPSERT}' AND lake_change IN ('new', 'changed')"
"""Rows of a snapshot that become upsert events."""


def dated(upserts: DataFrame, spec: SnapshotTable, previous: Column) -> DataFrame:
    """Let upserts be valid from `effective_at`, where it can be believed.

    Not before the `previous` snapshot's time, which said otherwise; and where it did not
    advance although the row changed or returned, from the snapshot's own time.
    """
    if spec.effective_at is None:
        return upserts
    declared = F.col(spec.effective_at).cast("timestamp")
    advanced = F.col(BEFORE).isNull() | (declared > F.col(BEFORE))
    believed = F.greatest(F.col(LogColumn.EFFECTIVE_AT), previous)
    since = F.when(advanced, believed).otherwise(F.col(LogColumn.SNAPSHOT_AT))
    return upserts.withColumn(LogColumn.EFFECTIVE_AT, since)


FACTS_OF_DELETES = (
    (LogColumn.PATH, "string"),
    (LogColumn.POSITION, "string"),
    (LogColumn.ETAG, "string"),
    (LogColumn.LANDED_AT, "timestamp"),
    (LogColumn.SNAPSHOT_AT, "timestamp"),
)
"""Where the derived deletes of a snapshot stand: at its last file."""


def facts_of_deletes(snapshot: SourceSnapshot) -> Tuple[Any, ...]:
    """Return the values of these columns."""
    last = snapshot.files[-1]
    return (last.path, last.position, last.etag, last.landed_at, snapshot.at)


def as_deletes(absent: DataFrame) -> DataFrame:
    """Return absent keys, which have these facts, as delete events."""
    return absent.withColumns(
        {
            LogColumn.OP: F.lit(DELETE),
            LogColumn.RANK: F.lit(1),
            LogColumn.EFFECTIVE_AT: F.col(LogColumn.SNAPSHOT_AT),
            LogColumn.RECORD: F.lit(-1).cast("bigint"),
        }
    )
