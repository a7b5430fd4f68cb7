"""Current and history: tables that are functions of the change log.

Both follow one way: find the keys that the log touched since the table was
last built, fold their events, compare with the stored rows, write the
difference as one commit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lake_spec.hudi_options import Operation
from lake_spark import withdrawals
from lake_spark.equality import comparable
from lake_spark.errors import BrokenPromise
from lake_spark.fold import KEY
from lake_spark.hudi_table import DELETED, HudiTable, without_hudi_columns
from lake_spark.inputs import RENAMED, WIDE
from lake_spark.renamed_keys import with_families
from lake_spark.spark_types import typed_names, with_types
from lake_spark.whole_table import about_all_keys

LOG_INSTANT = "log_instant"
ROWS, OPEN = "rows", "open"

INSERTED, CHANGED, REMOVED, SAME = "inserted", "changed", "removed", "same"


@dataclass(frozen=True)
class Layer:
    """What tells current from history.

    `desired` are the rows of events, `of_alone` the same of events that are the only
    ones of their keys. `is_open` is the column that marks rows which are true now; `broken` names
    promises and the SQL that is true for rows which break them; `checked` adds
    what that SQL needs. `witnesses` are columns of the desired rows that are for
    the checks alone. `completed` gives checked rows, right before the commit, what
    is made but once; `on_removed` is shown them where rows are removed.
    """

    name: str
    record_key: Tuple[str, ...]
    desired: Callable[[DataFrame], DataFrame]
    of_alone: Callable[[DataFrame], DataFrame]
    is_open: Column
    broken: Dict[str, str] = field(default_factory=dict)
    checked: Callable[[DataFrame], DataFrame] = lambda rows: rows
    witnesses: Tuple[str, ...] = ()
    completed: Callable[[DataFrame], DataFrame] = lambda changes: changes
    on_removed: Callable[[DataFrame], None] = lambda changes: None


@dataclass(frozen=True)
class Built:
    """What a build did: counts of rows and the instant of its commit."""

    instant: Optional[str]
    rows: int
    open: int
    inserted: int = 0
    closed: int = 0


@dataclass(frozen=True)
class TouchedEvents:
    """Events of the keys that the log touched after an instant (all if None).

    `before` are the events of these keys up to that instant, where the table is known
    to hold the fold of them (materialise.py); else its rows are read. `alone` are more
    events, each the only one of its key.
    """

    distinct: DataFrame
    keys: DataFrame
    since: Optional[str]
    log_instant: str
    before: Optional[DataFrame] = None
    alone: Optional[DataFrame] = None


def build(
    table: HudiTable,
    layer: Layer,
    events: TouchedEvents,
    *,
    partition_by: Sequence[str] = (),
    metadata: Dict[str, str],
    must_be_open: Optional[int] = None,
) -> Built:
    """Bring the table up to the log; nothing is written when it already is.

    `must_be_open` is how many rows must be open after it, where that is known.
    """
    desired = layer.desired(events.distinct)
    if events.alone is not None:
        desired = desired.unionByName(layer.of_alone(events.alone))
    stored = _stored(table, layer, events, desired)
    identity = list(dict.fromkeys((*layer.record_key, *partition_by)))
    changes = difference(desired, stored, identity, layer).persist()
    try:
        return _commit(table, layer, changes, events, metadata, must_be_open)
    finally:
        changes.unpersist()


def _stored(
    table: HudiTable, layer: Layer, events: TouchedEvents, desired: DataFrame
) -> DataFrame:
    """What the table holds of the touched keys, in the desired rows' columns."""
    if events.since is None:
        return desired.limit(0)
    if events.before is not None:
        return shaped_as(layer.desired(events.before).drop(*layer.witnesses), desired)
    stored = shaped_as(table.read(), desired)
    return stored.join(events.keys, KEY, "left_semi").select(desired.columns)


def shaped_as(stored: DataFrame, desired: DataFrame) -> DataFrame:
    """Stored rows in the columns and types of the desired ones, null where they have none."""
    rows = with_types(without_hudi_columns(stored), typed_names(desired.schema))
    return rows.select(desired.columns)


def difference(
    desired: DataFrame, stored: DataFrame, identity: Sequence[str], layer: Layer
) -> DataFrame:
    """Desired rows that differ from the stored ones, and stored ones to remove.

    Adds lake_action and lake_was_open to the rows' columns.
    """
    both = joined(desired, stored, identity, layer)
    return both.select(
        F.coalesce("new", "old").alias("row"),
        "lake_action",
        F.coalesce("new_open", F.lit(False)).alias("lake_is_open"),
        F.coalesce("old_open", F.lit(False)).alias("lake_was_open"),
    ).select(
        *[F.col(f"row.{n}").alias(n) for n in desired.columns],
        "lake_action",
        "lake_is_open",
        "lake_was_open",
    )


def joined(
    desired: DataFrame, stored: DataFrame, identity: Sequence[str], layer: Layer
) -> DataFrame:
    """Desired and stored rows side by side, and by lake_action how they differ.

    Columns new and old (the whole rows), new_same and old_same (in the form that
    equality is defined on), new_open and old_open; null where there is no row.
    """
    sides = [
        _packed(rows, layer).select(
            F.col("row").alias(side),
            F.col("same").alias(f"{side}_same"),
            F.col("is_open").alias(f"{side}_open"),
        )
        for side, rows in (("new", desired), ("old", stored))
    ]
    same_row = [F.col(f"new.{n}").eqNullSafe(F.col(f"old.{n}")) for n in identity]
    action = (
        F.when(F.col("new").isNull(), REMOVED)
        .when(F.col("old").isNull(), INSERTED)
        .when(F.col("new_same").eqNullSafe(F.col("old_same")), SAME)
        .otherwise(CHANGED)
    )
    both = sides[0].join(sides[1], same_row, "full_outer")
    return both.withColumn("lake_action", action)


