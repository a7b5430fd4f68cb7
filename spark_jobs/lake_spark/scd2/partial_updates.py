"""Values that the source did not send: each is the one before it. Contract section 7."""

from __future__ import annotations

from typing import List, Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lake_spark.changelog.schema import DELETE, LogColumn
from lake_spark.scd2.events import KEY, Roles
from lake_spark.scd2.key_changes import LIFE, with_joined_lives
from lake_spark.scd2.order import total_order

UNRESOLVED = "lake_unresolved"
"""How many values of an upsert had nothing before them to be taken from."""


def with_values_before(
    events: DataFrame,
    roles: Roles,
    dropped: Sequence[str] = (),
    *,
    renamed: bool = False,
) -> DataFrame:
    """Fill values not sent with the last one before in the order; add UNRESOLVED.

    Not across a delete, but for the create of a key change, if there are any
    (`renamed`); with nothing before, the value is null. A new key has none in a
    dropped column: that is not counted.
    """
    order = Window.partitionBy(KEY).orderBy(*total_order(roles))
    so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    deletes = F.sum((F.col(LogColumn.OP) == DELETE).cast("int")).over(so_far)
    lives = events.withColumn(LIFE, deletes)
    lives = with_joined_lives(lives, roles) if renamed else lives
    life = (
        Window.partitionBy(*(() if renamed else (KEY,)), LIFE)
        .orderBy(*total_order(roles))
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    names = [name for name in _not_sent(events) if name in events.columns]
    before = {name: F.last(_sent(name), ignorenulls=True).over(life) for name in names}
    nothing = [
        (_is_missing(name) & before[name].isNull()).cast("int")
        for name in names
        if name not in dropped
    ]
    filled = {
        name: F.when(_is_missing(name), before[name]["value"]).otherwise(F.col(name))
        for name in names
    }
    unresolved = F.when(F.col(LogColumn.OP) != DELETE, sum(nothing, F.lit(0)))
    return lives.withColumns({UNRESOLVED: unresolved, **filled}).drop(LIFE)


def _not_sent(events: DataFrame) -> List[str]:
    """Return the columns that any of the events lacks."""
    names = F.explode(F.split(LogColumn.UNAVAILABLE, ",")).alias("name")
    return sorted(row.name for row in events.select(names).distinct().collect())


def _is_missing(name: str) -> Column:
    found = F.array_contains(F.split(LogColumn.UNAVAILABLE, ","), name)
    return F.coalesce(found, F.lit(False))


def _sent(name: str) -> Column:
    known = ~_is_missing(name) & (F.col(LogColumn.OP) != DELETE)
    return F.when(known, F.struct(F.col(name).alias("value")))
