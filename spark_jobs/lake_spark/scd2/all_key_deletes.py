"""Deletes of every key: truncates, and what a full refresh lacks.

Contract sections 1 and 2.3. Such an event is one row of the log under ALL_KEYS;
the fold turns it into a delete of each key that had an event before it, also of
a key whose earlier event arrives later.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lake_spec.model import VersionedTable
from lake_spark.changelog.schema import (
    ALL_KEYS,
    DELETE,
    LogColumn,
    FULL_REFRESH,
    TRUNCATE,
)
from lake_spark.scd2.events import KEY, Roles
from lake_spark.scd2.order import order_columns

OPERATIONS = (TRUNCATE, FULL_REFRESH)
"""What a row about every key can say of them."""


def about_all_keys() -> Column:
    """Return whether a row of the log is a delete of every key."""
    return (F.col(KEY) == ALL_KEYS) & F.col(LogColumn.OP).isin(*OPERATIONS)


def with_deletes_of_all(
    events: DataFrame, roles: Roles, spec: VersionedTable
) -> DataFrame:
    """Return the events of each key, and a delete for each event about all that hits it.

    It hits the keys whose first event is before it; a full refresh spares those
    that it has. Where a log may start over, only all events of a key say what is
    before what, so it hits all: a delete before the first event deletes nothing.
    """
    own = events.where(F.col(KEY) != ALL_KEYS)
    place = F.struct(*order_columns(replace(roles, restarts=False)))
    keys = own.groupBy(KEY).agg(
        F.min(place).alias("lake_first"),
        F.collect_set(LogColumn.STARTED).alias("lake_full_refresh"),
        *[F.first(name).alias(name) for name in spec.key],
    )
    wide = events.where(about_all_keys()).drop(KEY, *spec.key)
    after = F.col("lake_place") > F.col("lake_first")
    after = F.lit(True) if roles.restarts else after
    spared = F.expr(
        f"lake_op = '{FULL_REFRESH}' AND array_contains(lake_full_refresh, lake_started)"
    )
    hit = keys.join(
        F.broadcast(wide.withColumn("lake_place", place)), after & ~spared
    ).withColumns({LogColumn.OP: F.lit(DELETE), LogColumn.STARTED: F.lit(None)})
    return own.unionByName(hit.select(own.columns))
