"""Tables and domains: what their specs say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar, Dict, Literal, Mapping, Optional, Tuple

from lake_spec.model.checks import Check
from lake_spec.model.choices import (
    AbsentFields,
    Concurrency,
    Engine,
    Event,
    HistoryRuns,
    Profile,
)
from lake_spec.model.column_type import BadType, ColumnType, parse_type
from lake_spec.model.continuous import Continuous
from lake_spec.model.enrichment import Enrichment
from lake_spec.model.envelopes import Debezium
from lake_spec.model.forms import CRON, ROLE, SNS_TOPIC
from lake_spec.model.limits import Limits
from lake_spec.model.names import NAME
from lake_spec.model.product import Product
from lake_spec.model.pulls import Changes
from lake_spec.model.sources import (
    Dimension,
    SnapshotTime,
    Feed,
    Operation,
    FullRefresh,
    Scope,
    Landed,
    Snapshot,
    Source,
)
from lake_spec.model.spec_field import setting
from lake_spec.model.table_parts import (
    Column,
    Current,
    History,
    Maintenance,
    Quarantine,
    Rule,
    Storage,
)

# What several kinds of tables say in the same words.
_columns = partial(setting, "Columns: name, type and names in the source.", ())
_quality = partial(setting, "Quality rules, of one row each.", ())
_engine = partial(setting, "Ingestion engine.", Engine.PYSPARK)
_source = partial(setting, "Source of the rows.")


@dataclass(frozen=True)
class TableSpec:
    """One table: what it is, where it comes from, what is promised of it."""

    # Each is of one of the classes in `kinds`. A property of this class is what a table
    # has that says nothing else.

    told_by: ClassVar[str] = "source"
    """The setting whose kind tells the class."""
    kinds: ClassVar[Tuple[type, ...]] = ()
    """The classes of the kinds, as they are given below."""
    lacks: ClassVar[str] = ""
    """Why a table of the kind lacks settings that others have."""

    name: str = setting("Name of the table and of its file.", example="artists")
    domain: str = setting(
        "Domain of the table; derived from its folder.", example="moma", given="folder"
    )
    description: str = setting(
        "One sentence for readers.", example="Artists of the museum, one row each"
    )
    owner: str = setting("Owning team.", example="museum-data")
    source: Source = _source(example={"kind": "snapshot", "path": "moma/artists"})
    key: Tuple[str, ...] = setting("Columns that identify a row.", example=["id"])
    engine: Engine = _engine()
    storage: Storage = setting("Storage of the tables.", Storage())
    profile: Profile = setting(
        "When the columns of current are measured.",
        Profile.WEEKLY,
    )
    maintenance: Maintenance = setting("Thresholds of maintenance.", Maintenance())
    checks: Tuple[Check, ...] = setting(
        "Checks of all rows together, evaluated before a commit.",
        (),
        example=[{"kind": "unique", "columns": ["email"]}],
    )
    quarantine: Quarantine = setting("Limits of bad rows.", Quarantine())
    formerly: Optional[str] = setting(
        "Name, `domain.table`, under which it was first loaded, and is stored. To be kept "
        "as long as the table lives (docs/renaming.md).",
        None,
        example="sales.order_lines",
    )

    @property
    def full_name(self) -> str:
        """`domain.table`, as people and catalogues say it."""
        return f"{self.domain}.{self.name}"

    @property
    def stored_as(self) -> str:
        """`domain.table`, as its folders and state are named, which no rename changes."""
        return self.formerly or self.full_name

    @property
    def stored_domain(self) -> str:
        """The domain in that name."""
        return self.stored_as.partition(".")[0]

    @property
    def stored_name(self) -> str:
        """The table in that name."""
        return self.stored_as.partition(".")[2]

    def column(self, name: str) -> Optional[Column]:
        """Return the declared column of that name; None if it is not declared."""
        return self._declared.get(name)

    def type_of(self, name: str) -> Optional[ColumnType]:
        """Return the declared type of a column, if it is declared and valid."""
        declared = self.column(name)
        try:
            return parse_type(declared.type) if declared else None
        except BadType:
            return None

    @cached_property
    def _declared(self) -> Dict[str, Column]:
        return dict(self.columns)

    @property
    def columns(self) -> Tuple[Tuple[str, Column], ...]:
        """The columns that it declares itself."""
        return ()

    @property
    def quality(self) -> Tuple[Rule, ...]:
        """The rules that each of its rows is judged by."""
        return ()

    @property
    def order_by(self) -> Tuple[str, ...]:
        """The columns that order the changes of a key."""
        return ()

    @property
    def effective_at(self) -> Optional[str]:
        """The column with the time since which a row is valid in the business."""
        return None

    @property
    def operation(self) -> Optional[Operation]:
        """The column of the rows' operation, if they have one."""
        return None

    @property
    def full_refresh(self) -> Optional[FullRefresh]:
        """The settings of full refreshes, if there may be any."""
        return None

    @property
    def envelope(self) -> Optional[Debezium]:
        """The envelope of the rows of its change files, if they have one."""
        return None

    @property
    def changes_from(self) -> Optional[Changes]:
        """The source that its change files are pulled from, if they are."""
        return None

    @property
    def enrich(self) -> Tuple[Enrichment, ...]:
        """The reference tables whose values its rows are given."""
        return ()

    @property
    def snapshot_time(self) -> Optional[SnapshotTime]:
        """The place of the snapshot time; only a snapshot has one."""
        return None

    @property
    def scope(self) -> Optional[Scope]:
        """The scope of one snapshot, if it is not the whole table."""
        return None

    @property
    def late_after_hours(self) -> Optional[float]:
        """Hours after which its source is late, if known."""
        return None

    @property
    def keeps_absent(self) -> bool:
        """True if a field that a record lacks did not change."""
        return False

    @property
    def begins_with_load(self) -> bool:
        """True if its first rows are those of a full load that its changes lack."""
        return False

    @property
    def path_columns(self) -> Mapping[str, str]:
        """The pattern of each column whose values the paths of its files have."""
        return {}


