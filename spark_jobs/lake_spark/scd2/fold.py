"""The fold: current and history as pure functions of a key's events.

Contract sections 2 and 3. Every function takes and returns a DataFrame and
works on all keys in it at once; all windows are by key, so the rows are
shuffled once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from lake_spec.model import HistoryDeletes, TableSpec
from lake_spec.model.envelopes import EVENT_TIME, LOG_POSITIONS
from lake_spark.changelog import withdrawals
from lake_spark.changelog.schema import DELETE, IS_LOAD, LogColumn, started, UPSERT
from lake_spark.schema.equality import comparable, same_as_floats

KEY = LogColumn.KEY
EPOCH = "lake_epoch"
"""How often the source's log had started over before an event."""
FORMER = "lake_former"
"""The log of the event that one starts over from, and the commit that brought it."""
FROM = "lake_from"
"""A version's start in microseconds since 1970: part of its record key."""


@dataclass(frozen=True)
class Roles:
    """Which of the table's columns play which part in the fold."""

    values: Tuple[str, ...]
    tracked: Tuple[str, ...]
    declared: Tuple[str, ...]
    """The declared order."""
    order: Tuple[str, ...]
    """Where that is in the rows: a reload's stand where it started."""
    narrow: Tuple[str, ...] = ()
    """Paths of doubles that came as floats in some rows."""
    restarts: bool = False
    """Whether the order is that of a log, which may start over: see with_epochs."""

    @classmethod
    def of(
        cls, spec: TableSpec, columns: Sequence[str], narrow: Sequence[str] = ()
    ) -> "Roles":
        """The roles of a table that has these columns in its log."""
        declared = spec.order_by or (LogColumn.EXTRACT_AT,)
        reloads = spec.reloads
        order = (
            tuple(f"lake_order_{name}" for name in declared) if reloads else declared
        )
        tracked = tracked_columns(spec, columns)
        return cls(
            tuple(columns), tracked, declared, order, tuple(narrow), may_restart(spec)
        )


def may_restart(spec: TableSpec) -> bool:
    """Whether the table's order is positions in a log, which may start over."""
    envelope = spec.envelope
    return envelope is not None and spec.order_by == LOG_POSITIONS[envelope.connector]


def tracked_columns(spec: TableSpec, columns: Sequence[str]) -> Tuple[str, ...]:
    """Columns whose change opens a version."""
    if spec.history.track:
        return tuple(c for c in columns if c in spec.history.track)
    untracked = {*spec.key, *spec.order_by, *spec.history.ignore, spec.effective_at}
    return tuple(c for c in columns if c not in untracked)


def mark_events(
    sightings: DataFrame, roles: Roles, then: Optional[str] = None
) -> DataFrame:
    """Tell which sightings are one event: contract 2.4.

    Adds lake_seen, 1 where an event stands (its smallest position), and
    lake_arrival, 1 for the sighting of it that the log took in first; and the
    columns of the order. With an earlier commit, `then`, also lake_seen_then, for
    little more than the marks alone: what lake_seen would be of the sightings up to
    it, null for later ones.
    """
    sightings = _with_order(sightings, roles)
    in_log = [LogColumn.LOG] if LogColumn.LOG in sightings.columns else []
    same = [F.col(name) for name in (*_SAME, *in_log)] + [
        comparable(sightings, name)
        for name in dict.fromkeys(roles.declared + roles.values)
    ]
    nth = Window.partitionBy(*same, LogColumn.PATH, LogColumn.ETAG).orderBy(
        LogColumn.RECORD
    )
    event = Window.partitionBy(*same, "lake_nth")
    position = event.orderBy(LogColumn.POSITION, LogColumn.RECORD)
    arrival = event.orderBy("_hoodie_commit_time", LogColumn.POSITION, LogColumn.RECORD)
    marks = {
        "lake_seen": F.row_number().over(position),
        "lake_arrival": F.row_number().over(arrival),
    }
    if then is not None:
        so_far = position.rowsBetween(Window.unboundedPreceding, Window.currentRow)
        came_by_then = ~withdrawals.came_after(then)
        nth_then = F.count_if(came_by_then).over(so_far)
        marks["lake_seen_then"] = F.when(came_by_then, nth_then)
    numbered = sightings.withColumn("lake_nth", F.row_number().over(nth))
    return numbered.withColumns(marks).drop("lake_nth")


