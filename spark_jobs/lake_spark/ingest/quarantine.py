"""Rows that were not accepted: how many may be, and where they are kept and why."""

from __future__ import annotations

from typing import Callable, Dict, List, Sequence, Set

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F

from lake_spec.hudi.options import Operation
from lake_spark.changelog.schema import LogColumn
from lake_spec.diagnostics.warnings import WarningId
from lake_spark.errors import TooManyBadRows
from lake_spark.ingest.accounting import Counted
from lake_spark.ingest.quality_rules import failed_rules
from lake_spark.storage.hudi_table import DELETED
from lake_spark.tables.table_run import TableRun

Examples = Callable[[], Sequence[Row]]
"""Finds a few bad rows, where they are needed."""

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


def examples(rows: DataFrame) -> List[Row]:
    """Return a few bad rows: lake_path, lake_record and lake_reason."""
    return bad_rows(rows).select(*_OF_EXAMPLES).limit(_EXAMPLES).collect()


def examples_of_files(rows: DataFrame) -> Dict[str, List[Row]]:
    """Return a few bad rows of each file."""
    order = Window.partitionBy(LogColumn.PATH).orderBy(LogColumn.RECORD)
    first = bad_rows(rows).withColumn("lake_nth", F.row_number().over(order))
    found: Dict[str, List[Row]] = {}
    some = first.where(f"lake_nth <= {_EXAMPLES}").orderBy(LogColumn.PATH, "lake_nth")
    for row in some.select(*_OF_EXAMPLES).collect():
        found.setdefault(row.lake_path, []).append(row)
    return found


_OF_EXAMPLES = (LogColumn.PATH, LogColumn.RECORD, "lake_reason")
_EXAMPLES = 3


def _shown(rows: Sequence[Row]) -> str:
    """Show rows in words: where and why."""
    return "; ".join(
        f"{row.lake_path} record {row.lake_record}: {row.lake_reason}"
        for row in rows[:_EXAMPLES]
    )


def check_limits(run: TableRun, counted: Counted, find_examples: Examples) -> None:
    """Warn of what the rules only warn of; stop before anything is written.

    Raises TooManyBadRows where a rule says fail, or more rows are bad than the table's
    `quarantine` allows.
    """
    fatal = _fatal(run, counted)
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
    words = (
        f"{counted.bad:,} of {counted.total:,} rows are bad: {_shown(find_examples())}"
    )
    if _are_too_many(run, counted):
        raise TooManyBadRows(
            f"{words}. The limit is {limits.max_share:.2%} above {limits.min_rows} rows "
            "(quarantine.max_share). Nothing was written. Fix the files or the spec."
        )
    run.report.warn(WarningId.QUARANTINED_ROWS, words)


def is_refused(run: TableRun, counted: Counted) -> bool:
    """Return whether `check_limits` would stop rows with these counts."""
    return bool(_fatal(run, counted)) or _are_too_many(run, counted)


def _fatal(run: TableRun, counted: Counted) -> Set[str]:
    """Return the broken rules that say fail."""
    return set(counted.rules) & set(failed_rules(run.spec, "fail"))


def _are_too_many(run: TableRun, counted: Counted) -> bool:
    limits, bad = run.spec.quarantine, counted.bad
    return bad > limits.min_rows and bad > limits.max_share * counted.total


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
