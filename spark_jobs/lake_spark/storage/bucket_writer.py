"""Whole tables with a bucket index: Spark brings the rows to their buckets, Hudi writes them.

Hudi's bulk insert makes Java objects of all rows, which it serializes and sorts to bring
them to their buckets. Spark's own shuffle works on rows as bytes. What writes the files,
and names each by the bucket of its rows, is Hudi's all the same: rows that came to a wrong
task leave two file groups of one bucket, and then nothing is committed (decision 049).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Callable, List, Mapping, Sequence, Tuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegralType

from lake_spec.hudi.layout import HIVE_NULL, HUDI_COLUMNS
from lake_spec.hudi.options import (
    HudiKey,
    METADATA_PREFIX,
    Operation,
    avro_names,
    table_properties,
)
from lake_spec.text.sql_text import sql_identifier
from lake_spark import java
from lake_spark.storage.session import SHUFFLE_PARTITIONS, setting
from lake_spark.storage.shuffle_hash import numbers_of_tasks
from lake_spark.storage.timeline import meta_client

_RECORD_KEY, _FOLDER = "_hoodie_record_key", "_hoodie_partition_path"
_FILE_GROUP = "lake_file_group"
"""A number that the rows of one file group have."""
SINK = "org.apache.hudi.HoodieDatasetBulkInsertHelper"
"""Hudi's class that writes the rows of a bucket, without a shuffle of its own."""


class SlowerShuffle(Exception):
    """A table cannot be written by Spark's shuffle; Hudi's own writes it, which is slower.

    Fix: The rows are right, and nothing has to be done. `storage.shuffle: hudi` leaves out
    the attempt.
    """


def is_for(options: Mapping[str, str], *, is_new: bool) -> bool:
    """Return whether a write with these options is one of all rows that it is made for.

    That is into buckets, or the first one of a table without an index, as a change log.
    """
    operation = options[HudiKey.OPERATION.value]
    index = options.get(HudiKey.INDEX_TYPE.value)
    if options.get(HudiKey.ROW_WRITER.value) == "false":
        return False
    if index is None:
        return is_new and operation == Operation.BULK_INSERT.value
    whole = (Operation.BULK_INSERT.value, Operation.REPLACE.value)
    return index == "BUCKET" and operation in whole


@dataclass(frozen=True)
class _Commit:
    """A commit that was begun: by which client, of which table, when and how."""

    client: java.JavaObject
    table: java.JavaObject
    instant: str
    action: str
    operation: java.JavaObject


