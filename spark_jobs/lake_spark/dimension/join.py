"""Two histories as the states of their join: contract section 3.

A state is what is true of a key from an instant on: a row of the main table with
the row of the joined table of the same time. Written as events, states go the way of
every table: the fold drops what lasted zero seconds, joins equal neighbours and ends
versions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Sequence, Tuple

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lake_spec.model import HistoryColumns
from lake_spark.changelog.schema import DELETE, ENVELOPE, LogColumn, UPSERT
from lake_spark.scd2.events import KEY

_THERE = "lake_there"
_MAIN, _JOINED = "lake_main", "lake_joined"


@dataclass(frozen=True)
class Versions:
    """Rows of a history, and the columns to show: (its name, the name to show)."""

    rows: DataFrame
    added: HistoryColumns
    shown: Sequence[Tuple[str, str]]


def state_events(main: Versions, joined: Versions, key: Sequence[str]) -> DataFrame:
    """Return the events whose fold is the join of both histories.

    A delete wherever the main table has no row; nulls wherever only the joined one
    has none. Envelope, key, then the shown columns of both.
    """
    changes = _changes(main, key, _MAIN, 0).unionByName(
        _changes(joined, key, _JOINED, 2), allowMissingColumns=True
    )
    order = Window.partitionBy(KEY).orderBy(LogColumn.EFFECTIVE_AT, LogColumn.RECORD)
    so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    states = changes.withColumns(
        {n: F.last(n, ignorenulls=True).over(so_far) for n in (_MAIN, _JOINED)}
    )
    lives = F.coalesce(F.col(f"{_MAIN}.{_THERE}"), F.lit(False))
    values = [
        F.when(lives, F.col(side)[name]).alias(name)
        for side, versions in ((_MAIN, main), (_JOINED, joined))
        for _, name in versions.shown
    ]
    return states.select(*_envelope(lives), *key, *values)


def _changes(
    versions: Versions, key: Sequence[str], side: str, record: int
) -> DataFrame:
    """Return the side's state since each start and end, at one instant the start last."""
    added = versions.added
    values = [F.col(f"`{name}`").alias(shown) for name, shown in versions.shown]
    starts = F.struct(F.lit(True).alias(_THERE), *values)
    nothing = [F.when(F.lit(False), value).alias(n) for value, n in _named(versions)]
    ends = F.struct(F.lit(False).alias(_THERE), *nothing)
    changes = F.array(
        _change(F.col(added.valid_from), record + 1, starts),
        _change(F.col(added.valid_to), record, ends),
    )
    # An open version may have an end that means none.
    both = F.when(F.col(added.is_current), F.slice(changes, 1, 1)).otherwise(changes)
    living = versions.rows.where(~F.col(added.is_deleted))
    return living.select(KEY, *key, F.explode(both).alias("lake_change")).select(
        KEY,
        *key,
        F.col("lake_change.at").alias(LogColumn.EFFECTIVE_AT),
        F.col("lake_change.record").alias(LogColumn.RECORD),
        F.col("lake_change.state").alias(side),
    )


def _named(versions: Versions) -> Sequence[Tuple[Column, str]]:
    return [(F.col(f"`{name}`"), shown) for name, shown in versions.shown]


def _change(at: Column, record: int, state: Column) -> Column:
    number = F.lit(record).cast("bigint")
    return F.struct(at.alias("at"), number.alias("record"), state.alias("state"))


def _envelope(lives: Column) -> Sequence[Column]:
    """Return what the fold reads of a row of the change log."""
    known: Dict[str, Column] = {
        KEY: F.col(KEY),
        LogColumn.OP: F.when(lives, UPSERT).otherwise(DELETE),
        LogColumn.RANK: F.lit(1),
        LogColumn.EFFECTIVE_AT: F.col(LogColumn.EFFECTIVE_AT),
        LogColumn.SNAPSHOT_AT: F.col(LogColumn.EFFECTIVE_AT),
        LogColumn.RECORD: F.col(LogColumn.RECORD),
    }
    return [
        known.get(name, F.lit(None)).cast(kind).alias(name) for name, kind in ENVELOPE
    ]
