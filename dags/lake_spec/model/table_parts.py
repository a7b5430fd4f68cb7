"""The parts of a table spec next to its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Optional, Tuple

from lake_spec.model.choices import (
    CurrentDeletes,
    HistoryDeletes,
    Index,
    OnFail,
    OnTypeMismatch,
    ReadableAs,
    Sensitivity,
    Shuffle,
    SurrogateKind,
    TableType,
)
from lake_spec.model.forms import COLUMN_TYPE
from lake_spec.model.limits import Limits, SHARE
from lake_spec.model.number_format import NumberFormat
from lake_spec.model.spec_field import setting
from lake_spec.text.numbers import plain_number

MOST_BUCKETS = 1000
"""More than any proposal (docs/estimates.md): each is a file in each partition."""


@dataclass(frozen=True)
class Column:
    """One column of the lake's tables and where it comes from."""

    shorthand: ClassVar[str] = "type"
    type: str = setting(
        "Spark SQL type: string, int, decimal(10,2), timestamp, array<string> ... Tables"
        " keep tinyint and smallint as int.",
        example="string",
        form=COLUMN_TYPE,
    )
    source: Tuple[str, ...] = setting(
        "Names of the column in the source, newest first; if left out, the same name.",
        (),
        example=["ArtistBio", "DisplayDate"],
    )
    format: Optional[str] = setting(
        "Format in the source: Spark's datetime pattern of a text that is a date or "
        "timestamp; epoch_days, epoch_seconds, epoch_millis, epoch_micros or "
        "epoch_nanos for a whole number since 1970; base64 of a binary; "
        "base64_unscaled of a decimal (its digits as big-endian bytes).",
        None,
        example="epoch_millis",
    )
    numbers: Optional[NumberFormat] = setting(
        "How its numbers are written in files of CSV; if left out, as "
        "`source.format.numbers` says.",
        None,
        example={"decimal": ",", "group": "."},
    )
    dropped: bool = setting(
        "Mark the column as no longer sent: a file without it keeps the present "
        "values and opens no version.",
        False,
    )
    on_type_mismatch: OnTypeMismatch = setting(
        "Handling of a file in which the type of the column is narrower or different.",
        OnTypeMismatch.REFUSE,
    )
    description: Optional[str] = setting(
        "One sentence on what its values mean, for readers and catalogues.",
        None,
        example="Name as it is shown, family name last",
    )
    tags: Tuple[str, ...] = setting(
        "Tags to find the column by.", (), example=["contact"]
    )
    sensitivity: Optional[Sensitivity] = setting(
        "Who may see its values; if left out, that of the columns that its values come "
        "from, else `none`.",
        None,
    )


@dataclass(frozen=True)
class Current:
    """The current table: one row per living key."""

    deletes: CurrentDeletes = setting("Effect of a delete.", CurrentDeletes.HARD)


@dataclass(frozen=True)
class SurrogateKey:
    """The key of a version, for facts to refer to: it belongs to key and start."""

    kind: SurrogateKind = setting(
        "Kind of surrogate key.",
        SurrogateKind.DETERMINISTIC,
    )
    column: str = setting("Its name.", "version_key")


@dataclass(frozen=True)
class HistoryColumns:
    """Names of the columns that history adds."""

    valid_from: str = setting("Start of the version, inclusive.", "valid_from")
    valid_to: str = setting("End of the version, exclusive.", "valid_to")
    is_current: str = setting("True if the version has not ended.", "is_current")
    is_deleted: str = setting("True if the row marks a delete.", "is_deleted")


@dataclass(frozen=True)
class History:
    """The history table: one row per version of a key."""

    track: Tuple[str, ...] = setting(
        "Columns whose change opens a version; if left out, all.", ()
    )
    ignore: Tuple[str, ...] = setting("Columns whose change opens no version.", ())
    deletes: HistoryDeletes = setting("Effect of a delete.", HistoryDeletes.CLOSE)
    open_end: Optional[str] = setting(
        "End of open versions: null, or a date such as 9999-12-31.", None
    )
    surrogate_key: SurrogateKey = setting(
        ("Surrogate key of the version."), SurrogateKey()
    )
    columns: HistoryColumns = setting("Names of the added columns.", HistoryColumns())


