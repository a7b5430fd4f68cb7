"""Rows that were not accepted: kept with reason, position and raw record."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lake_spec.hudi_options import Operation
from lake_spark.table_run import TableRun

COLUMNS = (
    "lake_reason",
    "lake_path",
    "lake_record",
    "lake_etag",
    "lake_landed_at",
    "lake_raw",
)


def bad_rows(rows: DataFrame) -> DataFrame:
    """The rows that have a reason."""
    return rows.where("lake_reason IS NOT NULL")


def good_rows(rows: DataFrame) -> DataFrame:
    """The rows that have none."""
    return rows.where("lake_reason IS NULL")


def examples(rows: DataFrame) -> str:
    """A few bad rows in words: where and why."""
    some = bad_rows(rows).select("lake_path", "lake_record", "lake_reason").limit(3)
    return "; ".join(
        f"{row.lake_path} record {row.lake_record}: {row.lake_reason}"
        for row in some.collect()
    )


def keep(run: TableRun, rows: DataFrame) -> None:
    """Put the bad rows into the table's quarantine; twice is the same as once."""
    bad = bad_rows(rows).select(*COLUMNS).withColumn("lake_run", F.lit(run.report.run))
    instant = run.quarantine.write(bad, Operation.UPSERT, run.commit_metadata())
    run.report.commits["quarantine"] = instant
