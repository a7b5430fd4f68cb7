"""Hudi's options as a pure table: the only place that spells them.

Each function returns whole option sets for one purpose. Why an option has the
value it has stands next to it; figures are in docs/decisions.
"""

from __future__ import annotations

from enum import Enum, unique
from typing import Dict, Mapping, Optional, Sequence, Tuple

from lake_spec.model import Index, Storage, TableType


@unique
class HudiKey(str, Enum):
    """The option names that we use."""

    TABLE_NAME = "hoodie.table.name"
    TABLE_TYPE = "hoodie.datasource.write.table.type"
    TABLE_VERSION = "hoodie.write.table.version"
    AUTO_UPGRADE = "hoodie.write.auto.upgrade"
    TIMEZONE = "hoodie.table.timeline.timezone"
    OPERATION = "hoodie.datasource.write.operation"
    RECORD_KEY = "hoodie.datasource.write.recordkey.field"
    PARTITION_PATH = "hoodie.datasource.write.partitionpath.field"
    ENCODED_PARTITIONS = "hoodie.datasource.write.partitionpath.urlencode"
    HIVE_PARTITIONS = "hoodie.datasource.write.hive_style_partitioning"
    KEY_GENERATOR = "hoodie.datasource.write.keygenerator.class"
    MERGE_MODE = "hoodie.record.merge.mode"
    METADATA_PREFIX = "hoodie.datasource.write.commitmeta.key.prefix"
    METADATA_TABLE = "hoodie.metadata.enable"
    RECORD_INDEX = "hoodie.metadata.record.index.enable"
    RECORD_INDEX_FEWEST = "hoodie.metadata.record.index.min.filegroup.count"
    RECORD_INDEX_MOST = "hoodie.metadata.record.index.max.filegroup.count"
    INDEX_TYPE = "hoodie.index.type"
    BUCKETS = "hoodie.bucket.index.num.buckets"
    BUCKET_HASH = "hoodie.bucket.index.hash.field"
    CODEC = "hoodie.parquet.compression.codec"
    BLOOM_FILTERS = "hoodie.parquet.bloom.filter.enabled"
    BLOOM_KIND = "hoodie.bloom.index.filter.type"
    BLOOM_KEYS = "hoodie.index.bloom.num_entries"
    BLOOM_ERRORS = "hoodie.index.bloom.fpp"
    BULK_SORT = "hoodie.bulkinsert.sort.mode"
    DROP_COLUMNS = "hoodie.datasource.write.schema.allow.auto.evolution.column.drop"
    ROW_WRITER = "hoodie.datasource.write.row.writer.enable"
    FILE_GROUP_READER = "hoodie.file.group.reader.enabled"
    COMBINE_UPSERT = "hoodie.combine.before.upsert"
    SMALL_FILE_LIMIT = "hoodie.clustering.plan.strategy.small.file.limit"
    CLUSTERED_FILE = "hoodie.clustering.plan.strategy.target.file.max.bytes"
    COMPACT_INLINE = "hoodie.compact.inline"
    COMPACT_AFTER = "hoodie.compact.inline.max.delta.commits"
    CLEAN_AUTOMATIC = "hoodie.clean.automatic"
    CLEAN_POLICY = "hoodie.clean.policy"
    CLEAN_COMMITS = "hoodie.clean.commits.retained"
    CLEAN_VERSIONS = "hoodie.clean.fileversions.retained"
    ARCHIVE_AUTOMATIC = "hoodie.archive.automatic"
    ARCHIVE_MIN = "hoodie.keep.min.commits"
    ARCHIVE_MAX = "hoodie.keep.max.commits"
    EMBEDDED_SERVER = "hoodie.embed.timeline.server"
    MARKERS = "hoodie.write.markers.type"
    STREAMER_SQL_FILE = "hoodie.streamer.source.sql.file"


class Operation(str, Enum):
    """The write operation."""

    BULK_INSERT = "bulk_insert"
    UPSERT = "upsert"
    REPLACE = "insert_overwrite_table"
    DELETE = "delete"


METADATA_PREFIX = "lake."
"""Write options with this prefix become metadata of the commit."""

SMALL_FILES = (4 * 2**20, 64 * 2**20)
"""Bytes below which a file is small, and below which it still is where many are: files
are put together with those of their size alone (decision 040)."""