@dataclass(frozen=True)
class VersionedTable(TableSpec):
    """A table with a history: one of files, or a dimension."""

    current: Current = setting("The current table.", Current())
    history: History = setting("The history table.", History())


@dataclass(frozen=True)
class FileTable(VersionedTable):
    """A table that is built from landing files: of snapshots, or of changes."""

    source: Landed = _source(example={"kind": "snapshot", "path": "moma/artists"})
    columns: Tuple[Tuple[str, Column], ...] = _columns()
    effective_at: Optional[str] = setting(
        "Column with the time since which a row is valid in the business.", None
    )
    load_effective_at: Optional[str] = setting(
        "Time since which the rows of the full load are valid.",
        None,
        example="1900-01-01",
    )
    future_dates: bool = setting("Accept effective times in the future.", False)
    quality: Tuple[Rule, ...] = _quality()

    @property
    def late_after_hours(self) -> Optional[float]:
        """Hours after which its source is late, if known."""
        return self.source.late_after_hours


@dataclass(frozen=True)
class SnapshotTable(FileTable):
    """A table of full copies that come again; each is compared with the one before."""

    lacks: ClassVar[str] = "snapshots are ordered by their own times"

    source: Snapshot = _source(example={"kind": "snapshot", "path": "moma/artists"})
    engine: Literal[Engine.PYSPARK] = _engine()

    @property
    def snapshot_time(self) -> SnapshotTime:
        """The place of the snapshot time."""
        return self.source.snapshot_time

    @property
    def scope(self) -> Optional[Scope]:
        """The scope of one snapshot, if it is not the whole table."""
        return self.source.scope

    @cached_property
    def path_columns(self) -> Dict[str, str]:
        """The pattern of the column whose values the paths of its files have."""
        scope = self.scope
        return {scope.column: scope.pattern} if scope and scope.pattern else {}


@dataclass(frozen=True)
class FeedTable(FileTable):
    """A table of a full load and, after it, change events."""

    source: Feed = _source(example={"kind": "feed", "path": "sales/orders"})
    order_by: Tuple[str, ...] = setting("Columns that order the changes of a key.", ())

    @property
    def begins_with_load(self) -> bool:
        """True if its first rows are those of a full load that its changes lack.

        Pulled changes begin with the whole table, and some feeds mark its rows among them.
        """
        marked = self.operation is not None and bool(self.operation.load)
        is_among = marked or self.changes_from is not None
        return self.source.load_from is not None or not is_among

    @property
    def operation(self) -> Optional[Operation]:
        """The column of the rows' operation, if they have one."""
        return self.source.operation

    @property
    def full_refresh(self) -> Optional[FullRefresh]:
        """The settings of full refreshes, if there may be any."""
        return self.source.full_refresh

    @property
    def envelope(self) -> Optional[Debezium]:
        """The envelope of the rows of its change files, if they have one."""
        return self.source.envelope

    @property
    def changes_from(self) -> Optional[Changes]:
        """The source that its change files are pulled from, if they are."""
        return self.source.changes_from

    @property
    def enrich(self) -> Tuple[Enrichment, ...]:
        """The reference tables whose values its rows are given."""
        return self.source.enrich

    @property
    def keeps_absent(self) -> bool:
        """True if a field that a record lacks did not change."""
        return self.source.absent_fields is AbsentFields.UNCHANGED

    @cached_property
    def path_columns(self) -> Dict[str, str]:
        """The pattern of each column whose values the paths of its files have."""
        return dict(self.source.path_columns)


