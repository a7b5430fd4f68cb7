"""What others offer for the same work, as their own documents and users do it.

Each takes the newest change of each key of a landing file into a table of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Dict, Protocol

import duckdb
import mack
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from benchmarks.speed.generator import CHANGED_AT, COLUMNS, KEY, OPERATION
from benchmarks.speed.snapshots import DbtHistory

NAMES = [name for name, _ in COLUMNS]
VALUES = [name for name in NAMES if name not in (KEY, CHANGED_AT)]


class Peer(Protocol):
    """A table of another make."""

    def load(self, landing: Path) -> None:
        """The first copy: Parquet files in a folder."""

    def merge(self, file: Path) -> None:
        """Take in a landing file of changes."""


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


class HudiUpsert:
    """A Hudi table with the settings of its quick start: copy on write, own index."""

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self._spark, self._path = spark, str(path)

    def load(self, landing: Path) -> None:
        """The first copy."""
        rows = self._spark.read.parquet(str(landing))
        self._write(rows.withColumn("_hoodie_is_deleted", F.lit(False)), "bulk_insert")

    def merge(self, file: Path) -> None:
        """An upsert; the newest of rows of one key by their time is Hudi's own work."""
        changes = self._spark.read.parquet(str(file))
        deleted = F.col(OPERATION) == "D"
        rows = changes.withColumn("_hoodie_is_deleted", deleted).drop(OPERATION)
        self._write(rows, "upsert")

    def _write(self, rows: DataFrame, operation: str) -> None:
        options = {
            "table.name": "upserted",
            "datasource.write.operation": operation,
            "datasource.write.recordkey.field": KEY,
            "datasource.write.precombine.field": CHANGED_AT,
            "datasource.write.partitionpath.field": "",
        }
        named = {f"hoodie.{name}": value for name, value in options.items()}
        rows.write.format("hudi").options(**named).mode("append").save(self._path)


class HudiMergeInto:
    """A Hudi table of Spark's SQL, kept by MERGE INTO."""

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self._spark, self._path = spark, str(path)
        self._name = "merged_into_" + "".join(filter(str.isalnum, path.parent.name))

    def load(self, landing: Path) -> None:
        """The first copy."""
        self._spark.read.parquet(str(landing)).createOrReplaceTempView("landed")
        self._spark.sql(
            f"CREATE TABLE {self._name} USING hudi TBLPROPERTIES"
            f" (primaryKey = '{KEY}', preCombineField = '{CHANGED_AT}')"
            f" LOCATION '{self._path}' AS SELECT * FROM landed"
        )

    def merge(self, file: Path) -> None:
        """The newest change of each key."""
        _merge_into(self._spark, self._name, file)


class IcebergMergeInto:
    """An Iceberg table in a catalogue that is a folder, kept by MERGE INTO: copy on write."""

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self._spark = spark
        catalog = "iceberg_" + "".join(filter(str.isalnum, path.parent.name))
        settings = {
            "": "org.apache.iceberg.spark.SparkCatalog",
            ".type": "hadoop",
            ".warehouse": str(path),
        }
        for name, value in settings.items():
            spark.conf.set(f"spark.sql.catalog.{catalog}{name}", value)
        self._name = f"{catalog}.bench.merged_into"

    def load(self, landing: Path) -> None:
        """The first copy."""
        rows = self._spark.read.parquet(str(landing))
        rows.writeTo(self._name).using("iceberg").create()

    def merge(self, file: Path) -> None:
        """The newest change of each key."""
        _merge_into(self._spark, self._name, file)


class OneNode:
    """A table in a DuckDB file: what one machine can do without Spark."""

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self._path = str(path)

    def load(self, landing: Path) -> None:
        """The first copy."""
        with duckdb.connect(self._path) as base:
            read = "CREATE TABLE things AS SELECT * FROM read_parquet(?)"
            base.execute(read, [f"{landing}/*.parquet"])

    def merge(self, file: Path) -> None:
        """The newest change of each key: those rows go, and come again."""
        newest = (
            f"row_number() OVER (PARTITION BY {KEY} ORDER BY {CHANGED_AT} DESC) = 1"
        )
        with duckdb.connect(self._path) as base:
            base.execute("BEGIN")
            base.execute(
                "CREATE TEMP TABLE changed AS SELECT * FROM read_parquet(?)"
                f" QUALIFY {newest}",
                [str(file)],
            )
            base.execute(
                f"DELETE FROM things WHERE {KEY} IN (SELECT {KEY} FROM changed)"
            )
            names = ", ".join(NAMES)
            base.execute(
                f"INSERT INTO things ({names}) SELECT {names} FROM changed"
                f" WHERE {OPERATION} != 'D'"
            )
            base.execute("COMMIT")


OF_CURRENT = {
    "delta": DeltaCurrent,
    "hudi upsert": HudiUpsert,
    "hudi MERGE INTO": HudiMergeInto,
    "iceberg": IcebergMergeInto,
    "DuckDB": OneNode,
}
OF_HISTORY = {"delta": DeltaHistory, "dbt": DbtHistory}
"""Makes of tables by name, for `peers_of`."""


def peers_of(
    makes: Dict[str, type], spark: SparkSession, root: Path, landing: Path
) -> Dict[str, Peer]:
    """A table of each make in a folder, with the first copy in it."""
    root.mkdir(parents=True)
    found: Dict[str, Peer] = {}
    for name, make in makes.items():
        found[name] = make(spark, root / name.replace(" ", "-").lower())
        found[name].load(landing)
    return found


def _merge_into(spark: SparkSession, table: str, file: Path) -> None:
    """Take the newest change of each key into a table of Spark's SQL."""
    changes = newest_of_each_key(spark.read.parquet(str(file)))
    changes.createOrReplaceTempView("changed")
    sets = ", ".join(f"{name} = c.{name}" for name in NAMES)
    spark.sql(
        f"MERGE INTO {table} t USING changed c ON t.{KEY} = c.{KEY}"
        f" WHEN MATCHED AND c.{OPERATION} = 'D' THEN DELETE"
        f" WHEN MATCHED AND c.{CHANGED_AT} >= t.{CHANGED_AT} THEN UPDATE SET {sets}"
        f" WHEN NOT MATCHED AND c.{OPERATION} != 'D' THEN INSERT"
        f" ({', '.join(NAMES)}) VALUES ({', '.join(f'c.{n}' for n in NAMES)})"
    )


def newest_of_each_key(changes: DataFrame) -> DataFrame:
    """The last change of each key, as a MERGE needs it."""
    newest = Window.partitionBy(KEY).orderBy(F.col(CHANGED_AT).desc())
    ranked = changes.withColumn("nth", F.row_number().over(newest))
    return ranked.where("nth = 1").drop("nth")
