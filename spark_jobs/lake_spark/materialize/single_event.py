"""Keys with one delivery: their fold needs no order, so none is made for them.

A build of all keys sorts every row some ten times, by key, time and version. After a
first load nearly every key has one delivery, and what that shows follows from its row
alone. Finding those keys takes one look at the log's keys. Decision 034 has the figures.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Dict, Optional, Tuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lake_spark.changelog.schema import LogColumn, UPSERT
from lake_spark.materialize.difference import SingleEvents
from lake_spark.materialize.pending import Pending
from lake_spark.scd2.events import KEY
from lake_spark.storage import session
from lake_spark.storage.spark_jobs import cache_until, row_of
from lake_spark.tables.table_run import FileRun

MOST_KEYS = 200_000
"""Keys with several deliveries are handed to every task, so they must be few."""

MOST_SHARE = 0.2
"""Of all rows; else reading the log twice takes what the sorting would."""


@dataclass(frozen=True)
class _KeyCounts:
    """Keys with several deliveries, these deliveries, and upserts alone with their key."""

    keys: int
    rows: int
    single_event_upserts: int


COUNTED: Dict[Tuple[str, str], _KeyCounts] = {}
"""By change log and its commit: history asks for what current counted."""
MOST_COUNTED = 1000


def split(
    run: FileRun,
    waiting: Pending,
    deliveries: DataFrame,
    all_rows: int,
    kept: ExitStack,
) -> Tuple[DataFrame, Optional[SingleEvents]]:
    """Return (deliveries of keys that have several, the only ones of their keys).

    They are to be used while `kept` is open. `all_rows` is that of previous_rows.rows.

    All and None where the table is small, where rows of a key depend on others', or
    where too many keys have several.
    """
    depend = run.spec.scope or waiting.ingested.contents.mixes_keys
    depend = depend or run.spec.keeps_absent  # what an object lacks, the fold says
    if depend or all_rows <= session.FEW_ROWS:
        return deliveries, None
    counted = _counted(run, deliveries)
    if not counted.keys:
        return deliveries.limit(0), SingleEvents(
            deliveries, counted.single_event_upserts
        )
    if counted.keys > MOST_KEYS or counted.rows > MOST_SHARE * all_rows:
        return deliveries, None
    several = _times(deliveries).where("lake_times > 1").select(KEY)
    few = F.broadcast(cache_until(several, kept))
    single_events = deliveries.join(few, KEY, "left_anti")
    return deliveries.join(few, KEY, "left_semi"), SingleEvents(
        single_events, counted.single_event_upserts
    )


def _times(deliveries: DataFrame) -> DataFrame:
    upserts = F.count_if(F.col(LogColumn.OP) == UPSERT).alias("lake_upserts")
    return deliveries.groupBy(KEY).agg(F.count(KEY).alias("lake_times"), upserts)


def _counted(run: FileRun, deliveries: DataFrame) -> _KeyCounts:
    """Count once for each commit of the log, those of erases included."""
    newest = run.log.last_commit()
    assert newest is not None, "the log has what is counted"
    place = (run.log.path, newest.instant)
    known = COUNTED.get(place)
    if known is None:
        several = F.col("lake_times") > 1
        found = _times(deliveries).agg(
            F.count_if(several),
            F.coalesce(F.sum(F.when(several, F.col("lake_times"))), F.lit(0)),
            F.coalesce(F.sum(F.when(~several, F.col("lake_upserts"))), F.lit(0)),
        )
        known = _KeyCounts(*row_of(found))
        if len(COUNTED) >= MOST_COUNTED:
            COUNTED.clear()
        COUNTED[place] = known
    return known
