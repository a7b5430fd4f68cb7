"""Rows that were not accepted: how many may be, and where they are kept and why."""

from __future__ import annotations

from typing import Callable, Dict, List, Optional, Sequence, Set

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F
from pyspark.sql.types import AtomicType, BinaryType, DataType

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.hudi.options import Operation
from lake_spec.model import DuplicateKeys, FileTable, Quarantine
from lake_spec.model.names import RESERVED_PREFIXES
from lake_spec.state.report import MOST_SAMPLES, BadRow
from lake_spec.text.marked_values import BEGIN, END
from lake_spec.text.sql_text import sql_identifier
from lake_spark.changelog.schema import LogColumn
from lake_spark.errors import TooManyBadRows
from lake_spark.reading.accounting import RowCounts
from lake_spark.reading.quality_rules import failed_rules
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.hudi_table import DELETED
from lake_spark.tables.table_run import FileRun

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


def examples(spec: FileTable, rows: DataFrame) -> List[Row]:
    """Return a few bad rows: lake_path, lake_record, lake_reason and lake_shown."""
    first = bad_rows(rows).orderBy(LogColumn.PATH, LogColumn.RECORD)
    return _with_values(spec, first.limit(MOST_SAMPLES)).collect()


def examples_of_files(spec: FileTable, rows: DataFrame) -> Dict[str, List[Row]]:
    """Return a few bad rows of each file."""
    order = Window.partitionBy(LogColumn.PATH).orderBy(LogColumn.RECORD)
    first = bad_rows(rows).withColumn("lake_nth", F.row_number().over(order))
    found: Dict[str, List[Row]] = {}
    some = first.where(f"lake_nth <= {MOST_SAMPLES}").orderBy(
        LogColumn.PATH, "lake_nth"
    )
    for row in _with_values(spec, some).collect():
        found.setdefault(row.lake_path, []).append(row)
    return found


_OF_EXAMPLES = (LogColumn.PATH, LogColumn.RECORD, "lake_reason")
_EXAMPLES = 3
_VALUES, _LONGEST = 8, 60
"""Columns of an example next to its key, and characters of each of them."""
_LONGEST_KEY = 200


def _with_values(spec: FileTable, rows: DataFrame) -> DataFrame:
    """Select examples with `lake_shown`: key and values as JSON."""
    values = [
        _shown_value(spec, name).alias(name) for name in _shown_columns(spec, rows)
    ]
    text = F.to_json(F.struct(*values)) if values else F.lit("")
    return rows.select(*_OF_EXAMPLES, text.alias("lake_shown"))


def _shown_value(spec: FileTable, name: str) -> Column:
    """Return a value's text, cut; a key is whole or left out, so that an erase finds it."""
    text = F.expr(sql_identifier(name)).cast("string")
    if name in spec.key:
        return F.when(F.length(text) <= _LONGEST_KEY, text)
    return F.substring(text, 1, _LONGEST)


def _is_text(kind: DataType) -> bool:
    """Return whether values of a type have a text that people read."""
    return isinstance(kind, AtomicType) and not isinstance(kind, BinaryType)


def _shown_columns(spec: FileTable, rows: DataFrame) -> List[str]:
    """List the columns of an example: those of the key, then the first others."""
    shown = [
        each.name
        for each in rows.schema
        if _is_text(each.dataType) and not each.name.startswith(RESERVED_PREFIXES)
    ]
    key = [name for name in spec.key if name in shown]
    return key + [name for name in shown if name not in key][:_VALUES]


def _shown(rows: Sequence[Row]) -> str:
    """Show rows in words: where and why."""
    return "; ".join(
        f"{row.lake_path} record {row.lake_record}: {row.lake_reason}"
        for row in rows[:_EXAMPLES]
    )


def check_limits(run: FileRun, counted: RowCounts, find_examples: Examples) -> None:
    """Warn of what the rules only warn of; stop before anything is written.

    Raises TooManyBadRows where a rule says fail, or more rows are bad than the table's
    `quarantine` allows.
    """
    fatal, reasons = _fatal(run, counted), failed_rules(run.spec, "quarantine")
    run.report.add_rules({**dict.fromkeys(counted.words, 0), **counted.rules})
    for words, count in counted.rules.items():
        if words in reasons:  # its rows are counted as bad ones
            continue
        if words in fatal:
            raise TooManyBadRows(
                f"quality: {words}: {count:,} row(s), and the rule has on_fail: fail. "
                "Nothing was written. Fix the files or the rule."
            )
        run.report.warn(
            WarningId.FAILED_QUALITY_RULE, f"quality: {words}: {count:,} row(s)"
        )
    repeated = _repeated(counted)
    if repeated and run.spec.source.duplicate_keys is DuplicateKeys.LAST:
        words = f"{repeated}: the last of each key counts (source.duplicate_keys)"
        run.report.warn(WarningId.REPEATED_KEYS, words)
        repeated = ""
    if not counted.bad:
        return
    found = find_examples()
    run.report.add_samples(
        BadRow(row.lake_path, row.lake_record, row.lake_reason, row.lake_shown)
        for row in found
    )
    words = f"{counted.bad:,} of {counted.total:,} rows are bad: {_shown(found)}"
    if repeated:
        words += f". {repeated}: {_REMEDY_OF_REPEATED}"
    limit = _exceeded(run.spec.quarantine, counted)
    if limit:
        _name_files(run, counted)
        raise TooManyBadRows(
            f"{words}. {limit} (quarantine.max_share). Nothing was written. Fix the files "
            "or the spec."
        )
    run.report.warn(WarningId.QUARANTINED_ROWS, words)