CLUSTERED_FILE = 2 * SMALL_FILES[-1]
"""Largest size of a clustered file in bytes: one core writes each."""

STREAMER_CHECKPOINTS = (
    "streamer.checkpoint.reset.key.v2",
    "streamer.checkpoint.reset.key.v1",
    "streamer.checkpoint.reset.key",
    "deltastreamer.checkpoint.reset_key",
)
"""Properties in which HoodieStreamer records its `--checkpoint`, newest first."""

LONGEST_FOLDER = 255
"""Bytes of a folder's name on HDFS and on disks."""

OLDER_TABLE_VERSION = 6
"""The table version that Hudi 0.14 knows: HoodieStreamer writes it, and Athena reads it."""

NEWEST_TABLE_VERSION = 8
"""The table version of Hudi 1.0, which older releases cannot read; newer ones write it."""

_HUDI_INDEX = {
    Index.BUCKET: "BUCKET",
    Index.BLOOM: "BLOOM",
    Index.SIMPLE: "SIMPLE",
    Index.RECORD: "RECORD_INDEX",
}
_HUDI_TYPE = {
    TableType.COPY_ON_WRITE: "COPY_ON_WRITE",
    TableType.MERGE_ON_READ: "MERGE_ON_READ",
}

_KEPT_IN_TABLE = {
    HudiKey.TABLE_NAME: "hoodie.table.name",
    HudiKey.TABLE_TYPE: "hoodie.table.type",
    HudiKey.TABLE_VERSION: "hoodie.table.version",
    HudiKey.RECORD_KEY: "hoodie.table.recordkey.fields",
    HudiKey.PARTITION_PATH: "hoodie.table.partition.fields",
    HudiKey.KEY_GENERATOR: "hoodie.table.keygenerator.class",
    HudiKey.MERGE_MODE: HudiKey.MERGE_MODE.value,
    HudiKey.TIMEZONE: HudiKey.TIMEZONE.value,
    HudiKey.HIVE_PARTITIONS: HudiKey.HIVE_PARTITIONS.value,
    HudiKey.ENCODED_PARTITIONS: HudiKey.ENCODED_PARTITIONS.value,
}
"""By options of a write, the properties of a table that keep them."""

_OF_NEW_TABLES = {
    "hoodie.table.base.file.format": "PARQUET",
    "hoodie.archivelog.folder": "history",
    "hoodie.populate.meta.fields": "true",
    "hoodie.partition.metafile.use.base.format": "false",
    "hoodie.table.cdc.enabled": "false",
    "hoodie.table.multiple.base.file.formats.enable": "false",
    HudiKey.HIVE_PARTITIONS.value: "false",
    HudiKey.ENCODED_PARTITIONS.value: "false",
}
"""What Hudi's own writes say of every table that they make."""

# Only a bloom index reads these filters. A bulk insert does not look at the switch and
# writes one into each file all the same, of 431 KB and with some 20 hashes of each key;
# sized for one key, it has a few bytes and one hash (decision 036).
_NO_BLOOM_FILTERS = {
    HudiKey.BLOOM_FILTERS.value: "false",
    HudiKey.BLOOM_KIND.value: "SIMPLE",
    HudiKey.BLOOM_KEYS.value: "1",
    HudiKey.BLOOM_ERRORS.value: "0.5",
}
_BLOOM_FILTERS = {HudiKey.BLOOM_FILTERS.value: "true"}

_OF_FILES = (
    *_NO_BLOOM_FILTERS,
    HudiKey.CODEC.value,
    HudiKey.TABLE_VERSION.value,
    HudiKey.AUTO_UPGRADE.value,
)
"""The options of a table that say how its files are written."""


def common_options(name: str, *, keep_commits: int) -> Dict[str, str]:
    """Return the options that every table has, whichever engine writes it."""
    return {
        HudiKey.TABLE_NAME.value: name,
        # Instants must never go back when a laptop's clock changes its zone.
        HudiKey.TIMEZONE.value: "UTC",
        # Off: it doubles a commit on tables of laptop size (decision 004).
        HudiKey.METADATA_TABLE.value: "false",
        HudiKey.CODEC.value: "zstd",
        # Maintenance is a stage of its own, never a surprise inside a write.
        HudiKey.COMPACT_INLINE.value: "false",
        HudiKey.CLEAN_AUTOMATIC.value: "false",
        # Archived instants must be older than everything that as-of may ask for.
        HudiKey.ARCHIVE_MIN.value: str(keep_commits + 10),
        HudiKey.ARCHIVE_MAX.value: str(keep_commits + 20),
        # One writer, few files: a server in the driver costs more than it saves.
        HudiKey.EMBEDDED_SERVER.value: "false",
        HudiKey.MARKERS.value: "DIRECT",
    }


