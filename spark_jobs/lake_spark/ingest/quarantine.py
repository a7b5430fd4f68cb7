"""Rows that were not accepted: how many may be, and where they are kept and why."""

from __future__ import annotations

from typing import Set

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lake_spec.hudi.options import Operation
from lake_spark.changelog.schema import LogColumn
from lake_spec.diagnostics.warnings import WarningId
from lake_spark.errors import TooManyBadRows
from lake_spark.ingest.accounting import Counted
from lake_spark.ingest.quality_rules import failed_rules
from lake_spark.storage.hudi_table import DELETED
from lake_spark.tables.table_run import TableRun

COLUMNS = (
    "lake_reason",
    LogColumn.PATH,
    LogColumn.RECORD,
    LogColumn.ETAG,
    LogColumn.LANDED_AT,
    "lake_raw",
)


def bad_rows(rows: DataFrame) -> DataFrame:
    """Return the rows that have a reason."""
    return rows.where("lake_reason IS NOT NULL AND lake_no_row IS NULL")


def good_rows(rows: DataFrame) -> DataFrame:
    """Return the rows that have none."""
    return rows.where("lake_reason IS NULL AND lake_no_row IS NULL")


def examples(rows: DataFrame) -> str:
    """Show a few bad rows in words: where and why."""
    some = (
        bad_rows(rows).select(LogColumn.PATH, LogColumn.RECORD, "lake_reason").limit(3)
    )
    return "; ".join(
        f"{row.lake_path} record {row.lake_record}: {row.lake_reason}"
        for row in some.collect()
    )


def check_limits(run: TableRun, counted: Counted, rows: DataFrame) -> None:
    """Warn of what the rules only warn of; stop before anything is written.

    Raises TooManyBadRows where a rule says fail, or more rows are bad than the table's
    `quarantine` allows.
    """
    fatal = failed_rules(run.spec, "fail")
    for words, count in counted.rules.items():
        if words in fatal:
            raise TooManyBadRows(
                f"quality: {words}: {count:,} row(s), and the rule has on_fail: fail. "
                "Nothing was written. Fix the files or the rule."
            )
        run.report.warn(
            WarningId.FAILED_QUALITY_RULE, f"quality: {words}: {count:,} row(s)"
        )
    if not counted.bad:
        return
    limits = run.spec.quarantine
    words = f"{counted.bad:,} of {counted.total:,} rows are bad: {examples(rows)}"
    if counted.bad > limits.min_rows and counted.bad > limits.max_share * counted.total:
        raise TooManyBadRows(
            f"{words}. The limit is {limits.max_share:.2%} above {limits.min_rows} rows "
            "(quarantine.max_share). Nothing was written. Fix the files or the spec."
        )
    run.report.warn(WarningId.QUARANTINED_ROWS, words)


def keep(run: TableRun, rows: DataFrame) -> None:
    """Put the bad rows into the table's quarantine; twice is the same as once."""
    bad = bad_rows(rows).select(*COLUMNS).withColumn("lake_run", F.lit(run.report.run))
    _write(run, bad, F.lit(None).cast("boolean"))


def paths_of(run: TableRun) -> Set[str]:
    """Return the landing files that have rows in the quarantine."""
    if not run.quarantine.has_data():
        return set()
    rows = run.quarantine.read().select(LogColumn.PATH).distinct()
    return {row.lake_path for row in rows.collect()}


def drop_old_takes(run: TableRun) -> None:
    """Remove rows of files that the last log commit ingested again or retracted.

    The run that took a file last has put its bad rows in again. Until then the
    rows stay, so that a reprocess that was killed can still be asked for by them.
    """
    if run.dry_run:
        return
    manifest = run.manifest()
    if not manifest.contents.retracted or not run.quarantine.has_data():
        return
    last = next(each for each in run.log.commits() if "inputs" in each.metadata)
    paths = [each.path for each in (*manifest.own, *manifest.retracted)]
    rows = run.quarantine.read().where(F.col(LogColumn.PATH).isin(paths))
    old = rows.where(F.col("lake_run") != F.lit(last.metadata.get("run")))
    if not old.isEmpty():
        _write(run, old.select(*COLUMNS, "lake_run"), F.lit(True))


def _write(run: TableRun, rows: DataFrame, deleted: Column) -> None:
    marked = rows.withColumn(DELETED, deleted)
    instant = run.quarantine.write(marked, Operation.UPSERT, run.commit_metadata())
    run.report.commits["quarantine"] = instant