@dataclass(frozen=True)
class DimensionTable(VersionedTable):
    """Two tables as one: their histories, joined by the key. No files of its own."""

    lacks: ClassVar[str] = (
        "a dimension has no landing files, its two tables define this"
    )

    source: Dimension = _source(
        example={"kind": "dimension", "main": "customers", "joined": "addresses"}
    )
    engine: Literal[Engine.PYSPARK] = _engine()


@dataclass(frozen=True)
class ProductTable(TableSpec):
    """A table that is made of other tables by SQL. It has one layer, and no files."""

    lacks: ClassVar[str] = "a product has no landing files, deletes or history"

    source: Product = _source(example={"kind": "product", "sql": "totals.sql"})
    engine: Literal[Engine.PYSPARK] = _engine()
    columns: Tuple[Tuple[str, Column], ...] = _columns()
    quality: Tuple[Rule, ...] = _quality()


TableSpec.kinds = (SnapshotTable, FeedTable, DimensionTable, ProductTable)


@dataclass(frozen=True)
class Schedules:
    """Schedules of a domain's DAGs; if left out, only manual runs."""

    full_load: Optional[str] = setting("Cron text of the full load.", None, form=CRON)
    incremental: Optional[str] = setting(
        "Cron text of the incremental run.", None, form=CRON
    )
    maintenance: Optional[str] = setting(
        "Cron text of the maintenance.", None, form=CRON
    )
    continuous: Optional[str] = setting(
        "Cron text of the continuous run; it starts only if none is running.",
        None,
        form=CRON,
    )


@dataclass(frozen=True)
class Clusters:
    """Clusters of single DAGs; one that is left out runs on the domain's `cluster`."""

    full_load: Optional[str] = setting("Cluster of full loads.", None, form=NAME)
    incremental: Optional[str] = setting(
        "Cluster of incremental runs.", None, form=NAME
    )
    continuous: Optional[str] = setting("Cluster of continuous runs.", None, form=NAME)
    scd2: Optional[str] = setting(
        ("Cluster of history runs, with `history_runs: own_dag`."), None, form=NAME
    )
    reprocess: Optional[str] = setting("Cluster of reprocess runs.", None, form=NAME)
    products: Optional[str] = setting("Cluster of products runs.", None, form=NAME)
    maintenance: Optional[str] = setting(
        "Cluster of maintenance runs.", None, form=NAME
    )
    rebuild: Optional[str] = setting("Cluster of rebuild runs.", None, form=NAME)
    erase: Optional[str] = setting("Cluster of erase runs.", None, form=NAME)


@dataclass(frozen=True)
class LandingGrant:
    """A landing folder of a domain that tables of others may read too."""

    folder: str = setting(
        "Folder below the landing area, within this domain's folder; its subfolders "
        "are granted too.",
        example="sales/orders",
    )
    to: Tuple[str, ...] = setting("Domains whose tables may read it.", example="[moma]")


@dataclass(frozen=True)
class TableGrant:
    """Tables of a domain that products of others may read."""

    to: Tuple[str, ...] = setting(
        "Domains whose products may read them.", example=["shop"]
    )
    tables: Tuple[str, ...] = setting(
        "Tables that they may read, each with its history and change log, a dimension "
        "with its two tables; if left out, all of the domain.",
        (),
    )


@dataclass(frozen=True)
class Reader:
    """A role that may read tables of the domain, by Lake Formation."""

    role: str = setting(
        "Name of an IAM role of the environment's account, or the ARN of any role.",
        example="analysts",
        form=ROLE,
    )
    tables: Tuple[str, ...] = setting(
        "Tables that it may read, each with its history; if left out, all of the "
        "domain. Nobody is granted the change log.",
        (),
    )
    columns: Tuple[str, ...] = setting(
        "Columns of these tables that it may read, next to those that history adds; "
        "if left out, all.",
        (),
    )