def marked_then(marked: DataFrame) -> DataFrame:
    """The sightings marked as if there were none after the commit they were marked with.

    Not of a log with withdrawn files: where all sightings of a file are of one commit,
    its copies of an event are numbered alike in both.
    """
    return marked.withColumn("lake_seen", F.col("lake_seen_then"))


_MARKS = ("lake_seen", "lake_arrival", "lake_seen_then")

_SAME = (
    KEY,
    LogColumn.OP,
    LogColumn.RANK,
    LogColumn.EFFECTIVE_AT,
    LogColumn.STARTED,
    LogColumn.UNAVAILABLE,
)
"""What sightings of one event have in common, beside their values."""


def _with_order(sightings: DataFrame, roles: Roles) -> DataFrame:
    """The columns to sort by, where they are not the declared ones themselves."""
    for declared, name in zip(roles.declared, roles.order):
        if declared != name:
            kind = sightings.schema[declared].dataType
            start = F.expr(started(declared)).cast(kind)
            of_reload = F.col(LogColumn.STARTED).isNotNull()
            place = F.when(of_reload, start).otherwise(F.col(declared))
            sightings = sightings.withColumn(name, place)
    return sightings


def distinct_events(marked: DataFrame) -> DataFrame:
    """One row per event, where it stands in the order."""
    return marked.where("lake_seen = 1").drop(*_MARKS)


def total_order(roles: Roles) -> List[Column]:
    """Full load first, then the declared order, then the position."""
    return [F.col(name).asc_nulls_first() for name in order_columns(roles)]


def newest_first(roles: Roles) -> List[Column]:
    """The total order from its end."""
    return [F.col(name).desc_nulls_last() for name in order_columns(roles)]


def order_columns(roles: Roles) -> List[str]:
    """The columns of the total order; of nulls it takes them as smallest."""
    epoch = [EPOCH] if roles.restarts else []
    return [LogColumn.RANK, *epoch, *roles.order, LogColumn.POSITION, LogColumn.RECORD]


def with_epochs(events: DataFrame, roles: Roles) -> DataFrame:
    """Add EPOCH, by which an order that started over ranks after the former.

    Contract 2.1. The events of a key are gone through by their positions, and each is
    compared with the newest change before it, or snapshot row if there is no change.
    It starts a new epoch where its log has a name that the key has not had, unless its
    time is over a minute before; where it has another name and a time that is not
    before; or where its place in the log is before although its time is over a minute
    after. So does a change whose place is before that of a snapshot row, but not its
    time: its transaction was open when the snapshot was taken. Others belong to the last epoch
    of their log's name that began no later than their time. So it follows from the
    events of the key alone, whatever their arrival. Adds FORMER.

    For example, by position: bin.9, bin.10, log.1, bin.10 (a late file), log.2 give
    the epochs 0, 0, 1, 0, 1.
    """
    if not roles.restarts:
        return events
    if LogColumn.LOG not in events.columns:
        events = events.withColumn(LogColumn.LOG, F.lit(None).cast("string"))
    known = " AND ".join(f"{name} IS NOT NULL" for name in roles.declared)
    place = Window.partitionBy(KEY).orderBy(LogColumn.POSITION, LogColumn.RECORD)
    before = place.rowsBetween(Window.unboundedPreceding, -1)
    so_far = place.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    places = ", ".join(roles.declared)
    facts = (
        f"CASE WHEN lake_rank > 0 AND {known} THEN struct("
        f"lake_started IS NULL AS is_change, {EVENT_TIME} AS at, lake_position, lake_record,"
        f" lake_log AS log, struct({places}) AS place, {withdrawals.COMMIT} AS came) END"
    )
    marked = (
        events.withColumn("lake_fact", F.expr(facts))
        .withColumns(
            {
                "lake_newest": F.max("lake_fact").over(before),
                "lake_read": F.max(F.expr(_READ)).over(before),
                "lake_logs": F.collect_set("lake_fact.log").over(before),
            }
        )
        .withColumn(FORMER, F.expr(_FORMER))
        .withColumn(EPOCH, F.sum(F.col(FORMER).isNotNull().cast("int")).over(so_far))
        .withColumn("lake_starts", F.collect_list(F.expr(_START)).over(so_far))
        .withColumn(EPOCH, F.expr(_OWN_EPOCH))
    )
    return marked.drop(
        "lake_fact", "lake_newest", "lake_read", "lake_logs", "lake_starts"
    )


