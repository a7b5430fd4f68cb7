"""One table of plain Parquet: each commit writes all rows, and all readers see it at once.

    <table>/20260131063000123/year=2026/...parquet     the rows of one commit
    <table>/_commits/20260131063000123.json            makes them a commit, and says of it

A commit is there as soon as its object is, which one request creates; the newest one is the
table. A folder without one is of a write that was killed, and the next write removes it.
The catalogue names the folder of the newest commit (tables/plain_catalog.py).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from typing import Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lake_spec.hudi.options import Operation
from lake_spec.layout.table_folders import COMMITS
from lake_spec.state.report import LayerSize
from lake_spec.state.state_format import (
    UnreadableState,
    from_fields,
    parse_state,
    state_text,
    to_fields,
)
from lake_spec.text.schema_json import plain_schema
from lake_spec.text.sql_text import sql_identifier
from lake_spark import java
from lake_spark.errors import MissingFiles
from lake_spark.storage.committed_table import CommittedTable
from lake_spark.storage.hudi_table import DELETED
from lake_spark.storage.lease_check import no_lease
from lake_spark.storage.object_store import ObjectStore, StoredObject
from lake_spark.storage.session import SHUFFLE_PARTITIONS, setting
from lake_spark.storage.shuffle_hash import numbers_of_tasks
from lake_spark.storage.timeline import Commit, Instant

_COMMIT = re.compile(rf"{COMMITS}/(\d{{17}})\.json")
_ROWS = re.compile(r"(\d{17})(?:/|_\$folder\$).*")
"""What lies in the folder of a commit, and the object by which EMR's file system marks it."""
_INSTANT = "%Y%m%d%H%M%S%f"


@dataclass(frozen=True)
class PlainLayout:
    """How rows lie in files: by folders, at most so many files in each."""

    partition_by: Tuple[str, ...] = ()
    files: int = 1


@dataclass(frozen=True)
class PlainCommit:
    """What a commit's object says.

    `ranges` are the least and the greatest value of each partition column, as its
    folders are named.
    """

    schema: str
    files: int
    bytes: int
    metadata: Dict[str, str]
    ranges: Dict[str, Tuple[str, str]] = field(default_factory=dict)