def log_options(name: str, *, keep_commits: int, pinned: bool) -> Dict[str, str]:
    """Return options of the change log and the quarantine, which are append-only.

    `pinned` keeps the table version that HoodieStreamer writes and Hudi 0.14 reads.
    """
    options = {
        **common_options(name, keep_commits=keep_commits),
        **_NO_BLOOM_FILTERS,
        HudiKey.TABLE_TYPE.value: "COPY_ON_WRITE",
        HudiKey.RECORD_KEY.value: "lake_key,lake_path,lake_record",
        HudiKey.PARTITION_PATH.value: "",
        HudiKey.KEY_GENERATOR.value: "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
        HudiKey.BULK_SORT.value: "NONE",
    }
    options.update(
        _version_options(OLDER_TABLE_VERSION if pinned else NEWEST_TABLE_VERSION)
    )
    return options


def _version_options(version: int) -> Dict[str, str]:
    """Return the options that make a table of this version and keep it there.

    The newer one is written too: Hudi 1.1 would make and raise tables of version 9, in
    which keys of ComplexKeyGenerator with one field are other texts, so that an upsert
    finds none of them. A table of version 6 is raised by a rebuild, hence may be.
    """
    found = {HudiKey.TABLE_VERSION.value: str(version)}
    if version == OLDER_TABLE_VERSION:
        found[HudiKey.AUTO_UPGRADE.value] = "false"
    return found


def table_options(
    name: str,
    *,
    storage: Storage,
    record_key: Sequence[str],
    keep_commits: int,
    encode_partitions: bool = False,
) -> Dict[str, str]:
    """Return options of a current or history table; its first key field is hashed."""
    options = {
        **common_options(name, keep_commits=keep_commits),
        **(_BLOOM_FILTERS if storage.index is Index.BLOOM else _NO_BLOOM_FILTERS),
        HudiKey.TABLE_TYPE.value: _HUDI_TYPE[storage.type],
        HudiKey.RECORD_KEY.value: ",".join(record_key),
        HudiKey.PARTITION_PATH.value: ",".join(storage.partition_by),
        HudiKey.HIVE_PARTITIONS.value: "true",
        # A text may hold what a folder's name cannot, as in a:b or a/b. Of other types
        # Hudi's readers do not find encoded values (boolean, decimal).
        HudiKey.ENCODED_PARTITIONS.value: str(encode_partitions).lower(),
        HudiKey.KEY_GENERATOR.value: _key_generator(storage, record_key),
        # Rows that we write are already folded: the newest commit is right.
        HudiKey.MERGE_MODE.value: "COMMIT_TIME_ORDERING",
        HudiKey.COMBINE_UPSERT.value: "false",
        HudiKey.INDEX_TYPE.value: _HUDI_INDEX[storage.index],
        HudiKey.BULK_SORT.value: "NONE",
        **_version_options(storage.table_version),
    }
    if storage.index is Index.BUCKET:
        options[HudiKey.BUCKETS.value] = str(storage.buckets)
        options[HudiKey.BUCKET_HASH.value] = record_key[0]
    if storage.index is Index.RECORD:
        options[HudiKey.METADATA_TABLE.value] = "true"
        options[HudiKey.RECORD_INDEX.value] = "true"
        # Several groups are looked up in threads of Java's common pool, which do not
        # see jars of `spark.jars`, as EMR gives Hudi: once one of them met a delete,
        # no thread can read the index any more (Hudi issue 13410).
        options[HudiKey.RECORD_INDEX_FEWEST.value] = "1"
        options[HudiKey.RECORD_INDEX_MOST.value] = "1"
    return options