_READ = "CASE WHEN NOT lake_fact.is_change THEN lake_fact END"
_OTHER = "lake_fact.log != lake_newest.log"
_LONG_BEFORE = (
    "lake_newest.is_change AND lake_fact.at < lake_newest.at - INTERVAL 1 MINUTE"
)
_FORMER = (
    f"CASE WHEN ({_OTHER} AND (lake_fact.at >= lake_newest.at OR NOT"
    f" (array_contains(lake_logs, lake_fact.log) OR coalesce({_LONG_BEFORE}, false))))"
    f" OR (NOT coalesce({_OTHER}, false) AND lake_fact.place < lake_newest.place"
    " AND lake_fact.at > lake_newest.at + INTERVAL 1 MINUTE)"
    " OR (lake_fact.is_change AND lake_fact.at >= lake_read.at"
    " AND lake_fact.place < lake_read.place)"
    " THEN struct(lake_newest.log, lake_newest.came) END"
)
_START = (
    f"CASE WHEN lake_fact IS NOT NULL AND (lake_newest IS NULL OR {FORMER} IS NOT NULL)"
    f" THEN struct({EPOCH} AS epoch, lake_fact.at AS at, lake_fact.log AS log) END"
)
_OF_LOG = "filter(lake_starts, x -> x.log <=> lake_fact.log)"
_BEGUN = "filter(lake_starts, x -> x.log <=> lake_fact.log AND x.at <= lake_fact.at)"
_OWN_EPOCH = (
    f"CASE WHEN lake_fact IS NULL OR {FORMER} IS NOT NULL THEN {EPOCH} ELSE coalesce("
    f"try_element_at({_BEGUN}, -1).epoch, try_element_at({_OF_LOG}, 1).epoch, -1) END"
)


def with_effective_times(events: DataFrame, roles: Roles) -> DataFrame:
    """Let effective times never go back along the order: contract 3.

    From the end, a full-load row is lowered to its successor's; then, from the
    start, each event is raised to its predecessor's.
    """
    order = Window.partitionBy(KEY).orderBy(*total_order(roles))
    before = order.rowsBetween(Window.unboundedPreceding, -1)
    to_next_change = (
        Window.partitionBy(KEY, "lake_run_of_loads")
        .orderBy(*total_order(roles))
        .rowsBetween(Window.currentRow, Window.unboundedFollowing)
    )
    so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    is_change = F.when(F.expr(IS_LOAD), 0).otherwise(1)
    changes_before = F.coalesce(F.sum(is_change).over(before), F.lit(0))
    return (
        events.withColumn("lake_run_of_loads", changes_before)
        .withColumn("lake_lowered", F.min(LogColumn.EFFECTIVE_AT).over(to_next_change))
        .withColumn("lake_since", F.max("lake_lowered").over(so_far))
        .drop("lake_run_of_loads", "lake_lowered")
    )


def last_events(events: DataFrame, roles: Roles) -> DataFrame:
    """The newest event of each key: what is true now."""
    newest = Window.partitionBy(KEY).orderBy(*newest_first(roles))
    return (
        events.withColumn("lake_age", F.row_number().over(newest))
        .where("lake_age = 1")
        .drop("lake_age")
    )


