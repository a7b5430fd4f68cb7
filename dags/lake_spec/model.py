"""What a table spec says, as plain frozen dataclasses.

One class per kind of thing, so that a kind has only its own settings. The
decoder, the JSON Schema and the reference page all read these classes: the
field's type gives what is accepted, `setting(...)` gives the words.

Standard library only; Python 3.9 to 3.12.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Optional, Tuple

from lake_spec.aws import ClusterSpec, EnvironmentSpec
from lake_spec.choices import (
    Absence,
    CurrentDeletes,
    Engine,
    HistoryDeletes,
    HistoryRuns,
    Index,
    NewColumns,
    OnFail,
    OnTypeMismatch,
    SurrogateKind,
    TableType,
)
from lake_spec.setting import setting
from lake_spec.sources import (
    Csv,
    Dimension,
    ExtractTime,
    Feed,
    Format,
    Json,
    Operation,
    Parquet,
    Reloads,
    Side,
    Scope,
    Snapshot,
    Source,
)

__all__ = [
    "Absence",
    "ClusterSpec",
    "Column",
    "Csv",
    "Current",
    "CurrentDeletes",
    "Dimension",
    "DomainSpec",
    "Engine",
    "EnvironmentSpec",
    "ExtractTime",
    "Feed",
    "Format",
    "History",
    "HistoryColumns",
    "HistoryDeletes",
    "HistoryRuns",
    "Index",
    "Json",
    "Maintenance",
    "NewColumns",
    "Notifications",
    "OnFail",
    "OnTypeMismatch",
    "Operation",
    "Parquet",
    "Quarantine",
    "Reloads",
    "Rule",
    "Schedules",
    "Side",
    "Scope",
    "Snapshot",
    "Source",
    "Storage",
    "SurrogateKey",
    "SurrogateKind",
    "TableSpec",
    "TableType",
    "setting",
]


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
        "How text is a date or timestamp, as in Spark's datetime patterns.", None
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

    compact_after: int = setting("Log commits after which to compact.", 1)
    cluster_after: int = setting(
        "Small change-log files after which to cluster them.", 4
    )
    keep_commits: int = setting("Commits that stay readable as-of.", 30)


@dataclass(frozen=True)
class Rule:
    """One quality rule on one column; exactly one test of the five."""

    column: str = setting("Column that is tested.", example="amount")
    not_null: bool = setting("It has a value.", False)
    one_of: Tuple[str, ...] = setting("Its value is one of these.", ())
    matches: Optional[str] = setting("Its text matches this regular expression.", None)
    at_least: Optional[float] = setting("It is not smaller.", None)
    at_most: Optional[float] = setting("It is not larger.", None)
    on_fail: OnFail = setting("What happens to the row.", OnFail.QUARANTINE)


@dataclass(frozen=True)
class Quarantine:
    """How many bad rows a run bears before it writes nothing."""

    max_share: float = setting("Largest share of bad rows (0 to 1).", 0.01)
    min_rows: int = setting("Up to this many bad rows never fail a run.", 100)


@dataclass(frozen=True)
class TableSpec:
    """One table: what it is, where it comes from, what is promised of it."""

    name: str = setting("Name of the table; also of its file.", example="artists")
    domain: str = setting(
        "Domain that it belongs to; its folder says it.", example="moma", given="folder"
    )
    description: str = setting(
        "One sentence for its readers.", example="Artists of the museum, one row each"
    )
    owner: str = setting("Team that answers for it.", example="museum-data")
    source: Source = setting(
        "Where its rows come from.",
        example={"kind": "snapshot", "path": "moma/artists"},
    )
    key: Tuple[str, ...] = setting("Columns that identify a row.", example=["id"])
    columns: Tuple[Tuple[str, Column], ...] = setting(
        "Its columns: name, type and source names.", ()
    )
    order_by: Tuple[str, ...] = setting(
        "Columns that put the changes of a key in order (feeds).", ()
    )
    effective_at: Optional[str] = setting(
        "Column that says since when a row is true in the business.", None
    )
    load_effective_at: Optional[str] = setting(
        "Time since which full-load rows are true.", None, example="1900-01-01"
    )
    future_dates: bool = setting("Whether effective times may lie ahead.", False)
    engine: Engine = setting("Who ingests it.", Engine.PYSPARK)
    current: Current = setting("The current table.", Current())
    history: History = setting("The history table.", History())
    storage: Storage = setting("How tables are stored.", Storage())
    maintenance: Maintenance = setting("When upkeep is due.", Maintenance())
    quality: Tuple[Rule, ...] = setting("Quality rules.", ())
    quarantine: Quarantine = setting("Limits of bad rows.", Quarantine())

    @property
    def full_name(self) -> str:
        """`domain.table`, as people and catalogues say it."""
        return f"{self.domain}.{self.name}"

    @property
    def is_dimension(self) -> bool:
        """Whether it is made of two other tables and has no files."""
        return isinstance(self.source, Dimension)


@dataclass(frozen=True)
class Schedules:
    """When a domain's DAGs start; left out means by hand only."""

    full_load: Optional[str] = setting("Cron text of the full load.", None)
    incremental: Optional[str] = setting("Cron text of the incremental run.", None)
    maintenance: Optional[str] = setting("Cron text of the upkeep.", None)


@dataclass(frozen=True)
class Notifications:
    """Where a domain tells its people."""

    failure_topic: Optional[str] = setting(
        "ARN of the SNS topic that hears of failed runs.", None
    )


@dataclass(frozen=True)
class DomainSpec:
    """Tables that share runs, clusters and people (`_domain.yml`)."""

    name: str = setting("Name of the domain; also of its folder.", example="moma")
    description: str = setting(
        "One sentence on what its data is about.", example="The museum's collection"
    )
    owner: str = setting("Team that answers for its runs.", example="museum-data")
    cluster: str = setting("Name of a file in `clusters/`.", "standard")
    tags: Tuple[str, ...] = setting("Tags of its DAGs.", ())
    history_runs: HistoryRuns = setting(
        "Whether SCD2 follows in the incremental cluster or in its own DAG by an Asset.",
        HistoryRuns.SAME_CLUSTER,
    )
    schedules: Schedules = setting("When its DAGs start.", Schedules())
    notifications: Notifications = setting("Who is told.", Notifications())
    tables: Tuple[TableSpec, ...] = setting(
        "Its tables, from their own files.", (), given="files"
    )
