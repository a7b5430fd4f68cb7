"""Accounting of rows per landing file, and the number of each record."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from functools import cached_property
from typing import Dict, List, Mapping, Optional, Sequence, Set, Tuple

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from lake_spec.model.envelopes import IGNORED, MESSAGE, TOMBSTONE
from lake_spark.changelog.schema import ALL_KEYS, LogColumn, UPSERT
from lake_spark.landing.ingested_files import LogContents
from lake_spark.reading.moved_keys import IS_MOVED
from lake_spark.reading.repeated_keys import REPEATS
from lake_spark.storage.inline_rows import small_table

OFFSETS = (
    (LogColumn.PATH, "string"),
    ("lake_block", "bigint"),
    ("lake_offset", "bigint"),
)
"""From the ids of a split's rows to their numbers in the file."""


_BAD = "lake_reason IS NOT NULL AND lake_no_row IS NULL"
_UPSERT = f"lake_reason IS NULL AND lake_no_row IS NULL AND lake_op = '{UPSERT}'"
_MOVED = f"lake_reason IS NULL AND lake_no_row IS NULL AND {IS_MOVED}"
_EFFECTIVE_OF_GOOD = (
    "CASE WHEN lake_reason IS NULL THEN unix_micros(lake_effective_at) END"
)


@dataclass(frozen=True)
class RowCounts:
    """What one pass over the rows found: per split of a file, and per rule."""

    splits: List[Row]
    words: Sequence[str] = ()
    """The rules; a split has the rows that break the first of them as `rule_0`."""
    erased: Mapping[str, int] = field(default_factory=dict)
    """Per path the rows of erased keys, which are in no other count but `landed`."""
    started: Mapping[str, Set[str]] = field(default_factory=dict)
    """Per path the first and the last start of its rows, of those that have one."""

    @property
    def rules(self) -> Dict[str, int]:
        """Count the rows that break each rule, of the rules that some break."""
        totals = {
            each: sum(row[f"rule_{i}"] for row in self.splits)
            for i, each in enumerate(self.words)
        }
        return {each: count for each, count in totals.items() if count}

    def of(self, paths: Sequence[str]) -> "RowCounts":
        """Return the counts of these files alone."""
        erased = {path: self.erased[path] for path in paths if path in self.erased}
        splits = [row for path in paths for row in self._of(path)]
        return replace(self, splits=splits, erased=erased)

    def no_rows(self, path: str) -> Dict[str, int]:
        """Count the records that are no rows, by what they are."""
        names = ("tombstones", "messages", "ignored")
        return {name: sum(row[name] for row in self._of(path)) for name in names}

    def landed(self, path: str) -> int:
        """Count the rows of a landing file."""
        landed: int = sum(row.landed for row in self._of(path))
        return landed + self.erased.get(path, 0)

    def quarantined(self, path: str) -> int:
        """Count its bad rows."""
        return sum(row.quarantined for row in self._of(path))

    def upserts(self, path: str) -> int:
        """Count its good rows that are upserts."""
        return sum(row.upserts for row in self._of(path))

    @property
    def moved(self) -> int:
        """Count the good rows of all files that were under another key before."""
        return sum(row.moved for row in self.splits)

    def starts(self, paths: Sequence[str]) -> Set[str]:
        """Return where the snapshots of these files' rows started: the first, the last."""
        return {start for path in paths for start in self.started.get(path, ())}

    def _of(self, path: str) -> List[Row]:
        return self._by_path.get(path, [])

    @cached_property
    def _by_path(self) -> Dict[str, List[Row]]:
        """Return the splits of each file: a batch may have thousands of files."""
        found: Dict[str, List[Row]] = {}
        for row in self.splits:
            found.setdefault(row.lake_path, []).append(row)
        return found

    def without(
        self,
        records: Mapping[str, Sequence[int]],
        rest: DataFrame,
        rules: Dict[str, str],
    ) -> "RowCounts":
        """Return the counts of the numbered rows that are left without these records."""
        if not records:
            return self
        as_one = {"lake_block": F.lit(0), "lake_id": F.col(LogColumn.RECORD)}
        counted = count_rows(rest.withColumns(as_one), rules)
        erased = {path: len(numbers) for path, numbers in records.items()}
        return replace(counted, erased=erased)

    @property
    def contents(self) -> LogContents:
        """Return what these rows make the fold look for."""

        def has(kind: str) -> bool:
            return any(row[kind] for row in self.splits)

        return LogContents(
            has_all_key_events=has("has_all_key_events"),
            has_unsent_values=has("has_unsent_values"),
            has_key_changes=has("has_key_changes"),
        )

    @property
    def newest(self) -> Optional[datetime]:
        """Return the newest effective time of the good rows, in UTC; None without any."""
        times = [row.newest for row in self.splits if row.newest is not None]
        return _in_utc(max(times)) if times else None

    @property
    def total(self) -> int:
        """Count the rows of all files."""
        landed: int = sum(row.landed for row in self.splits)
        return landed

    @property
    def repeated(self) -> int:
        """Count the rows of all files that differ from others of their key."""
        repeated: int = sum(row.repeated for row in self.splits)
        return repeated

    @property
    def repeated_keys(self) -> int:
        """Count the keys of these rows."""
        keys: float = sum(row.shares_of_keys for row in self.splits)
        return round(keys)

    @property
    def bad(self) -> int:
        """Count the bad rows of all files."""
        bad: int = sum(row.quarantined for row in self.splits)
        return bad


