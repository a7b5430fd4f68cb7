"""One Hudi table: read it, write one commit, and what its commits say."""

from __future__ import annotations

from contextlib import contextmanager
from typing import (
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lake_spec.hudi.layout import HUDI_COLUMNS, METADATA_FOLDER, PROPERTIES
from lake_spec.hudi.options import HudiKey, Operation, schema_options, write_options
from lake_spec.model import Shuffle
from lake_spec.text.sql_text import sql_identifier
from lake_spark import java
from lake_spark.storage import bucket_writer
from lake_spark.storage.committed_table import CommittedTable
from lake_spark.storage.lease_check import no_lease
from lake_spark.storage.parquet_file import opened_parquet
from lake_spark.storage.timeline import (
    Commit,
    FileChanges,
    Instant,
    Timeline,
    meta_client,
)

DELETED = "_hoodie_is_deleted"
"""Rows written with this column true are removed by the same commit."""


class HudiTable(CommittedTable):
    """A table at a path; writing it needs options, reading does not.

    `before_commit` is called right before each change of it: all go through here, or
    through `maintenance`, and what it raises stops them. `shuffle` is what brings the rows
    to their buckets where all are written.
    """

    def __init__(
        self,
        spark: SparkSession,
        path: str,
        options: Optional[Dict[str, str]] = None,
        before_commit: Callable[[], None] = no_lease,
        shuffle: Shuffle = Shuffle.HUDI,
    ) -> None:
        self._spark = spark
        self.path = path
        self._options = options or {}
        self.before_commit = before_commit
        self._shuffle = shuffle
        self._look: Optional[Timeline] = None

    def exists(self) -> bool:
        """Return whether a commit was ever begun here."""
        if self._look is not None:
            return True
        file, files = self._file(PROPERTIES)
        is_there: bool = files.exists(file)
        return is_there

    def clear_half_made(self) -> None:
        """Remove what is left of a table that was killed while it was being made.

        It has a folder, and no file yet that says what it is: nothing was ever
        committed, but Hudi takes it for a table that it cannot read. HoodieStreamer does
        so even where the folder is empty.
        """
        if not self.exists():
            metadata, files = self._file(METADATA_FOLDER)
            files.delete(metadata, True)
            folder = metadata.getParent()
            if files.exists(folder) and not files.listStatus(folder):
                files.delete(folder, False)

    def _file(self, name: str) -> Tuple[java.JavaObject, java.JavaObject]:
        """Return a path below the table's, and the file system that it is in."""
        jvm = java.packages(self._spark)
        path = jvm.org.apache.hadoop.fs.Path(f"{self.path}/{name}")
        return path, path.getFileSystem(java.hadoop_configuration(self._spark))

    def has_data(self) -> bool:
        """Return whether a commit was ever completed here."""
        return self.last_commit() is not None

    def read(self, by: Optional[SparkSession] = None) -> DataFrame:
        """Read the newest committed rows, Hudi's own columns included.

        `by` is the session that the queries on them are of, if not the table's.
        """
        return self.read_stored(by)

    def read_stored(self, by: Optional[SparkSession] = None) -> DataFrame:
        """Read the same rows as they are stored, which readers need not see."""
        return (by or self._spark).read.format("hudi").load(self.path)

    def read_as_of(self, instant: str) -> DataFrame:
        """Read the rows as they were after that commit, Hudi's own columns included."""
        reader = self._spark.read.format("hudi").option("as.of.instant", instant)
        return reader.load(self.path)

    def keeps(self, instant: str) -> bool:
        """Return whether a commit can be read: not archived, no file of it cleaned."""
        timeline = self._timeline()
        return timeline is not None and timeline.keeps(instant)

    def stored_schema(self) -> StructType:
        """Return the stored columns, Hudi's own included."""
        return self.read_stored().schema

    def schema(self) -> StructType:
        """Return the stored columns, Hudi's own left out."""
        return without_hudi_columns(self.read_stored()).schema

    def write(
        self,
        rows: DataFrame,
        operation: Operation,
        metadata: Mapping[str, str],
        *,
        order: Sequence[str] = (),
    ) -> str:
        """Write rows as one commit that carries the metadata; return its instant.

        Where all rows are written those of a file are in the order of these columns.
        """
        self.before_commit()
        self.clear_half_made()
        if operation is Operation.UPSERT:
            order = ()
        options = {
            **write_options(self._options, operation, metadata),
            **schema_options(rows.schema.simpleString()),
            **self._kept_options(),
        }
        try:
            if not self._written_by_buckets(rows, options, metadata, order):
                ordered = self._in_order(rows, order)
                written = ordered.write.format("hudi").options(**options)
                written.mode("append").save(self.path)
        finally:
            self.forget()
        commit = self.last_commit()
        assert commit is not None, f"{self.path}: the write left no commit"
        return commit.instant

    def _in_order(self, rows: DataFrame, order: Sequence[str]) -> DataFrame:
        """Return the rows in order, whatever Hudi's shuffle does with them next.

        Rows of one folder, or of one range of values, are in one task: so they stay
        together where Hudi distributes them to buckets.
        """
        if not order:
            return rows
        columns = [F.col(sql_identifier(name)) for name in order]
        folders = self._options[HudiKey.PARTITION_PATH.value]
        if folders:
            names = map(sql_identifier, folders.split(","))
            rows = rows.repartition(*[F.col(name) for name in names])
        else:
            rows = rows.repartitionByRange(*columns)
        return rows.sortWithinPartitions(*columns)

    def _written_by_buckets(
        self,
        rows: DataFrame,
        options: Mapping[str, str],
        metadata: Mapping[str, str],
        order: Sequence[str],
    ) -> bool:
        """Write all rows of a table by Spark's shuffle; return False where Hudi's is due."""
        if self._shuffle is not Shuffle.SPARK:
            return False
        is_new = not self.exists()
        if not bucket_writer.is_for(options, is_new=is_new):
            return False
        writer = bucket_writer.BucketWriter(self._spark, self.path, options, order)
        try:
            writer.write(
                self._in_stored_order(rows),
                metadata,
                is_new=is_new,
                before_commit=self.before_commit,
            )
        except bucket_writer.SlowerShuffle as reason:
            print(
                f"LAKE {self.path}: SlowerShuffle: written by Hudi's own shuffle, which is "
                f"slower: {reason}",
                flush=True,
            )
            self.before_commit()  # the attempt may have taken long
            return False
        return True

    def _in_stored_order(self, rows: DataFrame) -> DataFrame:
        """Return the rows with new columns behind those that the table has, as Hudi does."""
        stored = self.schema().names if self.has_data() else []
        order = {name: place for place, name in enumerate(stored)}
        names = sorted(rows.columns, key=lambda name: order.get(name, len(order)))
        return rows.select(*map(sql_identifier, names))

    def _kept_options(self) -> Dict[str, str]:
        """Return what a table of an earlier release keeps: how folders are named."""
        name = HudiKey.ENCODED_PARTITIONS.value
        if not self._options.get(HudiKey.PARTITION_PATH.value) or not self.exists():
            return {}
        kept = self._client().getTableConfig().getUrlEncodePartitioning()
        return {name: str(kept).lower()}

    def partitions(self) -> Tuple[List[str], bool]:
        """Return the folders of its partitions, and whether their values are encoded."""
        hudi = java.packages(self._spark).org.apache.hudi
        client = self._client()
        context = hudi.client.common.HoodieSparkEngineContext(java.context(self._spark))
        by_index = client.getTableConfig().isMetadataTableAvailable()
        found = hudi.common.fs.FSUtils.getAllPartitionPaths(
            context, client.getStorage(), self.path, by_index
        )
        encoded = client.getTableConfig().getUrlEncodePartitioning()
        return list(found), str(encoded).lower() == "true"

    def clean(self, asked: Mapping[str, str]) -> Optional[str]:
        """Delete old file versions as these options ask; return the clean's instant.

        A cleaning that was killed is finished first, by the plan that it had.
        Hudi's own procedure for it takes names of a catalogue only.
        """
        with self._write_client(asked) as client:
            done = client.clean()
            # Next to a plan that is left over Hudi makes no new one.
            last = (client.clean() or done) if done else None
            return last.getStartCleanTime() if last else None

    def roll_back_failed_writes(self) -> None:
        """Take away what writes left that were killed; compactions and clusterings stay.

        A write does so itself before it begins. A compaction or a clustering does
        not, and once one was completed after it Hudi refuses to roll a write back.
        """
        with self._write_client() as client:
            client.rollbackFailedWrites(self._client())

    def has_unfinished(self) -> bool:
        """Return whether a write, compaction or clustering was begun and not completed."""
        return bool(self.unfinished())

    @contextmanager
    def _write_client(
        self, more: Optional[Mapping[str, str]] = None
    ) -> Iterator[java.JavaObject]:
        """Yield Hudi's own writer of this table, with more options."""
        self.before_commit()
        options = java.packages(self._spark).java.util.HashMap()
        for key, value in {**self._options, **(more or {})}.items():
            options.put(key, value)
        client = java.packages(
            self._spark
        ).org.apache.hudi.DataSourceUtils.createHoodieClient(
            java.context(self._spark),
            "",
            self.path,
            self._options[HudiKey.TABLE_NAME.value],
            options,
        )
        try:
            yield client
        finally:
            client.close()
            self.forget()

    def drop_indexes(self) -> None:
        """Remove the metadata table; the next write makes it again, if one is due."""
        hudi = java.packages(self._spark).org.apache.hudi
        if self._options[HudiKey.METADATA_TABLE.value] == "true":
            self.before_commit()
            context = hudi.client.common.HoodieSparkEngineContext(
                java.context(self._spark)
            )
            drop = hudi.metadata.HoodieTableMetadataUtil.deleteMetadataTable
            drop(self._client(), context, False)

    @property
    def options(self) -> Mapping[str, str]:
        """Return the options that its writes have, empty where it is only read."""
        return self._options

    def actions(self) -> Iterator[str]:
        """Return what each completed commit did (commit, deltacommit ...), newest first."""
        timeline = self._timeline()
        return timeline.actions() if timeline else iter(())

    def instants(self) -> List[Instant]:
        """Return every completed commit that is not archived, oldest first."""
        timeline = self._timeline()
        return timeline.instants() if timeline else []

    def requested(self) -> List[str]:
        """Return when each of these was requested; `instants` asks Java thrice as much."""
        timeline = self._timeline()
        return timeline.requested() if timeline else []

    def completed(self, requested: str) -> str:
        """Return when one of these commits was completed."""
        timeline = self._timeline()
        assert timeline is not None, f"{self.path}: no commit {requested}"
        return timeline.completed(requested)

    def last_clean(self) -> str:
        """Return the instant of the last cleaning that is not archived; empty for none."""
        timeline = self._timeline()
        return timeline.last_clean() if timeline else ""

    def unfinished(self) -> List[str]:
        """Return the instants of writes that were begun and not completed."""
        timeline = self._timeline()
        return timeline.unfinished() if timeline else []

    def file_changes(self, instant: str) -> FileChanges:
        """Return what one of these commits did to files."""
        timeline = self._timeline()
        assert timeline is not None, f"{self.path}: no commit {instant}"
        return timeline.file_changes(instant)

    def replaced_groups(self) -> Set[Tuple[str, str]]:
        """Return partition and id of the file groups that other ones took the place of.

        Their files are there until they are cleaned, and their commits as long.
        """
        return {
            group
            for each in self.instants()
            if each.action == "replacecommit"
            for group in self.file_changes(each.requested).replaced
        }

    def rows_of_file(self, path: str) -> int:
        """Return how many rows the Parquet file at that path below the table's has."""
        with opened_parquet(self._spark, f"{self.path}/{path}") as reader:
            count: int = reader.getRecordCount()
            return count

    def commits(self) -> Iterator[Commit]:
        """Return completed commits, newest first, archived ones last."""
        timeline = self._timeline()
        return timeline.commits() if timeline else iter(())

    def active_values(self, name: str) -> Set[str]:
        """Return this metadata of all commits to which the table can be taken back."""
        timeline = self._timeline()
        commits = timeline.active_commits() if timeline else iter(())
        return {c.metadata[name] for c in commits if name in c.metadata}

    def forget(self) -> None:
        """Look again for what was committed: it may not be what it was."""
        self._look = None

    def _client(self) -> java.JavaObject:
        return meta_client(self._spark, self.path)

    def _timeline(self) -> Optional[Timeline]:
        """Return what was committed, None before the first write was begun.

        One look is kept until this object writes: a run's table has one, and by its
        lease nothing else writes it.
        """
        if self._look is None and self.exists():
            self._look = Timeline(self._spark, self.path)
        return self._look


def without_hudi_columns(rows: DataFrame) -> DataFrame:
    """Return the rows as we wrote them."""
    return rows.drop(*HUDI_COLUMNS, DELETED)
