"""A key that several scope values have: contract sections 4 and 6.

Each scope value has its own history of a key. The key lives as long as one of
them has it, and the row that arrived last among those that have it counts.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lake_spark.changelog.schema import DELETE, LogColumn, UPSERT
from lake_spark.scd2.events import KEY, Roles


def standing_events(events: DataFrame, scope: str, roles: Roles) -> DataFrame:
    """Return the events, with each scope value's deletes as what they mean for the key.

    Where another value has the key too, a delete brings that row back, or is
    left out if that row counted already.
    """
    key = Window.partitionBy(KEY)
    # What a value has is noted before what another one has no more.
    upserts_first = [F.col(LogColumn.RANK), *map(F.col, roles.order)]
    upserts_first.append(F.col(LogColumn.OP).desc())
    order = key.orderBy(*upserts_first, LogColumn.POSITION, LogColumn.RECORD)
    so_far = key.orderBy(LogColumn.RANK, *roles.order).rangeBetween(
        Window.unboundedPreceding, Window.currentRow
    )
    event = F.struct(
        F.col(scope).alias("scope"),
        F.col(LogColumn.OP).alias("op"),
        F.col(LogColumn.SNAPSHOT_AT).alias("at"),
        F.col("lake_event_number").alias("nth"),
    )
    # Only deletes look back, so most keys carry nothing.
    has_deletes = F.max(F.col(LogColumn.OP) == DELETE).over(key)
    before = f"filter(lake_so_far, t -> t.op = '{UPSERT}' OR t.at < lake_snapshot_at)"
    judged = (
        events.withColumn("lake_event_number", F.row_number().over(order))
        .withColumn(
            "lake_so_far", F.collect_list(F.when(has_deletes, event)).over(so_far)
        )
        .withColumn("lake_earlier", F.expr(before))
        .withColumn("lake_stood", F.expr(_standing("lake_earlier")))
        .withColumn("lake_stands", F.expr(_standing("lake_so_far")))
        .drop("lake_so_far", "lake_earlier")
    )
    is_delete = F.col(LogColumn.OP) == DELETE
    kept = judged.where(~is_delete | F.col("lake_stands").isNull())
    back = judged.where(is_delete & (F.col("lake_stands") != F.col("lake_stood")))
    values = judged.select(
        KEY, F.col("lake_event_number").alias("lake_stands"), *roles.values
    )
    restored = (
        back.drop(*roles.values)
        .join(values, [KEY, "lake_stands"])
        .withColumn(LogColumn.OP, F.lit(UPSERT))
    )
    return kept.unionByName(restored).drop(
        "lake_event_number", "lake_stood", "lake_stands"
    )


def _standing(events: str) -> str:
    """Return SQL: which event's row counts after these; null where no value has the key."""
    later = f"exists({events}, other -> other.scope = e.scope AND other.nth > e.nth)"
    living = f"filter({events}, e -> e.op = '{UPSERT}' AND NOT {later})"
    return f"array_max(transform({living}, e -> e.nth))"