@dataclass(frozen=True)
class Storage:
    """Storage of current and history in Hudi; the change log is append-only."""

    type: TableType = setting(
        "Table type.",
        TableType.COPY_ON_WRITE,
    )
    index: Index = setting("Index type.", Index.BUCKET)
    buckets: int = setting(
        "Number of buckets of a bucket index, in each partition; of plain Parquet, "
        "largest number of files in each partition.",
        2,
        limits=Limits(1, MOST_BUCKETS),
    )
    partition_by: Tuple[str, ...] = setting("Partition columns.", ())
    sort_by: Tuple[str, ...] = setting(
        "Columns that order the rows within a file, so that reads which select by them "
        "skip parts of it (products).",
        (),
    )
    readable_as: Optional[Tuple[ReadableAs, ...]] = setting(
        "Formats that readers of other engines find the tables in, next to Hudi; if "
        "left out, those that the environment names.",
        None,
        example=["iceberg", "delta"],
    )
    table_version: int = setting(
        "Hudi's table version: 8, or 6, which readers of Hudi 0.14 such as Athena's own "
        "know too (`copy_on_write`).",
        8,
    )
    shuffle: Shuffle = setting(
        "What brings the rows of a first load or a rebuild to the buckets of a bucket index.",
        Shuffle.SPARK,
    )

    @property
    def is_plain(self) -> bool:
        """Return whether the table is plain Parquet, which no commit changes in part."""
        return self.type is TableType.PARQUET

    @property
    def formats(self) -> Tuple[ReadableAs, ...]:
        """Return what `readable_as` names, none where it is left out."""
        return self.readable_as or ()


@dataclass(frozen=True)
class Maintenance:
    """Thresholds of compaction, clustering and cleaning."""

    compact_after: int = setting(
        "Commits to log files after which to compact (`merge_on_read`); a compaction "
        "rewrites each file that has log files.",
        20,
        limits=Limits(1, 1000),
    )
    cluster_after: int = setting(
        "Number of files of the change log below 4 MB, or below 64 MB, after which "
        "they are merged.",
        20,
        limits=Limits(2, 10000),
    )
    keep_commits: int = setting(
        "Number of commits that stay readable as-of.", 30, limits=Limits(1, 10000)
    )


@dataclass(frozen=True)
class Rule:
    """One quality rule on one column; exactly one test of the five."""

    column: str = setting("Column to test.", example="amount")
    not_null: bool = setting("Require a value.", False)
    one_of: Tuple[str, ...] = setting("Allowed values.", ())
    matches: Optional[str] = setting(
        "Regular expression that the text, of up to 4,096 characters, must match.", None
    )
    at_least: Optional[float] = setting("Smallest value.", None)
    at_most: Optional[float] = setting("Largest value.", None)
    on_fail: OnFail = setting("Action for a row that fails.", OnFail.QUARANTINE)

    @property
    def broken(self) -> str:
        """What is wrong with a row that fails, in words; reports count rows by them."""
        if self.not_null:
            return f"{self.column} has no value"
        if self.one_of:
            return f"{self.column} is not one of {list(self.one_of)}"
        if self.matches is not None:
            return f"{self.column} does not match {self.matches!r}"
        if self.at_least is not None:
            return f"{self.column} is below {plain_number(self.at_least)}"
        assert self.at_most is not None, f"a rule of {self.column} has no test"
        return f"{self.column} is above {plain_number(self.at_most)}"


@dataclass(frozen=True)
class Quarantine:
    """Limits of bad rows, above which a run writes nothing."""

    max_share: float = setting(
        "Largest share of bad rows. More than half fail a run, however few they "
        "are, unless a larger share is allowed here.",
        0.01,
        limits=SHARE,
    )
    min_rows: int = setting(
        "Number of bad rows that fails no run, if they are not more than half.",
        100,
        limits=Limits(0, 10**9),
    )
    warn_share: Optional[float] = setting(
        "Share of bad rows above which a notification is sent although the run goes "
        "on (0 to `max_share`); 0 means any.",
        None,
        example=0.001,
        limits=SHARE,
    )