class BucketWriter:
    """Writes all rows of one table; the options are those of the write.

    Rows of a file are in the order of the columns of `order`.
    """

    def __init__(
        self,
        spark: SparkSession,
        path: str,
        options: Mapping[str, str],
        order: Sequence[str] = (),
    ) -> None:
        self._spark, self._path, self._options = spark, path, options
        self._order = [F.col(sql_identifier(name)) for name in order]
        self._jvm = java.packages(spark)
        self._hudi = java.packages(spark).org.apache.hudi

    @property
    def _has_buckets(self) -> bool:
        return HudiKey.BUCKETS.value in self._options

    def write(
        self,
        rows: DataFrame,
        metadata: Mapping[str, str],
        *,
        is_new: bool,
        before_commit: Callable[[], None],
    ) -> None:
        """Write the rows as one commit; `is_new` says that there is no table yet.

        Raises SlowerShuffle; Hudi's next write removes what was written.
        """
        try:
            self._write(rows, metadata, is_new, before_commit)
        except java.Py4JJavaError as error:
            fault = error.java_exception
            if java.is_instance(self._spark, fault, "java.lang.LinkageError"):
                raise SlowerShuffle(str(fault)) from error
            raise
        except java.Py4JError as error:  # no such method, or of other arguments
            raise SlowerShuffle(str(error)) from error

    def _write(
        self,
        rows: DataFrame,
        metadata: Mapping[str, str],
        is_new: bool,
        before_commit: Callable[[], None],
    ) -> None:
        sink = reduce(getattr, SINK.split("."), self._jvm)
        if isinstance(sink, java.JavaPackage):
            raise SlowerShuffle(f"the class {SINK} is missing")
        if is_new:
            self._create()
        client = self._client(rows)
        try:
            commit = self._begin(client)
            replaced = self._replaced(commit)
            placed = self._placed(rows, commit)
            written = sink.bulkInsert(
                java.frame(placed),
                commit.instant,
                commit.table,
                client.getConfig(),
                self._has_buckets,
                False,
                commit.operation,
            )
            files = self._files(written.collectAsList())
            before_commit()
            self._end(commit, files, metadata, replaced)
        finally:
            client.close()

    def _create(self) -> None:
        """Make the empty table, as Hudi does before its first write."""
        properties = self._jvm.java.util.Properties()
        for name, value in table_properties(self._options).items():
            properties.setProperty(name, value)
        storage = self._hudi.storage.hadoop.HadoopStorageConfiguration(
            java.hadoop_configuration(self._spark)
        )
        builder = self._hudi.common.table.HoodieTableMetaClient.newTableBuilder()
        builder.fromProperties(properties).initTable(storage, self._path)

    def _client(self, rows: DataFrame) -> java.JavaObject:
        """Return Hudi's writer for rows of this schema."""
        schema, name = (
            java.frame(rows).schema(),
            self._options[HudiKey.TABLE_NAME.value],
        )
        avro = self._hudi.AvroConversionUtils.convertStructTypeToAvroSchema(
            schema, *avro_names(name)
        )
        options = self._java_map(self._options)
        types = self._jvm.org.apache.spark.sql.HoodieDataTypeUtils
        types.tryOverrideParquetWriteLegacyFormatProperty(options, schema)
        converter = self._hudi.internal.schema.convert.AvroInternalSchemaConverter
        return self._hudi.DataSourceUtils.createHoodieClient(
            java.context(self._spark),
            converter.fixNullOrdering(avro).toString(),
            self._path,
            name,
            options,
        )

    def _begin(self, client: java.JavaObject) -> _Commit:
        """Begin a commit; it removes what earlier ones left that were killed."""
        common, some = self._hudi.common, self._hudi.common.util.Option
        operation = common.model.WriteOperationType.fromValue(
            self._options[HudiKey.OPERATION.value]
        )
        kind = meta_client(self._spark, self._path).getTableType()
        action = common.util.CommitUtils.getCommitActionType(operation, kind)
        instant = client.createNewInstantTime()
        client.startCommitWithTime(instant, action)
        # Only now: what was killed is no longer in the timeline that the table shows.
        table = client.initTable(operation, some.of(instant))
        tables = table.getMetaClient()
        client.preWrite(instant, operation, tables)
        state = getattr(common.table.timeline, "HoodieInstant$State").REQUESTED
        requested = tables.createNewInstant(state, action, instant)
        timeline = tables.getActiveTimeline()
        timeline.transitionRequestedToInflight(requested, some.empty())
        return _Commit(client, table, instant, action, operation)

    def _placed(self, rows: DataFrame, commit: _Commit) -> DataFrame:
        """Return the rows with Hudi's columns, those of a file group next to each other."""
        if self._names_as_hudi(rows):
            keyed = rows.select(*_hudi_columns(self._options), "*")
        else:
            keyed = self._keyed_by_hudi(rows, commit)
        if not self._has_buckets:
            return keyed
        buckets = int(self._options[HudiKey.BUCKETS.value])
        bucket = _bucket(rows.sparkSession, self._options[HudiKey.BUCKET_HASH.value])
        if self._options[HudiKey.PARTITION_PATH.value]:
            tasks = setting(rows.sparkSession, SHUFFLE_PARTITIONS)
            # Numbers sort faster than names of folders. Two folders of one number would
            # leave two file groups of a bucket, which are counted before the commit.
            placed = keyed.withColumn(
                _FILE_GROUP, F.xxhash64(_FOLDER, bucket % buckets)
            )
            placed = placed.repartition(max(int(tasks), buckets), _FILE_GROUP)
            return placed.sortWithinPartitions(_FILE_GROUP, *self._order).drop(
                _FILE_GROUP
            )
        # A bucket is a task: nothing is left to be brought together.
        numbers = F.array(*[F.lit(each) for each in numbers_of_tasks(buckets)])
        placed = keyed.withColumn(_FILE_GROUP, numbers[bucket % buckets])
        placed = placed.repartition(buckets, _FILE_GROUP).drop(_FILE_GROUP)
        return placed.sortWithinPartitions(*self._order) if self._order else placed

    def _names_as_hudi(self, rows: DataFrame) -> bool:
        """Return whether keys and folders made in SQL are what Hudi's generator makes.

        In tables without folders they are. A folder of other values than whole numbers
        follows rules of Hudi for texts, times and the like; and some releases name the
        field of a key of one next to folders, which a row with 1 in each column shows.
        """
        folders = _fields(self._options, HudiKey.PARTITION_PATH)
        kinds = (rows.schema[name].dataType for name in folders)
        if not all(isinstance(kind, IntegralType) for kind in kinds):
            return False
        if not folders:
            return True
        names = [*_fields(self._options, HudiKey.RECORD_KEY), *folders]
        ones = rows.sparkSession.range(1).select(*[F.lit(1).alias(n) for n in names])
        row = java.frame(ones.select(*_hudi_columns(self._options), "*")).first()
        properties = self._hudi.common.config.TypedProperties()
        for name, value in self._options.items():
            properties.setProperty(name, value)
        factory = self._hudi.keygen.factory.HoodieSparkKeyGeneratorFactory
        generator = factory.createKeyGenerator(properties)
        hudis = generator.getRecordKey(row), generator.getPartitionPath(row)
        return hudis == (row.getAs(_RECORD_KEY), row.getAs(_FOLDER))

    def _keyed_by_hudi(self, rows: DataFrame, commit: _Commit) -> DataFrame:
        """Return the rows with Hudi's columns by its own generator of keys and folders."""
        as_they_are = self._hudi.execution.bulkinsert.NonSortPartitionerWithRows()
        keyed = self._hudi.HoodieDatasetBulkInsertHelper.prepareForBulkInsert(
            java.frame(rows), commit.client.getConfig(), as_they_are, commit.instant
        )
        return DataFrame(keyed, rows.sparkSession)

    def _replaced(self, commit: _Commit) -> java.JavaObject:
        """Return by folder the file groups that the commit takes the place of."""
        found = self._jvm.java.util.HashMap()
        if self._options[HudiKey.OPERATION.value] != Operation.REPLACE.value:
            return found
        tables, by_folder = commit.table.getMetaClient(), commit.table.getSliceView()
        folders = self._hudi.common.fs.FSUtils.getAllPartitionPaths(
            commit.client.getEngineContext(), tables.getStorage(), self._path, False
        )
        for folder in folders:
            groups = self._jvm.java.util.ArrayList()
            slices = by_folder.getLatestFileSlices(folder).toArray()
            for each in slices:
                groups.add(each.getFileId())
            found.put(folder, groups)
        return found

    def _files(self, statuses: java.JavaObject) -> java.JavaObject:
        """Return what is to be committed; raise unless each bucket has one file group."""
        found = self._jvm.java.util.ArrayList()
        groups: List[Tuple[str, str]] = []
        for each in (statuses.get(place) for place in range(statuses.size())):
            file = each.getStat()
            if each.hasErrors():
                raise RuntimeError(
                    f"{self._path}: Hudi could not write {each.getTotalErrorRecords():,} "
                    f"row(s) of {file.getPath()}, and nothing was committed. Its reason is "
                    "in the log of the executors. Start the run again."
                )
            # The first eight digits of a file group say its bucket.
            groups.append((file.getPartitionPath(), file.getFileId()[:8]))
            found.add(file)
        more = len(groups) - len(set(groups)) if self._has_buckets else 0
        if more:
            raise SlowerShuffle(f"{more:,} file group(s) are of a bucket that has one")
        return found

    def _end(
        self,
        commit: _Commit,
        files: java.JavaObject,
        metadata: Mapping[str, str],
        replaced: java.JavaObject,
    ) -> None:
        some = self._hudi.common.util.Option
        named = {METADATA_PREFIX + name: value for name, value in metadata.items()}
        commit.client.commitStats(
            commit.instant,
            files,
            some.of(self._java_map(named)),
            commit.action,
            replaced,
            some.empty(),
        )

    def _java_map(self, entries: Mapping[str, str]) -> java.JavaObject:
        found = self._jvm.java.util.HashMap()
        for key, value in entries.items():
            found.put(key, value)
        return found