@dataclass(frozen=True)
class Term:
    """A word of the business, and its other words."""

    shorthand: ClassVar[str] = "description"
    description: str = setting(
        "What it means, in one sentence.",
        example="Day on which a person was born",
    )
    synonyms: Tuple[str, ...] = setting(
        "Other words for it; a search for one of them finds the columns and tables "
        "that the term names.",
        (),
        example=["birthday"],
    )


@dataclass(frozen=True)
class Notifications:
    """SNS topic of a domain's notifications, and their events."""

    topic: Optional[str] = setting(
        "ARN of a standard SNS topic; if left out, no notifications are sent.",
        None,
        form=SNS_TOPIC,
    )
    events: Tuple[Event, ...] = setting(
        "Events to notify of.",
        tuple(Event),
    )


STAGE_HOURS = 8
"""Default limit of a stage, on every cluster."""


@dataclass(frozen=True)
class DomainSpec:
    """Tables that share runs, clusters and people (`_domain.yml`)."""

    name: str = setting("Name of the domain and of its folder.", example="moma")
    description: str = setting(
        "One sentence on what its data is about.", example="The museum's collection"
    )
    owner: str = setting("Owning team.", example="museum-data")
    contact: Optional[str] = setting(
        "Where people ask about its tables: a page (`https://...`), a mail box "
        "(`data@example.com`) or a channel (`#museum-data`).",
        None,
        example="#museum-data",
    )
    cluster: str = setting("Name of a file in `clusters/`.", "standard", form=NAME)
    clusters: Clusters = setting(
        "Clusters of single DAGs, such as a larger one for full loads.", Clusters()
    )
    tags: Tuple[str, ...] = setting("Tags of the DAGs.", ())
    history_runs: HistoryRuns = setting(
        "Where history runs.",
        HistoryRuns.SAME_CLUSTER,
    )
    concurrency: Concurrency = setting(
        "What a run does while another run of the domain is running.",
        Concurrency.WAIT,
    )
    schedules: Schedules = setting("Schedules of the DAGs.", Schedules())
    stage_hours: int = setting(
        "Hours that a stage of a run may take (at most `max_hours` of "
        "the domain's clusters). A step is cancelled after the hours of all its stages.",
        STAGE_HOURS,
        limits=Limits(1, 168),
    )
    step_per_stage: bool = setting(
        "Run each stage as an EMR step of its own. If left out, one step ingests and "
        "then builds the history, which saves the start of an application.",
        False,
    )
    continuous: Optional[Continuous] = setting(
        "Runs of many micro-batches in one cluster, for near real time; if left out, "
        "none.",
        None,
    )
    notifications: Notifications = setting("Notifications.", Notifications())
    landing_grants: Tuple[LandingGrant, ...] = setting(
        "Landing folders of this domain that tables of other domains may read; only "
        "the owning domain can grant them.",
        (),
    )
    table_grants: Tuple[TableGrant, ...] = setting(
        "Tables of this domain that products of other domains may read; only the owning "
        "domain can grant them. Runs that changed a table then update the asset "
        "`<domain>.tables`, which starts `<domain>_products` of those domains.",
        (),
    )
    readers: Tuple[Reader, ...] = setting(
        "Roles that may read tables of the domain, where Lake Formation guards them.",
        (),
    )
    glossary: Tuple[Tuple[str, Term], ...] = setting(
        "Terms of the business with their meaning and synonyms, by which people find "
        "tables and columns.",
        (),
        example={"date of birth": {"description": "Day on which a person was born"}},
    )
    tables: Tuple[TableSpec, ...] = setting(
        "Tables, from their own files.", (), given="files"
    )

    @property
    def contact_url(self) -> Optional[str]:
        """What a browser opens for the contact; None where that is a channel or nothing."""
        if self.contact is None or self.contact.startswith("#"):
            return None
        is_page = self.contact.startswith("https://")
        return self.contact if is_page else f"mailto:{self.contact}"

    def cluster_of(self, kind: str) -> str:
        """Return the name of the cluster that a kind of DAG runs on."""
        return getattr(self.clusters, kind) or self.cluster
