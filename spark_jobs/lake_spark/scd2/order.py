"""The total order of a key's events: contract 2.1 to 2.3."""

from __future__ import annotations

from typing import List

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lake_spec.model.envelopes import EVENT_TIME
from lake_spark.changelog import retractions
from lake_spark.changelog.schema import LogColumn
from lake_spark.scd2.events import KEY, Roles

EPOCH = "lake_epoch"
"""How often the source's log had started over before an event."""
FORMER = "lake_former"
"""The log of the event that one starts over from, and the commit that brought it."""


def total_order(roles: Roles) -> List[Column]:
    """Return full load first, then the declared order, then the position."""
    return [F.col(name).asc_nulls_first() for name in order_columns(roles)]


def newest_first(roles: Roles) -> List[Column]:
    """Return the total order from its end."""
    return [F.col(name).desc_nulls_last() for name in order_columns(roles)]


def order_columns(roles: Roles) -> List[str]:
    """Return the columns of the total order; of nulls it takes them as smallest."""
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
    time: its transaction was open when the snapshot was taken. Others belong to the
    last epoch of their log's name that began no later than their time. So it follows
    from the events of the key alone, whatever their arrival. Adds FORMER.

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
        f" lake_log AS log, struct({places}) AS place, {retractions.COMMIT} AS arrived) END"
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
    " THEN struct(lake_newest.log, lake_newest.arrived) END"
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
