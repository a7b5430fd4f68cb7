"""Current and history: tables that are functions of the change log.

Both follow one way: find the keys that the log touched since the table was
last built, fold their events, compare with the stored rows, write the
difference as one commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lake_spec.hudi.options import Operation
from lake_spec.text.sql_text import sql_identifier
from lake_spark.changelog import retractions
from lake_spark.checks.checked_rows import OLD
from lake_spark.checks.table_checks import PreCommit
from lake_spark.landing.ingested_files import LogContents
from lake_spark.materialize.pre_commit_checks import (
    Changes,
    agree,
    counted,
    keep_invariants,
)
from lake_spark.scd2.all_key_deletes import about_all_keys
from lake_spark.scd2.derived_table import CHANGED, INSERTED, Layer, REMOVED, SAME
from lake_spark.scd2.events import KEY
from lake_spark.scd2.key_changes import with_families
from lake_spark.schema.equality import comparable
from lake_spark.schema.spark_types import typed_names, with_types
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.hudi_table import DELETED, HudiTable, without_hudi_columns
from lake_spark.storage.spark_jobs import nothing


@dataclass(frozen=True)
class Built:
    """What a build did: counts of rows and the instant of its commit."""

    instant: Optional[str]
    rows: int
    open: int
    inserted: int = 0
    closed: int = 0


@dataclass(frozen=True)
class SingleEvents:
    """The only deliveries of their keys, and how many of them are upserts."""

    deliveries: DataFrame
    upserts: int


@dataclass(frozen=True)
class AffectedEvents:
    """Events of the keys that the log touched after an instant (all if None).

    `before` are the events of these keys up to that instant, where the table is known
    to hold the fold of them (materialize/layers.py); else its rows are read. `single_events`
    are more events, each the only one of its key.
    """

    distinct: DataFrame
    keys: DataFrame
    since: Optional[str]
    log_instant: str
    before: Optional[DataFrame] = None
    single_events: Optional[SingleEvents] = None


def build(
    table: HudiTable,
    layer: Layer,
    events: AffectedEvents,
    *,
    partition_by: Sequence[str] = (),
    metadata: Dict[str, str],
    must_be_open: Optional[int] = None,
    before_commit: Callable[[], Any] = nothing,
    checks: Optional[PreCommit] = None,
) -> Built:
    """Bring the table up to the log; write nothing when it already is.

    `must_be_open` is how many rows must be open after it, where that is known.
    `before_commit` is called before anything is written: what it raises stops that.
    `checks` are those of the whole table, which may stop it too.
    """
    if events.since is None:
        found = _all_new(layer, events)
    else:
        desired = layer.desired(events.distinct)
        stored = _stored(table, layer, events, desired)
        identity = list(dict.fromkeys((*layer.record_key, *partition_by)))
        old = checks.old_columns(desired.columns) if checks else ()
        found = Changes(difference(desired, stored, identity, layer, old))
    found.compared.persist()
    try:
        counts = counted(found, layer)
        before_commit()
        rows, still_open = _agreed(table, layer, counts, events, must_be_open)
        if checks:
            stored_now = None if events.since is None else table.read
            metadata = {**metadata, **checks.of(found.all, stored_now)}
        said = {
            **metadata,
            CommitValue.ROWS: str(rows),
            CommitValue.OPEN: str(still_open),
        }
        instant = _commit(table, layer, found, counts, events, said)
        return Built(instant, rows, still_open, counts[INSERTED], counts["closed"])
    finally:
        found.compared.unpersist()


def _all_new(layer: Layer, events: AffectedEvents) -> Changes:
    """Return the rows of a build of everything, which are compared with nothing.

    Those of keys that are alone are made of one row of the log each: to make them
    twice, to be checked and to be written, takes less than keeping them. But numbers
    are given once, to kept rows.
    """
    rows = inserted(layer.desired(events.distinct), layer)
    if events.single_events is None:
        return Changes(rows)
    single_events = inserted(
        layer.desired_of_single_events(events.single_events.deliveries), layer
    )
    if layer.makes_once:
        return Changes(rows.unionByName(single_events))
    return Changes(rows, single_events, events.single_events.upserts)


def inserted(rows: DataFrame, layer: Layer) -> DataFrame:
    """Return rows that are all new, in the form of `difference`."""
    return rows.select(
        "*",
        F.lit(INSERTED).alias("lake_action"),
        layer.is_open.alias("lake_is_open"),
        F.lit(False).alias("lake_was_open"),
    )


def _stored(
    table: HudiTable, layer: Layer, events: AffectedEvents, desired: DataFrame
) -> DataFrame:
    """Return what the table holds of the affected keys, in the desired rows' columns."""
    if events.before is not None:
        return shaped_as(layer.desired(events.before).drop(*layer.witnesses), desired)
    stored = shaped_as(table.read(), desired)
    return stored.join(events.keys, KEY, "left_semi").select(desired.columns)


def shaped_as(stored: DataFrame, desired: DataFrame) -> DataFrame:
    """Return stored rows in the columns and types of the desired ones, null if absent."""
    rows = with_types(without_hudi_columns(stored), typed_names(desired.schema))
    return rows.select(desired.columns)


