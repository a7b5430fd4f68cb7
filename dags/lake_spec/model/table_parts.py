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
    SurrogateKind,
    TableType,
)
from lake_spec.model.spec_field import setting


@dataclass(frozen=True)
class Column:
    """One column of the lake's tables and where it comes from."""

    shorthand: ClassVar[str] = "type"
    type: str = setting(
        "Spark SQL type: string, int, decimal(10,2), timestamp, array<string> ... Tables"
        " keep tinyint and smallint as int.",
        example="string",
    )
    source: Tuple[str, ...] = setting(
        "Names that the source has used for it, newest first; the same name if left out.",
        (),
        example=["ArtistBio", "DisplayDate"],
    )
    format: Optional[str] = setting(
        "How the source writes it: Spark's datetime pattern of a text that is a date or"
        " timestamp; epoch_days, epoch_seconds, epoch_millis, epoch_micros or epoch_nanos"
        " where that is a whole number since 1970; base64 of a binary; base64_unscaled"
        " of a decimal (its digits as big-endian bytes).",
        None,
        example="epoch_millis",
    )
    dropped: bool = setting(
        "Whether the source no longer sends it: a file without it leaves its values as"
        " they were, and opens no version.",
        False,
    )
    on_type_mismatch: OnTypeMismatch = setting(
        "What happens to a file whose type of it is narrower or another: the file is"
        " refused, or its rows that do not fit are quarantined.",
        OnTypeMismatch.REFUSE,
    )


@dataclass(frozen=True)
class Current:
    """The current table: one row per living key."""

    deletes: CurrentDeletes = setting("What a delete leaves.", CurrentDeletes.HARD)


@dataclass(frozen=True)
class SurrogateKey:
    """The key of a version, for facts to refer to: it belongs to key and start."""

    kind: SurrogateKind = setting(
        "A hash, the same in every lake (text), or numbers in a table of their own"
        " (bigint, with gaps).",
        SurrogateKind.DETERMINISTIC,
    )
    column: str = setting("Its name.", "version_key")


@dataclass(frozen=True)
class HistoryColumns:
    """Names of the columns that history adds."""

    valid_from: str = setting("Start of the version, inclusive.", "valid_from")
    valid_to: str = setting("End of the version, exclusive.", "valid_to")
    is_current: str = setting("Whether the version has not ended.", "is_current")
    is_deleted: str = setting("Whether the row marks a delete.", "is_deleted")


@dataclass(frozen=True)
class History:
    """The history table: one row per version of a key."""

    track: Tuple[str, ...] = setting(
        "Columns whose change opens a version; all if left out.", ()
    )
    ignore: Tuple[str, ...] = setting("Columns whose change opens none.", ())
    deletes: HistoryDeletes = setting("What a delete leaves.", HistoryDeletes.CLOSE)
    open_end: Optional[str] = setting(
        "End of open versions: no value, or a date such as 9999-12-31.", None
    )
    surrogate_key: SurrogateKey = setting("The version's own key.", SurrogateKey())
    columns: HistoryColumns = setting("Names of the added columns.", HistoryColumns())


@dataclass(frozen=True)
class Storage:
    """How Hudi stores current and history; the change log is append-only."""

    type: TableType = setting("Table type.", TableType.COPY_ON_WRITE)
    index: Index = setting("Index type.", Index.BUCKET)
    buckets: int = setting("Number of buckets of a bucket index.", 2)
    partition_by: Tuple[str, ...] = setting("Partition columns.", ())


@dataclass(frozen=True)
class Maintenance:
    """When compaction, clustering and cleaning are due."""

    compact_after: int = setting(
        "Commits to log files after which to compact (`merge_on_read`): each writes the"
        " files that have some whole.",
        20,
    )
    cluster_after: int = setting(
        "So many files of the change log below 4 MB, else so many below 64 MB, are put"
        " together.",
        20,
    )
    keep_commits: int = setting("Commits that stay readable as-of.", 30)


@dataclass(frozen=True)
class Rule:
    """One quality rule on one column; exactly one test of the five."""

    column: str = setting("Column that is tested.", example="amount")
    not_null: bool = setting("It has a value.", False)
    one_of: Tuple[str, ...] = setting("Its value is one of these.", ())
    matches: Optional[str] = setting(
        "Its text, of up to 4,096 characters, matches this regular expression.", None
    )
    at_least: Optional[float] = setting("It is not smaller.", None)
    at_most: Optional[float] = setting("It is not larger.", None)
    on_fail: OnFail = setting("What happens to the row.", OnFail.QUARANTINE)


@dataclass(frozen=True)
class Quarantine:
    """How many bad rows a run bears before it writes nothing."""

    max_share: float = setting("Largest share of bad rows (0 to 1).", 0.01)
    min_rows: int = setting("Up to this many bad rows never fail a run.", 100)
    warn_share: Optional[float] = setting(
        "Share of bad rows over which people are told though the run goes on (0 to"
        " `max_share`); 0 means any.",
        None,
        example=0.001,
    )