def is_refused(run: FileRun, counted: RowCounts) -> bool:
    """Return whether `check_limits` would stop rows with these counts."""
    limits = run.spec.quarantine
    return bool(_fatal(run, counted)) or _exceeded(limits, counted) is not None


def _fatal(run: FileRun, counted: RowCounts) -> Set[str]:
    """Return the broken rules that say fail."""
    return set(counted.rules) & set(failed_rules(run.spec, "fail"))


def _repeated(counted: RowCounts) -> str:
    """Return in words how many keys are not unique; "" if all are."""
    if not counted.repeated:
        return ""
    return f"{counted.repeated_keys:,} key(s) stand in {counted.repeated:,} rows that differ"


_REMEDY_OF_REPEATED = (
    "complete `key`, or set source.duplicate_keys to last to keep the last row of each"
)

_HALF = 0.5
"""Of more bad rows than good ones few are enough, unless a larger share is allowed."""


def _exceeded(limits: Quarantine, counted: RowCounts) -> Optional[str]:
    """Return the limit that the bad rows exceed, in words; None if they are within all."""
    bad, share = counted.bad, counted.bad / max(counted.total, 1)
    if bad > limits.min_rows and share > limits.max_share:
        return f"The limit is {limits.max_share:.2%} above {limits.min_rows} rows"
    most = max(limits.max_share, _HALF)
    if share > most:
        return f"The limit is {most:.2%} of the rows, however few they are"
    return None


def _name_files(run: FileRun, counted: RowCounts) -> None:
    """Report the files that have the bad rows: without them the next run succeeds."""
    paths = sorted(
        {row.lake_path for row in counted.splits if row.quarantined},
        key=lambda path: (-counted.quarantined(path), path),
    )
    for path in paths[:_MOST_FILES]:
        bad, landed = counted.quarantined(path), counted.landed(path)
        words = f"{bad:,} of its {landed:,} rows are bad. Fix or remove it."
        run.report.set_aside_file(TooManyBadRows.__name__, path, words)


_MOST_FILES = 100
"""So many files are named at most, those with the most bad rows."""


def keep(run: FileRun, rows: DataFrame) -> None:
    """Put the bad rows into the table's quarantine; twice is the same as once."""
    plain = F.translate("lake_reason", BEGIN + END, "")
    bad = bad_rows(rows).select(*COLUMNS).withColumn("lake_reason", plain)
    bad = bad.withColumn("lake_run", F.lit(run.report.run))
    _write(run, bad, F.lit(None).cast("boolean"))


def paths_of(run: FileRun) -> Set[str]:
    """Return the landing files that have rows in the quarantine."""
    if not run.quarantine.has_data():
        return set()
    rows = run.quarantine.read().select(LogColumn.PATH).distinct()
    return {row.lake_path for row in rows.collect()}


def drop_old_takes(run: FileRun) -> None:
    """Remove rows of files that the last log commit ingested again or retracted.

    The run that took a file last has put its bad rows in again. Until then the
    rows stay, so that a reprocess that was killed can still be asked for by them.
    """
    if run.dry_run:
        return
    ingested = run.ingested_files()
    if not ingested.contents.retracted or not run.quarantine.has_data():
        return
    last = run.log.metadata_with(CommitValue.INPUTS)
    paths = [each.path for each in (*ingested.own, *ingested.retracted)]
    rows = run.quarantine.read().where(F.col(LogColumn.PATH).isin(paths))
    old = rows.where(F.col("lake_run") != F.lit(last.get(CommitValue.RUN)))
    if not old.isEmpty():
        _write(run, old.select(*COLUMNS, "lake_run"), F.lit(True))


def _write(run: FileRun, rows: DataFrame, deleted: Column) -> None:
    marked = rows.withColumn(DELETED, deleted)
    instant = run.quarantine.write(marked, Operation.UPSERT, run.commit_metadata())
    run.report.commits["quarantine"] = instant
