"""One table in one stage of one run: its places, its tables and its report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import (
    Callable,
    Dict,
    Generic,
    List,
    Optional,
    Tuple,
    Type,
    TypeVar,
    Union,
    cast,
)

from pyspark.sql import SparkSession

from lake_spec.diagnostics.diagnostic import key_path
from lake_spec.diagnostics.warnings import WarningId
from lake_spec.hudi.options import OLDER_TABLE_VERSION, log_options, table_options
from lake_spec.facts.landing_folders import landing_folder, landing_root
from lake_spec.layout.glue_names import QUARANTINE, glue_name
from lake_spec.layout.table_folders import table_folder
from lake_spec.lineage.sensitivity import ColumnSensitivity
from lake_spec.model import (
    DimensionTable,
    Engine,
    EnvironmentSpec,
    FeedTable,
    FileTable,
    ProductTable,
    SnapshotTable,
    Storage,
    TableSpec,
    VersionedTable,
)
from lake_spec.model.history_columns import added_columns
from lake_spec.state.erase_request import list_uri
from lake_spec.state.report import Report
from lake_spark.changelog.schema import ENVELOPE, LogColumn
from lake_spark.changelog.table import ChangeLog
from lake_spark.errors import BadFileReason, SettingsChanged
from lake_spark.landing.ingested_files import IngestedFiles, IngestedFilesFolder
from lake_spark.scd2 import fold
from lake_spark.scd2.events import KEY
from lake_spark.schema.key_text import key_text
from lake_spark.schema.promotion import merged, stored_type, widens
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.storage.lease_check import no_lease
from lake_spark.storage.object_store import ObjectStore
from lake_spark.storage.parquet_table import ParquetTable, PlainLayout
from lake_spark.tables.erased_keys import ErasedObject
from lake_spark.tables.sensitivity import SENSITIVITY

HUDI_LAYERS = ("changes", "current", "history", "surrogate_keys", "quarantine")
"""The Hudi tables that a table of the lake can have, by the names of their folders."""


@dataclass(frozen=True)
class Window:
    """Landing or snapshot times that a run considers: [start, end), open where None."""

    start: Optional[datetime] = None
    end: Optional[datetime] = None

    def holds(self, timestamp: datetime) -> bool:
        """Return whether a time lies in the window."""
        after = self.start is None or timestamp >= self.start
        return after and (self.end is None or timestamp < self.end)


@dataclass(frozen=True)
class Accepted:
    """What this run takes that no run takes by itself."""

    losses: bool = False
    empty_scopes: Tuple[str, ...] = ()
    """Scope values that its snapshots cover although they have no row of them."""
    pull_from: Optional[str] = None
    """Where pulls by a cursor begin instead of at their bookmarks: a value, or start."""


Table = Union[HudiTable, ParquetTable]
"""A layer's, by what keeps its rows."""


@dataclass
class EarlierRounds:
    """What earlier rounds of a continuous run know of a table."""

    known_bad: Dict[Tuple[str, str], BadFileReason] = field(default_factory=dict)
    """By (path, ETag) why a file is bad."""
    is_registered: bool = False
    """Whether the catalogue was informed of all that they committed."""


Of = TypeVar("Of", bound=TableSpec, covariant=True)
Kind = TypeVar("Kind", bound=TableSpec)


