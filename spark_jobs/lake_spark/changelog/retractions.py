"""Retracted files: which deliveries of the change log still count.

Contract section 8, reprocess. The log is append-only, so a retracted file is one row
of operation `retract` more. Deliveries of its path from earlier commits are
void; those of the same commit and of later ones are the new take.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lake_spark.changelog.schema import ALL_KEYS, ENVELOPE, LogColumn, RETRACT
from lake_spark.landing.ingested_files import IngestedFile, IngestedFiles
from lake_spark.storage.inline_rows import small_table

COMMIT = "_hoodie_commit_time"
VOID_SINCE = "lake_void_since"
"""The commit that made a delivery void; null for a live one."""


def judged(log: DataFrame, ingested: IngestedFiles) -> DataFrame:
    """Return the log's deliveries with VOID_SINCE; a log without retractions as it is."""
    if not ingested.contents.retracted:
        return log
    retracts = F.col(LogColumn.OP) == RETRACT
    last = F.max(COMMIT).alias("lake_retracted_at")
    retracted = log.where(retracts).groupBy(LogColumn.PATH).agg(last)
    void = F.col(COMMIT) < F.col("lake_retracted_at")
    return (
        log.where(~retracts)
        .join(F.broadcast(retracted), LogColumn.PATH, "left")
        .withColumn(VOID_SINCE, F.when(void, F.col("lake_retracted_at")))
        .drop("lake_retracted_at")
    )


def live(deliveries: DataFrame) -> DataFrame:
    """Return the judged deliveries that are not void."""
    if VOID_SINCE not in deliveries.columns:
        return deliveries
    return deliveries.where(F.col(VOID_SINCE).isNull()).drop(VOID_SINCE)


def arrived_after(instant: Optional[str]) -> Column:
    """Return whether a delivery arrived after that commit; all did without a commit."""
    return F.lit(True) if instant is None else F.col(COMMIT) > instant


def until(deliveries: DataFrame, instant: str) -> DataFrame:
    """Return the deliveries that a table which was built up to that commit is made of."""
    return deliveries.where(~arrived_after(instant))


def moved_after(deliveries: DataFrame, instant: str) -> Column:
    """Return whether a judged delivery arrived, or became void, after that commit."""
    arrived = arrived_after(instant)
    if VOID_SINCE not in deliveries.columns:
        return arrived
    return arrived | F.coalesce(F.col(VOID_SINCE) > instant, F.lit(False))


def live_log(log: DataFrame, ingested: IngestedFiles) -> DataFrame:
    """Return the live deliveries, also without the files that are being retracted."""
    deliveries = live(judged(log, ingested))
    paths = [each.path for each in ingested.retracting]
    return deliveries.where(~F.col(LogColumn.PATH).isin(paths)) if paths else deliveries


def retract_rows(spark: SparkSession, files: Sequence[IngestedFile]) -> DataFrame:
    """Return the rows of the log that make the deliveries of these files void."""
    facts: List[Dict[str, Any]] = [
        {
            LogColumn.KEY: ALL_KEYS,
            LogColumn.OP: RETRACT,
            LogColumn.PATH: each.path,
            LogColumn.ETAG: each.etag,
            LogColumn.RECORD: -1,
        }
        for each in files
    ]
    rows = [[fact.get(name) for name, _ in ENVELOPE] for fact in facts]
    return small_table(spark, ENVELOPE, rows)