def _fields(options: Mapping[str, str], key: HudiKey) -> List[str]:
    """Return the columns that an option names, none where it is empty."""
    return [name for name in options[key.value].split(",") if name]


def _hudi_columns(options: Mapping[str, str]) -> List[Column]:
    """Return Hudi's columns of rows, as its generators of keys and folders make them.

    A key of several fields names each, and so does a folder, of whole numbers or null.
    Keys of ours are never null, and no text is empty.
    """
    fields = _fields(options, HudiKey.RECORD_KEY)
    key = F.col(fields[0]).cast("string")
    if len(fields) > 1:
        parts = [F.concat(F.lit(f"{n}:"), F.col(n).cast("string")) for n in fields]
        key = F.concat_ws(",", *parts)
    folders = []
    for name in _fields(options, HudiKey.PARTITION_PATH):
        value = F.col(sql_identifier(name)).cast("string")
        folders.append(F.concat(F.lit(f"{name}="), F.coalesce(value, F.lit(HIVE_NULL))))
    made = {name: F.lit("") for name in HUDI_COLUMNS}
    made[_RECORD_KEY], made[_FOLDER] = key, F.concat_ws("/", *folders)
    return [value.alias(name) for name, value in made.items()]


def _bucket(spark: SparkSession, field: str) -> Column:
    """Return Hudi's hash of a key's text, which it divides by the number of buckets.

    It is that of a list with one text in Java. Hive's is the same for texts in ASCII,
    and `lake_key` is one (schema/key_text.py).
    """
    jvm = java.packages(spark)
    values = [java.expression(F.lit(1)), java.expression(F.col(field))]
    hashed = jvm.org.apache.spark.sql.catalyst.expressions.HiveHash(
        jvm.PythonUtils.toSeq(values)
    )
    return Column(jvm.org.apache.spark.sql.Column(hashed)).bitwiseAND(0x7FFFFFFF)