def _key_generator(storage: Storage, record_key: Sequence[str]) -> str:
    package = "org.apache.hudi.keygen."
    if not storage.partition_by:
        return package + "NonpartitionedKeyGenerator"
    if len(record_key) == 1 and len(storage.partition_by) == 1:
        return package + "SimpleKeyGenerator"
    return package + "ComplexKeyGenerator"


def write_options(
    table: Mapping[str, str], operation: Operation, metadata: Mapping[str, str]
) -> Dict[str, str]:
    """Return options of one write: the table's, the operation and the commit
    metadata."""
    return {
        **table,
        # A replaced table has the columns of its new rows: renamed, fewer, or of other types.
        HudiKey.DROP_COLUMNS.value: str(operation is Operation.REPLACE).lower(),
        HudiKey.OPERATION.value: operation.value,
        HudiKey.METADATA_PREFIX.value: METADATA_PREFIX,
        **{METADATA_PREFIX + name: value for name, value in metadata.items()},
    }


def table_properties(options: Mapping[str, str]) -> Dict[str, str]:
    """Return the properties with which Hudi's own write makes a table of these options."""
    kept = {name: options.get(key.value) for key, name in _KEPT_IN_TABLE.items()}
    return {**_OF_NEW_TABLES, **{n: v for n, v in kept.items() if v is not None}}


def avro_names(table: str) -> Tuple[str, str]:
    """Return name and namespace that Hudi's own write gives the Avro schema of rows."""
    return f"{table}_record", f"hoodie.{table}"


def schema_options(schema: str) -> Dict[str, str]:
    """Return the options of a write of rows of this schema, a Spark schema string.

    With decimals of up to 18 digits, Hudi's row writer takes Parquet's legacy
    form, whose lists the next upsert reads as null.
    """
    if has_lists_and_decimals(schema):
        return {HudiKey.ROW_WRITER.value: "false"}
    return {}


def has_lists_and_decimals(schema: str) -> bool:
    """Return whether files of a Spark schema string may have lists in the legacy form."""
    return "decimal(" in schema and ("array<" in schema or "map<" in schema)


def maintenance_options(table: Mapping[str, str], schema: str) -> str:
    """Return options of a due compaction, as arguments of the procedure.

    The reader of file groups brings rows of Spark, which are written as the row writer
    writes them; without it a compaction reads and writes as an upsert does.
    """
    options = {**_of_maintenance(table), HudiKey.COMPACT_AFTER.value: "1"}
    if has_lists_and_decimals(schema):
        options[HudiKey.FILE_GROUP_READER.value] = "false"
    return _joined(options)


def clean_options(keep_commits: int) -> Dict[str, str]:
    """Return options of a cleaning that keeps what as-of queries may read."""
    return {
        HudiKey.CLEAN_POLICY.value: "KEEP_LATEST_COMMITS",
        HudiKey.CLEAN_COMMITS.value: str(keep_commits),
    }


def newest_version_options() -> Dict[str, str]:
    """Return options of a cleaning that keeps only the newest version of each file."""
    return {
        HudiKey.CLEAN_POLICY.value: "KEEP_LATEST_FILE_VERSIONS",
        HudiKey.CLEAN_VERSIONS.value: "1",
    }


def clustering_options(
    table: Mapping[str, str], smaller_than: Optional[int] = None
) -> str:
    """Return options of the change log's clustering, as arguments of the procedure.

    A plan has its files below so many bytes; None: one that is there is carried out.
    """
    options = _of_maintenance(table)
    if smaller_than is not None:
        options[HudiKey.SMALL_FILE_LIMIT.value] = str(smaller_than)
        options[HudiKey.CLUSTERED_FILE.value] = str(CLUSTERED_FILE)
    return _joined(options)


def _of_maintenance(table: Mapping[str, str]) -> Dict[str, str]:
    """Select the table's options that maintenance needs to write the same files.

    The procedures know the properties that a table keeps, and these are not among them.
    A plan that is made through Hudi's server of file listings fails on partitions of some
    texts (`InvalidHoodiePathException`), so it is off here as it is for writes.
    """
    return {
        HudiKey.METADATA_TABLE.value: "false",
        HudiKey.EMBEDDED_SERVER.value: "false",
        **{name: table[name] for name in _OF_FILES if name in table},
    }


def _joined(options: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in options.items())


READ_OPTIMIZED = "hoodie.query.as.ro.table"
"""Makes a catalogue's readers ignore the log files of a table."""