@dataclass
class RunOf(Generic[Of]):
    """What a stage needs to work on one table, for as long as it does.

    `Of` is the class of the table: what works on tables of one kind takes their runs.
    """

    spark: SparkSession
    store: ObjectStore
    spec: Of
    environment: EnvironmentSpec
    report: Report
    window: Window = Window()
    dry_run: bool = False
    accepted: Accepted = Accepted()
    streamer_argv: List[str] = field(default_factory=list)
    domain_tables: Tuple[TableSpec, ...] = ()
    earlier: EarlierRounds = field(default_factory=EarlierRounds)
    check_lease: Callable[[], None] = no_lease
    """Raises where the run must not write any more; asked before each commit."""

    def __post_init__(self) -> None:
        """Let the report have no values of a guarded table."""
        if self.sensitivity.is_guarded(self.spec.full_name):
            self.report.guarded = True

    @property
    def sensitivity(self) -> ColumnSensitivity:
        """Return what is known of the columns of its domain."""
        return SENSITIVITY.of(self.domain_tables, self.spec)

    def of_kind(self, kind: Type[Kind]) -> "RunOf[Kind]":
        """Return this run as that of a kind of table. Raises TypeError for another kind."""
        if not isinstance(self.spec, kind):
            words = f"{self.spec.source.kind}, not a {kind.__name__}"
            raise TypeError(f"{self.spec.full_name} is a {words}")
        return cast("RunOf[Kind]", self)

    def of_table(self, name: str) -> "TableRun":
        """Return the same run, on another table of the domain."""
        (spec,) = [each for each in self.domain_tables if each.name == name]
        return replace(cast("TableRun", self), spec=spec)

    @property
    def layers(self) -> Tuple[str, ...]:
        """Return the layers that the table can have."""
        if isinstance(self.spec, ProductTable):
            return ("current",)
        return ("changes", "current", "history", "surrogate_keys")

    def table(self, layer: str) -> Table:
        """Return a layer's table: changes, current, history, surrogate_keys, quarantine."""
        tables: Dict[str, Callable[[], Table]] = {
            "changes": lambda: self.log,
            "current": lambda: self.current,
            "history": lambda: self.history,
            "surrogate_keys": lambda: self.surrogate_keys,
            "quarantine": lambda: self.quarantine,
        }
        return tables[layer]()

    def hudi(self, layer: str) -> HudiTable:
        """Return a layer's table that Hudi keeps; raise TypeError for plain Parquet."""
        table = self.table(layer)
        if not isinstance(table, HudiTable):
            raise TypeError(f"{self.spec.full_name}: {layer} is plain Parquet")
        return table

    def say(self, what: str) -> None:
        """Print a line of progress in the step's output."""
        words = self.report.words(what)
        print(f"LAKE {self.spec.full_name} {self.report.stage}: {words}", flush=True)

    def warn(self, id: WarningId, words: str) -> None:
        """Report a warning, and print it in the step's output where it is new."""
        if self.report.warn(id, words):
            self.say(words)

    @property
    def landing(self: "RunOf[FileTable]") -> str:
        """Return the folder of its landing files."""
        return landing_folder(self.environment, self.spec)

    @property
    def landing_is_of_others(self: "RunOf[FileTable]") -> bool:
        """Return whether its landing files are only read: they lie in a landing root."""
        return landing_root(self.environment, self.spec) is not None

    @property
    def home(self) -> str:
        """Return the folder of its tables."""
        return table_folder(self.environment.warehouse, self.spec.stored_as)

    @cached_property
    def ingested_files_folder(self) -> IngestedFilesFolder:
        """Return which landing files its log commits ingested."""
        name, release = self.spec.full_name, self.report.release
        return IngestedFilesFolder(self.store, f"{self.home}/inputs", name, release)

    @property
    def erased_keys(self) -> ErasedObject:
        """Return the list of the keys that were erased from it."""
        return ErasedObject(
            self.store,
            list_uri(self.environment.landing, self.spec.stored_as),
            self.spec.stored_as,
            release=self.report.release,
            old_uri=f"{self.home}/erased.json",
        )

    def ingested_files(self) -> IngestedFiles:
        """Return every landing file that the change log has ingested."""
        return self.ingested_files_folder.load(self.log.last_value(CommitValue.INPUTS))

    @cached_property
    def log(self) -> ChangeLog:
        """Return the change log."""
        return ChangeLog(
            self.spark,
            f"{self.home}/changes",
            self._log_options("changes"),
            self.check_lease,
            self.spec.storage.shuffle,
        )

    @cached_property
    def current(self) -> Table:
        """Return the current table, which is plain Parquet for some products."""
        if self.spec.storage.is_plain:
            return self._plain()
        return self._derived("current", self.spec.stored_name, (KEY,))

    def _plain(self) -> ParquetTable:
        storage, kinds = self.spec.storage, dict(self.spec.columns)
        key = key_text([(name, kinds[name].type) for name in self.spec.key])
        return ParquetTable(
            self.spark,
            self.store,
            f"{self.home}/current",
            PlainLayout(storage.partition_by, storage.buckets),
            {KEY: key},
            self.check_lease,
        )

    @cached_property
    def history(self) -> HudiTable:
        """Return the history table; its versions stay in the file of their key."""
        return self._derived(
            "history", glue_name(self.spec.stored_name, "history"), (KEY, fold.FROM)
        )

    @cached_property
    def surrogate_keys(self) -> HudiTable:
        """Return the numbers of versions: lake_key, lake_from, number."""
        storage = replace(self.spec.storage, partition_by=())
        return self._derived(
            "surrogate_keys",
            f"{self.spec.stored_name}_surrogate_keys",
            (KEY, fold.FROM),
            storage,
        )

    @cached_property
    def quarantine(self) -> HudiTable:
        """Return rows that were not accepted."""
        storage = Storage(index=self.spec.storage.index, buckets=1)
        options = table_options(
            self.spec.stored_name + QUARANTINE,
            storage=storage,
            record_key=(LogColumn.PATH, LogColumn.ETAG, LogColumn.RECORD),
            keep_commits=self.spec.maintenance.keep_commits,
        )
        return HudiTable(
            self.spark, f"{self.home}/quarantine", options, self.check_lease
        )

    def _log_options(self, layer: str) -> Dict[str, str]:
        return log_options(
            f"{self.spec.stored_name}_{layer}",
            keep_commits=self.spec.maintenance.keep_commits,
            pinned=self.spec.engine is Engine.STREAMER
            or self.spec.storage.table_version == OLDER_TABLE_VERSION,
        )

    def _derived(
        self,
        layer: str,
        name: str,
        key: Tuple[str, ...],
        storage: Optional[Storage] = None,
    ) -> HudiTable:
        options = table_options(
            name,
            storage=storage or self.spec.storage,
            record_key=key,
            keep_commits=self.spec.maintenance.keep_commits,
            encode_partitions=_has_text_partitions(self.spec),
        )
        path = f"{self.home}/{layer}"
        return HudiTable(
            self.spark, path, options, self.check_lease, self.spec.storage.shuffle
        )

    def commit_metadata(self) -> Dict[str, str]:
        """Return what every commit of this run says about its origin."""
        return {
            CommitValue.RUN: self.report.run,
            CommitValue.RELEASE: self.report.release,
        }