def _packed(rows: DataFrame, layer: Layer) -> DataFrame:
    written = [name for name in rows.columns if name not in layer.witnesses]
    same = F.struct(*[comparable(rows, name).alias(name) for name in written])
    return rows.select(
        F.struct(*rows.columns).alias("row"),
        same.alias("same"),
        layer.is_open.alias("is_open"),
    )


def _commit(
    table: HudiTable,
    layer: Layer,
    changes: DataFrame,
    events: TouchedEvents,
    metadata: Dict[str, str],
    must_be_open: Optional[int],
) -> Built:
    counts = _counts(changes, layer)
    _keeps_promises(layer, counts)
    rows, still_open = _counts_before(table, events)
    rows += counts[INSERTED] - counts[REMOVED]
    still_open += counts["opened"] - counts["closed"]
    _agrees(layer, still_open, must_be_open)
    said = {
        **metadata,
        LOG_INSTANT: events.log_instant,
        ROWS: str(rows),
        OPEN: str(still_open),
    }
    completed = layer.completed(changes)
    if counts[REMOVED]:
        layer.on_removed(completed)
    instant = table.write(_to_write(completed, layer), _operation(table, events), said)
    return Built(instant, rows, still_open, counts[INSERTED], counts["closed"])


def _counts_before(table: HudiTable, events: TouchedEvents) -> Tuple[int, int]:
    if events.since is None:
        return 0, 0
    return int(table.last_value(ROWS) or 0), int(table.last_value(OPEN) or 0)


def _operation(table: HudiTable, events: TouchedEvents) -> Operation:
    """The first build fills the table, a build of everything replaces it."""
    if not table.has_data():
        return Operation.BULK_INSERT
    return Operation.REPLACE if events.since is None else Operation.UPSERT


def _counts(changes: DataFrame, layer: Layer) -> Dict[str, Any]:
    actions = [
        F.count_if(F.col("lake_action") == action).alias(action)
        for action in (INSERTED, CHANGED, REMOVED)
    ]
    opened = F.count_if(F.expr("lake_is_open AND NOT lake_was_open")).alias("opened")
    closed = F.count_if(F.expr("lake_was_open AND NOT lake_is_open")).alias("closed")
    breaches = [
        F.when(F.expr(f"lake_action != '{REMOVED}' AND ({bad})"), F.col(KEY))
        for bad in layer.broken.values()
    ]
    broken = [F.count(b).alias(f"broken_{i}") for i, b in enumerate(breaches)]
    first = [F.min(b).alias(f"broken_key_{i}") for i, b in enumerate(breaches)]
    checked = layer.checked(changes)
    return checked.agg(*actions, opened, closed, *broken, *first).first().asDict()


def _keeps_promises(layer: Layer, counts: Dict[str, Any]) -> None:
    faults = [
        f"{promise}: {counts[f'broken_{i}']} row(s), as of key {counts[f'broken_key_{i}']}"
        for i, promise in enumerate(layer.broken)
        if counts[f"broken_{i}"]
    ]
    if faults:
        raise BrokenPromise(
            f"{layer.name} was not written, its rows break the contract: {'; '.join(faults)}"
        )


def _agrees(layer: Layer, still_open: int, must_be_open: Optional[int]) -> None:
    if must_be_open not in (None, still_open):
        raise BrokenPromise(
            f"{layer.name} was not written: it would have {still_open:,} open versions, "
            f"and current has {must_be_open:,} rows at the same commit of the change log. "
            "Build both anew from the change log: the domain's DAG <domain>_rebuild."
        )


def _to_write(changes: DataFrame, layer: Layer) -> DataFrame:
    return (
        changes.where(F.col("lake_action") != SAME)
        .withColumn(DELETED, F.col("lake_action") == REMOVED)
        .withColumn(DELETED, F.when(F.col(DELETED), True))
        .drop("lake_action", "lake_is_open", "lake_was_open", *layer.witnesses)
    )


def sightings_of(
    log: DataFrame, since: Optional[str], holds: Sequence[str]
) -> Tuple[DataFrame, DataFrame]:
    """(all live sightings of the touched keys, the touched keys) of a judged log.

    A key is touched when a sighting of it came, or became void, after that instant;
    by such a change of a row about every key all of them are. Keys whose rows changed
    their key are touched together. `holds` is that of the log's inputs.
    """
    live = withdrawals.live(log)
    if since is None:
        return live, live.select(KEY).distinct()
    moved = log.where(withdrawals.moved_after(log, since))
    if WIDE in holds and not moved.where(about_all_keys()).isEmpty():
        return live, log.select(KEY).distinct()
    keys = moved.select(KEY).distinct()
    if RENAMED in holds:
        keys = with_families(keys, live)
    return of_keys(live, keys, holds), keys


def of_keys(live: DataFrame, keys: DataFrame, holds: Sequence[str]) -> DataFrame:
    """The live sightings of those keys, and those about every key."""
    own = live.join(keys, KEY, "left_semi")
    return own.unionByName(live.where(about_all_keys())) if WIDE in holds else own
