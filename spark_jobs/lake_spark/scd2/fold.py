"""The fold: versions as a pure function of a key's events in their order.

Contract section 3. Every function takes and returns a DataFrame and works on all keys in
it at once; all windows are by key, so the rows are shuffled once. Columns that only the
fold needs stay until a table's rows are selected: Spark looks through the whole plan at
each step.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from lake_spec.model import HistoryDeletes, VersionedTable
from lake_spark.changelog.schema import DELETE, IS_LOAD, LogColumn, UPSERT
from lake_spark.scd2.events import KEY, Roles
from lake_spark.scd2.order import newest_first, total_order
from lake_spark.schema.equality import comparable, same_as_floats

FROM = "lake_from"
"""A version's start in microseconds since 1970: part of its record key."""


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
        .withColumn("lake_effective_final", F.max("lake_lowered").over(so_far))
    )


def last_events(events: DataFrame, roles: Roles) -> DataFrame:
    """Return the newest event of each key: what is true now."""
    newest = Window.partitionBy(KEY).orderBy(*newest_first(roles))
    return events.withColumn("lake_recency", F.row_number().over(newest)).where(
        "lake_recency = 1"
    )


def versions(events: DataFrame, spec: VersionedTable, roles: Roles) -> DataFrame:
    """Return the rows of history: lake_key, lake_from, from, to and the values.

    Takes events with lake_effective_final. Of events with one time the last counts; equal
    neighbours are one version; a delete ends a version and leaves a gap.
    """
    counting = _last_of_each_time(events, roles)
    spans = _spans(counting, roles)
    kinds = (
        [UPSERT] if spec.history.deletes is HistoryDeletes.CLOSE else [UPSERT, DELETE]
    )
    return spans.where(F.col(LogColumn.OP).isin(kinds))


def versions_of_single_events(events: DataFrame) -> DataFrame:
    """Return the same of events that are the only ones of their keys, from the log's rows.

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
    following = F.lead("lake_effective_final").over(order)
    # A delete before any upsert deletes nothing, so it leaves no marker.
    existed = F.max(F.col(LogColumn.OP) == UPSERT).over(so_far)
    marked = events.withColumns({"lake_following": following, "lake_existed": existed})
    is_last = "lake_following IS NULL OR lake_following > lake_effective_final"
    return marked.where(f"lake_existed AND ({is_last})")


def _spans(counting: DataFrame, roles: Roles) -> DataFrame:
    """Return runs of equal neighbours: from the first one's time to the next run's."""
    times = Window.partitionBy(KEY).orderBy("lake_effective_final")
    so_far = times.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    what = F.struct(F.col(LogColumn.OP), *comparable(counting, roles.tracked))
    numbered = (
        counting.withColumn("lake_version_values", _of_upserts(what))
        .withColumns(
            {
                "lake_before": F.lag("lake_version_values").over(times),
                "lake_first": F.row_number().over(times) == 1,
            }
        )
        .withColumn("lake_opens", F.col("lake_first") | ~_same(counting, times, roles))
        .withColumn("lake_span", F.sum(F.col("lake_opens").cast("int")).over(so_far))
    )
    return _bounded(numbered)


def _of_upserts(what: Column) -> Column:
    """Return an upsert's values, and null for all deletes, which are equal."""
    return F.when(F.col(LogColumn.OP) == UPSERT, what)


def _same(counting: DataFrame, times: WindowSpec, roles: Roles) -> Column:
    same = F.col("lake_version_values").eqNullSafe(F.col("lake_before"))
    if roles.narrow:
        floats = same_as_floats(counting, times, roles.tracked, roles.narrow)
        same |= floats
    return same


def _bounded(numbered: DataFrame) -> DataFrame:
    times = Window.partitionBy(KEY).orderBy("lake_effective_final")
    span = Window.partitionBy(KEY, "lake_span")
    last_first = span.orderBy(F.col("lake_effective_final").desc())
    return (
        numbered.withColumns(
            {
                "lake_starts": F.min("lake_effective_final").over(span),
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
    )
