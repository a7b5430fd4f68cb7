"""Withdrawn files: which sightings of the change log still count.

Contract section 8, redo. The log is append-only, so a withdrawn file is one row
of operation `withdraw` more. Sightings of its path from earlier commits are
void; those of the same commit and of later ones are the new take.
"""

from __future__ import annotations

from typing import Optional, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lake_spark.changelog.schema import ALL_KEYS, ENVELOPE, LogColumn, WITHDRAW
from lake_spark.landing.manifest import IngestedFile, Manifest
from lake_spark.storage.literals import small_table

COMMIT = "_hoodie_commit_time"
VOID_SINCE = "lake_void_since"
"""The commit that made a sighting void; null for a live one."""


def judged(log: DataFrame, manifest: Manifest) -> DataFrame:
    """The log's sightings with VOID_SINCE; a log without withdrawals as it is."""
    if not manifest.contents.withdrawn:
        return log
    withdraws = F.col(LogColumn.OP) == WITHDRAW
    last = F.max(COMMIT).alias("lake_withdrawn_at")
    withdrawn = log.where(withdraws).groupBy(LogColumn.PATH).agg(last)
    void = F.col(COMMIT) < F.col("lake_withdrawn_at")
    return (
        log.where(~withdraws)
        .join(F.broadcast(withdrawn), LogColumn.PATH, "left")
        .withColumn(VOID_SINCE, F.when(void, F.col("lake_withdrawn_at")))
        .drop("lake_withdrawn_at")
    )


def live(sightings: DataFrame) -> DataFrame:
    """The judged sightings that are not void."""
    if VOID_SINCE not in sightings.columns:
        return sightings
    return sightings.where(F.col(VOID_SINCE).isNull()).drop(VOID_SINCE)


def came_after(instant: Optional[str]) -> Column:
    """Whether a sighting came after that commit; all did if there is none."""
    return F.lit(True) if instant is None else F.col(COMMIT) > instant


def until(sightings: DataFrame, instant: str) -> DataFrame:
    """The sightings that a table which was built up to that commit is made of."""
    return sightings.where(~came_after(instant))


def moved_after(sightings: DataFrame, instant: str) -> Column:
    """Whether a judged sighting came, or became void, after that commit."""
    came = came_after(instant)
    if VOID_SINCE not in sightings.columns:
        return came
    return came | F.coalesce(F.col(VOID_SINCE) > instant, F.lit(False))


def live_log(log: DataFrame, manifest: Manifest) -> DataFrame:
    """The live sightings, also without the files that are being withdrawn."""
    sightings = live(judged(log, manifest))
    paths = [each.path for each in manifest.withdrawing]
    return sightings.where(~F.col(LogColumn.PATH).isin(paths)) if paths else sightings


def withdraw_rows(spark: SparkSession, files: Sequence[IngestedFile]) -> DataFrame:
    """The rows of the log that make the sightings of these files void."""
    facts = [
        {
            LogColumn.KEY: ALL_KEYS,
            LogColumn.OP: WITHDRAW,
            LogColumn.PATH: each.path,
            LogColumn.ETAG: each.etag,
            LogColumn.RECORD: -1,
        }
        for each in files
    ]
    rows = [[fact.get(name) for name, _ in ENVELOPE] for fact in facts]
    return small_table(spark, ENVELOPE, rows)