def versions(events: DataFrame, spec: TableSpec, roles: Roles) -> DataFrame:
    """The rows of history: lake_key, lake_from, from, to and the values.

    Takes events with lake_since. Of events with one time the last counts; equal
    neighbours are one version; a delete ends a version and leaves a gap.
    """
    counting = _last_of_each_time(events, roles)
    spans = _spans(counting, roles)
    kinds = (
        [UPSERT] if spec.history.deletes is HistoryDeletes.CLOSE else [UPSERT, DELETE]
    )
    return spans.where(F.col(LogColumn.OP).isin(kinds))


def versions_of_alone(events: DataFrame) -> DataFrame:
    """The same of events that are the only ones of their keys, from the log's rows.

    An upsert is a version without an end, and a delete deletes nothing.
    """
    return events.where(F.col(LogColumn.OP) == UPSERT).withColumns(
        {
            "lake_starts": F.col(LogColumn.EFFECTIVE_AT),
            "lake_ends": F.lit(None).cast("timestamp"),
            FROM: F.unix_micros(LogColumn.EFFECTIVE_AT),
        }
    )


def _last_of_each_time(events: DataFrame, roles: Roles) -> DataFrame:
    order = Window.partitionBy(KEY).orderBy(*total_order(roles))
    so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    following = F.lead("lake_since").over(order)
    # A delete before any upsert deletes nothing, so it leaves no marker.
    existed = F.max(F.col(LogColumn.OP) == UPSERT).over(so_far)
    return (
        events.withColumns({"lake_following": following, "lake_existed": existed})
        .where("lake_following IS NULL OR lake_following > lake_since")
        .where("lake_existed")
        .drop("lake_existed")
    )


def _spans(counting: DataFrame, roles: Roles) -> DataFrame:
    """Runs of equal neighbours: from the first one's time to the next run's."""
    times = Window.partitionBy(KEY).orderBy("lake_since")
    so_far = times.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    tracked = [comparable(counting, name).alias(name) for name in roles.tracked]
    what = F.struct(F.col(LogColumn.OP), *tracked)
    numbered = (
        counting.withColumn("lake_what", _of_upserts(what))
        .withColumns(
            {
                "lake_before": F.lag("lake_what").over(times),
                "lake_first": F.row_number().over(times) == 1,
            }
        )
        .withColumn("lake_opens", F.col("lake_first") | ~_same(counting, times, roles))
        .withColumn("lake_span", F.sum(F.col("lake_opens").cast("int")).over(so_far))
    )
    return _bounded(
        numbered.drop("lake_what", "lake_before", "lake_first", "lake_opens")
    )


def _of_upserts(what: Column) -> Column:
    """Consecutive deletes are equal whatever values they carry: null stands for all."""
    return F.when(F.col(LogColumn.OP) == UPSERT, what)


def _same(counting: DataFrame, times: WindowSpec, roles: Roles) -> Column:
    same = F.col("lake_what").eqNullSafe(F.col("lake_before"))
    if roles.narrow:
        floats = same_as_floats(counting, times, roles.tracked, roles.narrow)
        same |= floats
    return same


def _bounded(numbered: DataFrame) -> DataFrame:
    times = Window.partitionBy(KEY).orderBy("lake_since")
    span = Window.partitionBy(KEY, "lake_span")
    last_first = span.orderBy(F.col("lake_since").desc())
    return (
        numbered.withColumns(
            {
                "lake_starts": F.min("lake_since").over(span),
                "lake_latest": F.row_number().over(last_first),
            }
        )
        .where("lake_latest = 1")
        .withColumns(
            {
                "lake_ends": F.lead("lake_starts").over(times),
                FROM: F.unix_micros("lake_starts"),
            }
        )
        .drop("lake_latest", "lake_span", "lake_following")
    )
