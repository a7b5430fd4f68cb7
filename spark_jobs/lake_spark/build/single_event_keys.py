"""Keys with one delivery: their fold needs no order, so none is made for them.

A build of all keys sorts every row some ten times, by key, time and version. After a
first load nearly every key has one delivery, and what that shows follows from its row
alone. Finding those keys takes one look at the log's keys. Decision 034 has the figures.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Optional, Tuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lake_spark.build import refold
from lake_spark.build.watermark import Pending
from lake_spark.scd2.events import KEY
from lake_spark.storage.spark_jobs import cache_until
from lake_spark.tables.table_run import TableRun

MOST_KEYS = 200_000
"""Keys with several deliveries are handed to every task, so they must be few."""

MOST_SHARE = 0.2
"""Of all rows; else reading the log twice takes what the sorting would."""


def split(
    run: TableRun,
    waiting: Pending,
    deliveries: DataFrame,
    all_rows: int,
    kept: ExitStack,
) -> Tuple[DataFrame, Optional[DataFrame]]:
    """Return (deliveries of keys that have several, the only ones of their keys).

    They are to be used while `kept` is open. `all_rows` is that of standing.rows.

    All and None where the table is small, where rows of a key depend on others', or
    where too many keys have several.
    """
    depend = run.spec.scope or waiting.manifest.contents.mixes_keys
    if depend or all_rows <= refold.FEW_ROWS:
        return deliveries, None
    counted = deliveries.groupBy(KEY).agg(F.count(KEY).alias("lake_times"))
    several = counted.where("lake_times > 1")
    keys, rows = several.agg(F.count(KEY), F.sum("lake_times")).first()
    if not keys:
        return deliveries.limit(0), deliveries
    if keys > MOST_KEYS or rows > MOST_SHARE * all_rows:
        return deliveries, None
    few = F.broadcast(cache_until(several.select(KEY), kept))
    return deliveries.join(few, KEY, "left_semi"), deliveries.join(
        few, KEY, "left_anti"
    )
