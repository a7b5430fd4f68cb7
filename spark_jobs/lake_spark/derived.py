"""Current and history: tables that are functions of the change log.

Both follow one way: find the keys that the log touched since the table was
last built, fold their events, compare with the stored rows, write the
difference as one commit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Dict, Optional, Sequence, Tuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lake_spec.hudi_options import Operation
from lake_spark.errors import BrokenPromise
from lake_spark.fold import KEY, comparable
from lake_spark.hudi_table import DELETED, HudiTable, without_hudi_columns

LOG_INSTANT = "log_instant"
ROWS, OPEN = "rows", "open"

INSERTED, CHANGED, REMOVED, SAME = "inserted", "changed", "removed", "same"


@dataclass(frozen=True)
class Layer:
    """What tells current from history.

    `is_open` is the column that marks rows which are true now; `broken` names
    promises and the SQL that is true for rows which break them; `checked` adds
    what that SQL needs.
    """

    name: str
    record_key: Tuple[str, ...]
    desired: Callable[[DataFrame], DataFrame]
    is_open: Column
    broken: Dict[str, str] = field(default_factory=dict)
    checked: Callable[[DataFrame], DataFrame] = lambda rows: rows


@dataclass(frozen=True)
class Built:
    """What a build did: counts of rows and the instant of its commit."""

    instant: Optional[str]
    rows: int
    open: int
    inserted: int = 0
    removed: int = 0
    closed: int = 0


@dataclass(frozen=True)
class TouchedEvents:
    """Events of the keys that the log touched after an instant (all if None)."""

    distinct: DataFrame
    keys: DataFrame
    since: Optional[str]
    log_instant: str


def build(
    table: HudiTable,
    layer: Layer,
    events: TouchedEvents,
    *,
    partition_by: Sequence[str] = (),
    metadata: Dict[str, str],
) -> Built:
    """Bring the table up to the log; nothing is written when it already is."""
    desired = layer.desired(events.distinct)
    stored = _stored(table, events, desired)
    identity = list(dict.fromkeys((*layer.record_key, *partition_by)))
    changes = difference(desired, stored, identity, layer).persist()
    try:
        return _commit(table, layer, changes, events, metadata)
    finally:
        changes.unpersist()


def _stored(table: HudiTable, events: TouchedEvents, desired: DataFrame) -> DataFrame:
    if events.since is None:
        return desired.limit(0)
    stored = without_hudi_columns(table.read())
    for name, kind in desired.dtypes:
        if name not in stored.columns:
            stored = stored.withColumn(name, F.lit(None).cast(kind))
    return stored.join(events.keys, KEY, "left_semi").select(desired.columns)


def difference(
    desired: DataFrame, stored: DataFrame, identity: Sequence[str], layer: Layer
) -> DataFrame:
    """Desired rows that differ from the stored ones, and stored ones to remove.

    Adds lake_action and lake_was_open to the rows' columns.
    """
    names = desired.columns
    new, old = _packed(desired, layer), _packed(stored, layer)
    same_row = [
        F.col(f"new.row.{n}").eqNullSafe(F.col(f"old.row.{n}")) for n in identity
    ]
    joined = new.alias("new").join(old.alias("old"), same_row, "full_outer")
    action = (
        F.when(F.col("new.row").isNull(), REMOVED)
        .when(F.col("old.row").isNull(), INSERTED)
        .when(F.col("new.same").eqNullSafe(F.col("old.same")), SAME)
        .otherwise(CHANGED)
    )
    return joined.select(
        F.coalesce("new.row", "old.row").alias("row"),
        action.alias("lake_action"),
        F.coalesce("new.is_open", F.lit(False)).alias("lake_is_open"),
        F.coalesce("old.is_open", F.lit(False)).alias("lake_was_open"),
    ).select(
        *[F.col(f"row.{n}").alias(n) for n in names],
        "lake_action",
        "lake_is_open",
        "lake_was_open",
    )


def _packed(rows: DataFrame, layer: Layer) -> DataFrame:
    same = F.struct(*[comparable(rows, name).alias(name) for name in rows.columns])
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
) -> Built:
    counts = _counts(changes, layer)
    _keeps_promises(layer, counts)
    rows, still_open = _counts_before(table, events)
    rows += counts[INSERTED] - counts[REMOVED]
    still_open += counts["opened"] - counts["closed"]
    said = {
        **metadata,
        LOG_INSTANT: events.log_instant,
        ROWS: str(rows),
        OPEN: str(still_open),
    }
    instant = table.write(_to_write(changes), _operation(table, events), said)
    return Built(
        instant, rows, still_open, counts[INSERTED], counts[REMOVED], counts["closed"]
    )


def _counts_before(table: HudiTable, events: TouchedEvents) -> Tuple[int, int]:
    if events.since is None:
        return 0, 0
    return int(table.last_value(ROWS) or 0), int(table.last_value(OPEN) or 0)


def _operation(table: HudiTable, events: TouchedEvents) -> Operation:
    """The first build fills the table, a build of everything replaces it."""
    if not table.has_data():
        return Operation.BULK_INSERT
    return Operation.REPLACE if events.since is None else Operation.UPSERT


def _counts(changes: DataFrame, layer: Layer) -> Dict[str, int]:
    actions = [
        F.count_if(F.col("lake_action") == action).alias(action)
        for action in (INSERTED, CHANGED, REMOVED)
    ]
    opened = F.count_if(F.expr("lake_is_open AND NOT lake_was_open")).alias("opened")
    closed = F.count_if(F.expr("lake_was_open AND NOT lake_is_open")).alias("closed")
    broken = [
        F.count_if(F.expr(f"lake_action != '{REMOVED}' AND ({bad})")).alias(
            f"broken_{i}"
        )
        for i, bad in enumerate(layer.broken.values())
    ]
    checked = layer.checked(changes)
    return checked.agg(*actions, opened, closed, *broken).first().asDict()


def _keeps_promises(layer: Layer, counts: Dict[str, int]) -> None:
    faults = [
        f"{promise}: {counts[f'broken_{i}']} row(s)"
        for i, promise in enumerate(layer.broken)
        if counts[f"broken_{i}"]
    ]
    if faults:
        raise BrokenPromise(
            f"{layer.name} was not written, its rows break the contract: {'; '.join(faults)}"
        )


def _to_write(changes: DataFrame) -> DataFrame:
    return (
        changes.where(F.col("lake_action") != SAME)
        .withColumn(DELETED, F.col("lake_action") == REMOVED)
        .withColumn(DELETED, F.when(F.col(DELETED), True))
        .drop("lake_action", "lake_is_open", "lake_was_open")
    )


def touched_keys(log: DataFrame, since: Optional[str]) -> DataFrame:
    """The keys that have a row in the log after that instant."""
    rows = log if since is None else log.where(F.col("_hoodie_commit_time") > since)
    return rows.select(KEY).distinct()


def sightings_of(log: DataFrame, since: Optional[str]) -> Tuple[DataFrame, DataFrame]:
    """(all sightings of the touched keys, the touched keys)."""
    keys = touched_keys(log, since)
    if since is None:
        return log, keys
    return log.join(keys, KEY, "left_semi"), keys