class ParquetTable(CommittedTable):
    """A table at a path; `before_commit` raises where it must not be written any more.

    `computed` are columns by their SQL that rows have when they are read, and that no
    file has.
    """

    def __init__(
        self,
        spark: SparkSession,
        store: ObjectStore,
        path: str,
        layout: PlainLayout = PlainLayout(),
        computed: Optional[Mapping[str, str]] = None,
        before_commit: Callable[[], None] = no_lease,
    ) -> None:
        self._spark, self._store, self.path = spark, store, path
        self._layout = layout
        self._computed = dict(computed or {})
        self.before_commit = before_commit
        self._known: Dict[str, PlainCommit] = {}
        self._listed: Optional[List[str]] = None

    def has_data(self) -> bool:
        """Return whether a commit was ever completed here."""
        return bool(self._instants())

    def folder(self, instant: Optional[str] = None) -> str:
        """Return the folder with the rows of a commit, of the newest if left out."""
        return f"{self.path}/{instant or self._instants()[0]}"

    def commit(self, instant: Optional[str] = None) -> PlainCommit:
        """Return what the object of a commit says, of the newest if left out."""
        instant = instant or self._instants()[0]
        if instant not in self._known:
            self._known[instant] = _read(self._store, self._uri(instant))
        return self._known[instant]

    def read(self, by: Optional[SparkSession] = None) -> DataFrame:
        """Return the rows of the newest commit, with the computed columns.

        `by` is the session that the queries on them are of, if not the table's.
        """
        return self._rows(self._instants()[0], by)

    def read_as_of(self, instant: str) -> DataFrame:
        """Return the rows of a commit, with the computed columns."""
        return self._rows(instant, None)

    def _rows(self, instant: str, by: Optional[SparkSession]) -> DataFrame:
        said, schema = self.commit(instant), self.stored_schema(instant)
        spark = by or self._spark
        if said.files:
            stored = spark.read.schema(schema).parquet(self.folder(instant))
            found = len(java.frame(stored).inputFiles())
            if found != said.files:
                raise MissingFiles(
                    f"{self.folder(instant)}: {found:,} of the {said.files:,} files of this "
                    "commit are there. Start the run again: a cleaning may have removed "
                    "them. If it is so again, rebuild the table."
                )
        else:  # some file systems keep no folder without files
            stored = spark.createDataFrame([], schema)
        names = map(sql_identifier, schema.names)
        more = [f"{sql} AS {name}" for name, sql in self._computed.items()]
        return stored.selectExpr(*names, *more)

    def stored_schema(self, instant: Optional[str] = None) -> StructType:
        """Return the columns that files and folders of a commit have."""
        said = json.loads(self.commit(instant).schema)
        return StructType.fromJson(plain_schema(said, self.path))

    def keeps(self, instant: str) -> bool:
        """Return whether a commit can be read."""
        return instant in self._instants()

    def write(
        self,
        rows: DataFrame,
        operation: Operation,
        metadata: Mapping[str, str],
        *,
        order: Sequence[str] = (),
    ) -> str:
        """Write all rows of the table as one commit with this metadata; return its instant.

        Rows of a file are in the order of these columns. No row is marked as deleted.
        """
        assert operation is not Operation.UPSERT, f"{self.path}: only all rows at once"
        self.before_commit()
        self.roll_back_failed_writes()
        instant = self._next_instant()
        placed = self._placed(rows, order).drop(DELETED, *self._computed)
        writer = placed.write.mode("errorifexists").option("compression", "zstd")
        folders = self._layout.partition_by
        (writer.partitionBy(*folders) if folders else writer).parquet(
            self.folder(instant)
        )
        files = self._parquet_files(instant)
        said = PlainCommit(
            schema=placed.schema.json(),
            files=len(files),
            bytes=sum(each.size for each in files),
            metadata=dict(metadata),
            ranges=self._ranges(instant, files),
        )
        self.before_commit()
        text = state_text(to_fields(said), release=metadata.get("release", ""))
        created = self._store.create(self._uri(instant), text.encode())
        self.forget()
        if not created:
            raise OSError(
                f"{self._uri(instant)}: another write made this commit. Nothing was "
                "committed by this one: start the run again."
            )
        return instant

    def _placed(self, rows: DataFrame, order: Sequence[str]) -> DataFrame:
        """Return the rows with those of one file in one task, next to each other."""
        columns = [F.col(sql_identifier(name)) for name in order]
        folders = [F.col(sql_identifier(name)) for name in self._layout.partition_by]
        files = self._layout.files
        part = F.pmod(F.xxhash64(*self._identity(rows)), F.lit(files))
        if not folders:
            numbers = F.array(*[F.lit(each) for each in numbers_of_tasks(files)])
            placed = rows.repartition(files, numbers[part.cast("int")])
            return placed.sortWithinPartitions(*columns) if columns else placed
        tasks = int(setting(rows.sparkSession, SHUFFLE_PARTITIONS))
        places = [*folders, part] if files > 1 else folders
        placed = rows.repartition(max(tasks, files), *places)
        return placed.sortWithinPartitions(*folders, *columns)

    def _identity(self, rows: DataFrame) -> List[Column]:
        """Return what decides the file of a row: the computed columns, which are its key."""
        names = list(self._computed) or rows.columns
        return [F.col(sql_identifier(name)) for name in names]

    def _ranges(
        self, instant: str, files: Sequence[StoredObject]
    ) -> Dict[str, Tuple[str, str]]:
        found: Dict[str, List[str]] = {n: [] for n in self._layout.partition_by}
        start = len(self.folder(instant)) + 1
        for folders in {each.uri[start:].rpartition("/")[0] for each in files}:
            for level in folders.split("/") if folders else ():
                name, _, value = level.partition("=")
                found[name].append(value)
        return {
            name: (min(values, key=_by_value), max(values, key=_by_value))
            for name, values in found.items()
            if values
        }

    def _next_instant(self) -> str:
        """Return an instant of now, which is later than that of each commit."""
        now = datetime.now(timezone.utc).replace(tzinfo=None)
        for newest in self._instants()[:1]:
            last = datetime.strptime(newest, _INSTANT)
            now = max(now, last + timedelta(milliseconds=1))
        return now.strftime(_INSTANT)[:17]

    def roll_back_failed_writes(self) -> None:
        """Remove what writes left that were killed."""
        self.forget()
        kept = set(self._instants())
        gone = [file.uri for instant, file in self._stored() if instant not in kept]
        if gone:
            self.before_commit()
            self._store.delete_all(gone)

    def clean(self, keep: int) -> Optional[str]:
        """Remove all commits but the newest ones; return the newest that is gone."""
        gone = self._instants()[keep:]
        if gone:  # first what says that the rows are there
            self.before_commit()
            self._store.delete_all([self._uri(instant) for instant in gone])
        self.roll_back_failed_writes()
        return gone[0] if gone else None

    def size(self) -> LayerSize:
        """Count files and bytes: of the newest commit, and all that are stored."""
        newest, found = self._instants()[0], LayerSize()
        for instant, file in self._stored():
            if not file.uri.endswith(".parquet"):
                continue
            found.stored_files += 1
            found.stored_bytes += file.size
            if instant == newest:
                found.files += 1
                found.bytes += file.size
        return found

    def files_before(self, instant: str) -> Iterator[str]:
        """Yield the files of rows from before a commit."""
        return (file.uri for at, file in self._stored() if at < instant)

    def _stored(self) -> Iterator[Tuple[str, StoredObject]]:
        """Yield instant and object of all that commits and killed writes left of rows."""
        for each in self._store.list(f"{self.path}/"):
            match = _ROWS.fullmatch(each.uri[len(self.path) + 1 :])
            if match:
                yield match[1], each

    def _parquet_files(self, instant: str) -> List[StoredObject]:
        files = self._store.list(f"{self.folder(instant)}/")
        return [each for each in files if each.uri.endswith(".parquet")]

    def commits(self) -> Iterator[Commit]:
        """Yield completed commits, newest first."""
        for instant in self._instants():
            try:
                said = self.commit(instant)
            except KeyError:  # a cleaning removed it since they were listed
                continue
            yield Commit(instant, said.metadata)

    def instants(self) -> List[Instant]:
        """Return every commit, oldest first; each took the place of all rows."""
        return [Instant(at, at, "replacecommit") for at in reversed(self._instants())]

    def forget(self) -> None:
        """Look again for what was committed: it may not be what it was."""
        self._listed = None

    def _instants(self) -> List[str]:
        """Return the instants of all commits, newest first."""
        if self._listed is None:
            start = len(self.path) + 1
            names = (e.uri[start:] for e in self._store.list(f"{self.path}/{COMMITS}/"))
            found = (match[1] for match in map(_COMMIT.fullmatch, names) if match)
            self._listed = sorted(found, reverse=True)
        return self._listed

    def _uri(self, instant: str) -> str:
        return f"{self.path}/{COMMITS}/{instant}.json"


def _read(store: ObjectStore, uri: str) -> PlainCommit:
    """Read what a commit says. Raises UnreadableState."""
    data = parse_state(store.read(uri), what="a commit of plain Parquet", where=uri)
    try:
        ranges = {name: (low, high) for name, (low, high) in data["ranges"].items()}
        return from_fields(PlainCommit, {**data, "ranges": ranges})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UnreadableState(
            f"a commit of plain Parquet cannot be read: {error!r}. Location: {uri}. "
            "Restore an older version of the object; or remove it, and rebuild the table."
        ) from None


def _by_value(text: str) -> Tuple[int, date]:
    """Return what a folder's value is ordered by: a whole number, or a date."""
    try:
        return int(text), date.min
    except ValueError:
        return 0, date.fromisoformat(text)