def difference(
    desired: DataFrame,
    stored: DataFrame,
    identity: Sequence[str],
    layer: Layer,
    old_columns: Sequence[str] = (),
) -> DataFrame:
    """Return desired rows that differ from the stored ones, and stored ones to remove.

    Adds lake_action and lake_was_open to the rows' columns, and the `old_columns` of the
    stored row that differs as lake_old.
    """
    both = joined(desired, stored, identity, layer)
    old = [F.col(f"old.`{name}`") for name in old_columns]
    differs = F.col("lake_action").isin(CHANGED, REMOVED)
    kept = [F.when(differs, F.struct(*old)).alias(OLD)] if old else []
    return both.select(
        F.coalesce("new", "old").alias("row"),
        "lake_action",
        F.coalesce("new_open", F.lit(False)).alias("lake_is_open"),
        F.coalesce("old_open", F.lit(False)).alias("lake_was_open"),
        *kept,
    ).select(
        "row.*",
        "lake_action",
        "lake_is_open",
        "lake_was_open",
        *([OLD] if kept else []),
    )


def joined(
    desired: DataFrame, stored: DataFrame, identity: Sequence[str], layer: Layer
) -> DataFrame:
    """Return desired and stored rows side by side, and by lake_action how they differ.

    Columns new and old (the whole rows), new_same and old_same (in the form that
    equality is defined on), new_open and old_open; null where there is no row.
    """
    sides = [_packed(desired, layer, "new"), _packed(stored, layer, "old")]
    same_row = [F.col(f"new.{n}").eqNullSafe(F.col(f"old.{n}")) for n in identity]
    action = (
        F.when(F.col("new").isNull(), REMOVED)
        .when(F.col("old").isNull(), INSERTED)
        .when(F.col("new_same").eqNullSafe(F.col("old_same")), SAME)
        .otherwise(CHANGED)
    )
    both = sides[0].join(sides[1], same_row, "full_outer")
    return both.withColumn("lake_action", action)


def _packed(rows: DataFrame, layer: Layer, side: str) -> DataFrame:
    written = [name for name in rows.columns if name not in layer.witnesses]
    return rows.select(
        F.struct("*").alias(side),
        F.struct(*comparable(rows, written)).alias(f"{side}_same"),
        layer.is_open.alias(f"{side}_open"),
    )


def _agreed(
    table: HudiTable,
    layer: Layer,
    counts: Dict[str, Any],
    events: AffectedEvents,
    must_be_open: Optional[int],
) -> Tuple[int, int]:
    """Return how many rows there will be, and how many open ones; invariants must hold."""
    keep_invariants(layer, counts)
    rows, still_open = _counts_before(table, events)
    rows += counts[INSERTED] - counts[REMOVED]
    still_open += counts["opened"] - counts["closed"]
    agree(layer, still_open, must_be_open)
    return rows, still_open


def _commit(
    table: HudiTable,
    layer: Layer,
    found: Changes,
    counts: Dict[str, Any],
    events: AffectedEvents,
    metadata: Dict[str, str],
) -> str:
    """Write the changes; return the instant of the commit."""
    said = {**metadata, CommitValue.LOG_INSTANT: events.log_instant}
    changes = layer.completed(found.all)
    if counts[REMOVED]:
        layer.on_removed(changes)
    return table.write(to_write(changes, layer), _operation(table, events), said)


def _counts_before(table: HudiTable, events: AffectedEvents) -> Tuple[int, int]:
    if events.since is None:
        return 0, 0
    return table.last_count(CommitValue.ROWS), table.last_count(CommitValue.OPEN)


def _operation(table: HudiTable, events: AffectedEvents) -> Operation:
    """Return the operation: the first build fills the table, a whole one replaces it."""
    if not table.has_data():
        return Operation.BULK_INSERT
    return Operation.REPLACE if events.since is None else Operation.UPSERT


def to_write(changes: DataFrame, layer: Layer) -> DataFrame:
    """Return what Hudi writes of a difference: rows, and marks of those to remove."""
    ours = ("lake_action", "lake_is_open", "lake_was_open", OLD, *layer.witnesses)
    names = [sql_identifier(name) for name in changes.columns if name not in ours]
    removed = F.when(F.col("lake_action") == REMOVED, True).alias(DELETED)
    return changes.where(F.col("lake_action") != SAME).select(*names, removed)


def deliveries_of(
    log: DataFrame, since: Optional[str], contents: LogContents
) -> Tuple[DataFrame, DataFrame]:
    """Return (all live deliveries of the affected keys, the affected keys) of a judged log.

    A key is touched when a delivery of it arrived, or became void, after that instant;
    by such a change of a row about every key all of them are. Keys whose rows changed
    their key are touched together. `contents` are those of the log.
    """
    live = retractions.live(log)
    if since is None:
        return live, live.select(KEY).distinct()
    moved = log.where(retractions.moved_after(log, since))
    if contents.has_all_key_events and not moved.where(about_all_keys()).isEmpty():
        return live, log.select(KEY).distinct()
    keys = moved.select(KEY).distinct()
    if contents.has_key_changes:
        keys = with_families(keys, live)
    return of_keys(live, keys, contents), keys


def of_keys(live: DataFrame, keys: DataFrame, contents: LogContents) -> DataFrame:
    """Return the live deliveries of those keys, and those about every key."""
    own = live.join(keys, KEY, "left_semi")
    return (
        own.unionByName(live.where(about_all_keys()))
        if contents.has_all_key_events
        else own
    )