TableRun = RunOf[TableSpec]
"""The run of a table of any kind."""
VersionedRun = RunOf[VersionedTable]
FileRun = RunOf[FileTable]
SnapshotRun = RunOf[SnapshotTable]
FeedRun = RunOf[FeedTable]
DimensionRun = RunOf[DimensionTable]
ProductRun = RunOf[ProductTable]


def _has_text_partitions(spec: TableSpec) -> bool:
    """Return whether folders are named by texts.

    Columns the spec does not declare may be.
    """
    declared = [spec.column(name) for name in spec.storage.partition_by]
    return any(not each or stored_type(each.type).name == "string" for each in declared)


def table_columns(spec: TableSpec, log: ChangeLog) -> List[Tuple[str, str]]:
    """Return the lake columns known so far: as declared, then as found in the log.

    A declared struct has the log's further fields too.
    """
    declared = {name: stored_type(column.type) for name, column in spec.columns}
    found = log.columns()
    known = {
        name: merged(kind, found.get(name, kind), promote=False)
        for name, kind in declared.items()
    }
    for name in declared:
        # Whatever is nested can be read as its JSON text.
        is_text = (
            known[name].name == "string" and found.get(name, known[name]).is_nested
        )
        if name in found and not is_text and not widens(found[name], known[name]):
            raise SettingsChanged(
                f"{spec.full_name}: columns.{name}.type is {declared[name].text}, but the "
                f"change log has {found[name].text}. Declare that, or a wider type."
            )
    ours = {name for name, _ in ENVELOPE}
    more = {n: k for n, k in found.items() if n not in declared and n not in ours}
    for path, name in added_columns(spec):
        if name in more:
            raise SettingsChanged(
                f"{spec.full_name}: {key_path(path)} is {name!r}, but the change log has an "
                f"undeclared column {name!r} of landing files. Choose another name."
            )
    known.update(more)
    return [(name, kind.text) for name, kind in known.items()]