def _in_utc(micros: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=micros)


def count_rows(rows: DataFrame, rules: Dict[str, str]) -> RowCounts:
    """Count rows in each split, bad rows, and which rules they break."""
    counts = counts_by_split(rows, rules)
    splits = counts.orderBy(LogColumn.PATH, "lake_block").collect()
    if any(row.lake_path is None for row in splits):
        raise AssertionError("Spark read rows of a file that is not among the inputs")
    started = _starts(rows) if any(row.started for row in splits) else {}
    return RowCounts(splits, list(rules), started=started)


def counts_by_split(rows: DataFrame, rules: Dict[str, str]) -> DataFrame:
    """Return the counts of each split in numbers alone, for which no row is sorted."""
    return rows.groupBy(LogColumn.PATH, "lake_block").agg(
        F.count("*").alias("records"),
        F.count_if(F.expr("lake_no_row IS NULL")).alias("landed"),
        F.count_if(F.expr(f"lake_no_row = '{TOMBSTONE}'")).alias("tombstones"),
        F.count_if(F.expr(f"lake_no_row = '{MESSAGE}'")).alias("messages"),
        F.count_if(F.expr(f"lake_no_row = '{IGNORED}'")).alias("ignored"),
        F.min("lake_id").alias("first_id"),
        F.count_if(F.expr(_BAD)).alias("quarantined"),
        F.count_if(F.expr(_UPSERT)).alias("upserts"),
        F.count_if(F.expr(f"lake_key = '{ALL_KEYS}'")).alias("has_all_key_events"),
        F.count(LogColumn.UNAVAILABLE).alias("has_unsent_values"),
        F.count(LogColumn.OLD_KEY).alias("has_key_changes"),
        F.count_if(F.expr(_MOVED)).alias("moved"),
        F.count(LogColumn.STARTED).alias("started"),
        F.count(REPEATS).alias("repeated"),
        F.coalesce(F.sum(F.expr(f"1 / {REPEATS}")), F.lit(0.0)).alias("shares_of_keys"),
        F.max(F.expr(_EFFECTIVE_OF_GOOD)).alias("newest"),
        *[F.expr(sql).alias(f"rule_{i}") for i, sql in enumerate(rules.values())],
    )


def _starts(rows: DataFrame) -> Dict[str, Set[str]]:
    """Return by file the first and the last start of its rows.

    Next to other aggregates the least of texts has Spark sort all rows, as a hash table
    holds numbers alone: so it is looked for among the few that differ.
    """
    start = LogColumn.STARTED
    different = (
        rows.select(LogColumn.PATH, start).distinct().where(f"{start} IS NOT NULL")
    )
    found = different.groupBy(LogColumn.PATH).agg(F.min(start), F.max(start)).collect()
    return {path: {first, last} for path, first, last in found}


def number_records(rows: DataFrame, counted: RowCounts) -> DataFrame:
    """Add lake_record: the record's number in its file, from 1, without a shuffle."""
    offsets: List[Tuple[str, int, int]] = []
    done: Dict[str, int] = {}
    for row in counted.splits:
        before = done.get(row.lake_path, 0)
        offsets.append((row.lake_path, row.lake_block, before + 1 - row.first_id))
        done[row.lake_path] = before + row.records
    if not offsets:
        return rows.withColumn(LogColumn.RECORD, F.lit(0).cast("bigint")).drop(
            "lake_id", "lake_block"
        )
    table = small_table(rows.sparkSession, OFFSETS, offsets)
    return (
        rows.join(F.broadcast(table), [LogColumn.PATH, "lake_block"])
        .withColumn(LogColumn.RECORD, F.col("lake_id") + F.col("lake_offset"))
        .drop("lake_id", "lake_offset", "lake_block")
    )
