"""What others offer for the same work, as their own documents and users do it."""

from __future__ import annotations

from pathlib import Path

import mack
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from benchmarks.speed.generator import CHANGED_AT, COLUMNS, KEY, OPERATION

NAMES = [name for name, _ in COLUMNS]
VALUES = [name for name in NAMES if name not in (KEY, CHANGED_AT)]


class DeltaCurrent:
    """A Delta table of the newest rows, kept by MERGE."""

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self._spark, self._path = spark, str(path)

    def load(self, landing: Path) -> None:
        """The first copy."""
        rows = self._spark.read.parquet(str(landing))
        rows.write.format("delta").save(self._path)

    def merge(self, file: Path) -> None:
        """The newest change of each key of a landing file."""
        changes = newest_of_each_key(self._spark.read.parquet(str(file)))
        values = {name: f"c.{name}" for name in NAMES}
        (
            DeltaTable.forPath(self._spark, self._path)
            .alias("t")
            .merge(changes.alias("c"), f"t.{KEY} = c.{KEY}")
            .whenMatchedDelete(f"c.{OPERATION} = 'D'")
            .whenMatchedUpdate(f"c.{CHANGED_AT} >= t.{CHANGED_AT}", values)
            .whenNotMatchedInsert(f"c.{OPERATION} != 'D'", values)
            .execute()
        )


class DeltaHistory:
    """A Delta table of all versions, kept by mack's two-sided MERGE."""

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self._spark, self._path = spark, str(path)

    def load(self, landing: Path) -> None:
        """The first versions, all open."""
        rows = self._spark.read.parquet(str(landing)).select(
            KEY,
            *VALUES,
            F.lit(True).alias("is_current"),
            F.col(CHANGED_AT).alias("effective_time"),
            F.lit(None).cast("timestamp").alias("end_time"),
        )
        rows.write.format("delta").save(self._path)

    def merge(self, file: Path) -> None:
        """Close and open the versions of the keys of a landing file."""
        changes = newest_of_each_key(self._spark.read.parquet(str(file))).select(
            KEY, *VALUES, F.col(CHANGED_AT).alias("effective_time")
        )
        known = DeltaTable.forPath(self._spark, self._path)
        mack.type_2_scd_upsert(known, changes, KEY, list(VALUES))


def newest_of_each_key(changes: DataFrame) -> DataFrame:
    """The last change of each key, as a MERGE needs it."""
    newest = Window.partitionBy(KEY).orderBy(F.col(CHANGED_AT).desc())
    ranked = changes.withColumn("nth", F.row_number().over(newest))
    return ranked.where("nth = 1").drop("nth")
