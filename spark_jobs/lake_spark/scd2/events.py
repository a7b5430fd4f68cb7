"""The change events of a key: which deliveries are one, and what plays which part.

Contract section 2. Every function takes and returns a DataFrame and works on all keys in
it at once; all windows are by key, so the rows are shuffled once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence, Tuple

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from lake_spec.facts.clock_times import clock_columns
from lake_spec.model import FeedTable, VersionedTable
from lake_spec.model.envelopes import LOG_POSITIONS
from lake_spec.text.clocks import doubled_hours
from lake_spec.text.sql_text import sql_identifier
from lake_spark.changelog import retractions
from lake_spark.changelog.schema import LogColumn, started
from lake_spark.schema.equality import comparable
from lake_spark.schema.timestamps import rank_of_clock

KEY = LogColumn.KEY


@dataclass(frozen=True)
class Roles:
    """Which of the table's columns play which part in the fold."""

    values: Tuple[str, ...]
    tracked: Tuple[str, ...]
    declared: Tuple[str, ...]
    """The declared order."""
    order: Tuple[str, ...]
    """Where that is in the rows: see _with_order."""
    narrow: Tuple[str, ...] = ()
    """Paths of doubles that arrived as floats in some rows."""
    restarts: bool = False
    """Whether the order is that of a log, which may start over: see with_epochs."""
    refreshes: bool = False
    """Whether rows of a full refresh stand where it started."""
    by_clock: Tuple[str, ...] = ()
    """Columns of the order that may be of a clock that is set back."""
    zone: str = "UTC"
    """Of that clock."""

    @classmethod
    def of(
        cls, spec: VersionedTable, columns: Sequence[str], narrow: Sequence[str] = ()
    ) -> "Roles":
        """Return the roles of a table that has these columns in its log."""
        declared = spec.order_by or (LogColumn.SNAPSHOT_AT,)
        refreshes, (by_clock, zone) = bool(spec.full_refresh), _by_clock(spec)
        return cls(
            values=tuple(columns),
            tracked=tracked_columns(spec, columns),
            declared=declared,
            order=tuple(
                f"lake_order_{name}" if refreshes or name in by_clock else name
                for name in declared
            ),
            narrow=tuple(narrow),
            restarts=may_restart(spec),
            refreshes=refreshes,
            by_clock=by_clock,
            zone=zone,
        )


def _by_clock(spec: VersionedTable) -> Tuple[Tuple[str, ...], str]:
    """Return columns of the order that may be of a clock that was set back, and its zone."""
    if isinstance(spec, FeedTable) and doubled_hours(spec.source.timezone):
        if columns := clock_columns(spec, spec.order_by):
            return columns, spec.source.timezone
    return (), "UTC"


def may_restart(spec: VersionedTable) -> bool:
    """Return whether the table's order is positions in a log, which may start over."""
    envelope = spec.envelope
    return envelope is not None and spec.order_by == LOG_POSITIONS[envelope.connector]


def tracked_columns(spec: VersionedTable, columns: Sequence[str]) -> Tuple[str, ...]:
    """Return columns whose change opens a version."""
    if spec.history.track:
        return tuple(c for c in columns if c in spec.history.track)
    untracked = {*spec.key, *spec.order_by, *spec.history.ignore, spec.effective_at}
    return tuple(c for c in columns if c not in untracked)


def mark_events(
    deliveries: DataFrame, roles: Roles, then: Optional[str] = None
) -> DataFrame:
    """Mark which deliveries are one event: contract 2.4.

    Adds lake_event_copy, 1 where an event is (its smallest position), and
    lake_arrival, 1 for the delivery of it that the log ingested first; and the
    columns of the order. With an earlier commit, `then`, also lake_event_copy_then, for
    little more than the marks alone: what lake_event_copy would be of the deliveries up to
    it, null for later ones.
    """
    # Whoever shuffles by what an event is compares all its columns with all, to plan it.
    deliveries = _with_order(deliveries, roles).repartition(KEY)
    in_log = [LogColumn.LOG] if LogColumn.LOG in deliveries.columns else []
    values = dict.fromkeys(roles.declared + roles.values)
    same = [F.col(name) for name in (*_SAME, *in_log)]
    same += comparable(deliveries, values)
    nth = Window.partitionBy(*same, LogColumn.PATH, LogColumn.ETAG).orderBy(
        LogColumn.RECORD
    )
    event = Window.partitionBy(*same, "lake_copy_in_file")
    position = event.orderBy(LogColumn.POSITION, LogColumn.RECORD)
    arrival = event.orderBy("_hoodie_commit_time", LogColumn.POSITION, LogColumn.RECORD)
    marks = {
        "lake_event_copy": F.row_number().over(position),
        "lake_arrival": F.row_number().over(arrival),
    }
    if then is not None:
        so_far = position.rowsBetween(Window.unboundedPreceding, Window.currentRow)
        came_by_then = ~retractions.arrived_after(then)
        nth_then = F.count_if(came_by_then).over(so_far)
        marks["lake_event_copy_then"] = F.when(came_by_then, nth_then)
    numbered = deliveries.withColumn("lake_copy_in_file", F.row_number().over(nth))
    return numbered.withColumns(marks).drop("lake_copy_in_file")


def marked_then(marked: DataFrame) -> DataFrame:
    """Return the deliveries marked as if there were none after the commit that marked them.

    Not of a log with retracted files: where all deliveries of a file are of one commit,
    its copies of an event are numbered alike in both.
    """
    return marked.withColumn("lake_event_copy", F.col("lake_event_copy_then"))


_MARKS = ("lake_event_copy", "lake_arrival", "lake_event_copy_then")

_SAME = (
    KEY,
    LogColumn.OP,
    LogColumn.RANK,
    LogColumn.EFFECTIVE_AT,
    LogColumn.STARTED,
    LogColumn.UNAVAILABLE,
)
"""What deliveries of one event have in common, next to their values."""


def _with_order(deliveries: DataFrame, roles: Roles) -> DataFrame:
    """Return the columns to sort by, where they are not the declared ones themselves.

    A full refresh's rows are where it started; times of an hour that a clock shows twice
    are one, so that the position decides.
    """
    for declared, name in zip(roles.declared, roles.order):
        if declared == name:
            continue
        kind, place = deliveries.schema[declared].dataType, F.col(declared)
        if roles.refreshes:
            start = F.expr(started(declared)).cast(kind)
            place = F.when(F.col(LogColumn.STARTED).isNotNull(), start).otherwise(place)
        deliveries = deliveries.withColumn(name, place)
        if declared in roles.by_clock and isinstance(kind, TimestampType):
            ranked = rank_of_clock(sql_identifier(name), roles.zone)
            deliveries = deliveries.withColumn(name, F.expr(ranked))
    return deliveries


def distinct_events(marked: DataFrame) -> DataFrame:
    """Return one row per event, at its place in the order."""
    return marked.where("lake_event_copy = 1").drop(*_MARKS)
