"""Enumerations of settings."""

from __future__ import annotations

from enum import Enum


class Engine(str, Enum):
    """The engine that ingests landing files into the change log."""

    PYSPARK = "pyspark"
    """PySpark reads and judges the files and commits them, for every kind of source."""
    STREAMER = "streamer"
    """PySpark judges the files and HoodieStreamer commits their rows, for feeds."""


class TableType(str, Enum):
    """Hudi's table type, or plain Parquet."""

    COPY_ON_WRITE = "copy_on_write"
    """A change rewrites the files of its keys; reads are quickest."""
    MERGE_ON_READ = "merge_on_read"
    """A change is added to log files, which compactions merge; what `readable_as` shows
    is as of the last one."""
    PARQUET = "parquet"
    """Plain Parquet without Hudi, written whole each time (products)."""


HUDI_TYPES = (TableType.COPY_ON_WRITE, TableType.MERGE_ON_READ)
"""The types of tables that Hudi keeps: of all but some products."""


class ReadableAs(str, Enum):
    """Format that readers of other engines find a table in, next to Hudi."""

    ICEBERG = "iceberg"
    """Metadata of Iceberg on the same files."""
    DELTA = "delta"
    """A log of Delta Lake on the same files."""

    def database_of(self, domain: str) -> str:
        """Return the database of Glue with the tables of a domain in this format."""
        return f"{domain}_{self.value}"


class Presence(str, Enum):
    """Whether a column has a value."""

    NOT_NULL = "not_null"
    """It has a value."""
    NULL = "null"
    """It has none."""


class Index(str, Enum):
    """Hudi's index, which finds the file of a row."""

    BUCKET = "bucket"
    """The file of a key is computed from it, so none is looked up."""
    BLOOM = "bloom"
    """Filters in the files say which of them may have a key: for keys that grow with
    time."""
    SIMPLE = "simple"
    """The keys of all files are read and joined."""
    RECORD = "record"
    """A table of Hudi says where each key is, across all partitions; only without
    `partition_by`."""


class Shuffle(str, Enum):
    """What brings the rows of a first load or a rebuild to their buckets."""

    SPARK = "spark"
    """Spark's own, into the bucket's task."""
    HUDI = "hudi"
    """Hudi's, which is slower; it is used where Hudi's release lacks what `spark`
    needs."""


class JsonLayout(str, Enum):
    """How the records of a file of JSON stand in it."""

    LINES = "lines"
    """One object a line."""
    ARRAY = "array"
    """The file is one array, and each of its elements an object, over any lines."""


class AbsentFields(str, Enum):
    """Meaning of a field that a record of a feed lacks."""

    NO_VALUE = "no_value"
    """No value, as null."""
    UNCHANGED = "unchanged"
    """The value before it in the order, by path in structs."""


class MissingKeys(str, Enum):
    """Meaning of a key that the previous snapshot had and this one lacks."""

    DELETE = "delete"
    """Its row was deleted."""
    IGNORE = "ignore"
    """Nothing: its row stays."""


class DuplicateKeys(str, Enum):
    """Handling of rows of one full copy that have one key and differ."""

    QUARANTINE = "quarantine"
    """All of them go to the quarantine."""
    LAST = "last"
    """The last one counts, and a warning says how many there are."""


class Profile(str, Enum):
    """When the columns of a table are measured."""

    WEEKLY = "weekly"
    """After a full load, and by maintenance if the profile is at least six days old and
    the table has changed since."""
    NEVER = "never"
    """Nothing is measured, and a profile that is there is removed."""


class CurrentDeletes(str, Enum):
    """Effect of a delete on the current table."""

    HARD = "hard"
    """The row is removed."""
    SOFT = "soft"
    """The row stays, marked by `is_deleted`, without values but its key."""


class HistoryDeletes(str, Enum):
    """Effect of a delete on the history table."""

    CLOSE = "close"
    """The version ends."""
    TOMBSTONE = "tombstone"
    """The version ends, and a row marked by `is_deleted` is valid until the next
    upsert."""


class SurrogateKind(str, Enum):
    """Kind of the surrogate key of a version."""

    DETERMINISTIC = "deterministic"
    """A hash of key and start, the same in every lake (text)."""
    INCREASING = "increasing"
    """Numbers, kept in a table of their own (bigint, with gaps)."""


class Layer(str, Enum):
    """Layer of a table that a product reads."""

    CURRENT = "current"
    """Its rows of today."""
    HISTORY = "history"
    """Its versions."""


class Keep(str, Enum):
    """Row that stays of several."""

    FIRST = "first"
    """The first one."""
    LAST = "last"
    """The last one."""


class NewColumns(str, Enum):
    """Handling of a source column that the spec does not declare."""

    ADD = "add"
    """They become columns of the table."""
    REFRESH = "refresh"
    """As `add`, and a table that is pulled by a cursor is read whole again where rows
    have values that it lacks."""
    IGNORE = "ignore"
    """They are left out."""
    REFUSE = "refuse"
    """The file is rejected."""

    @property
    def adds(self) -> bool:
        """Return whether such a column becomes one of the table."""
        return self in (NewColumns.ADD, NewColumns.REFRESH)


class MissingColumns(str, Enum):
    """Handling of a file that lacks a declared column."""

    WARN = "warn"
    """Its rows are ingested with null, and a warning counts them."""
    REFUSE = "refuse"
    """The file is rejected."""


class OnTypeMismatch(str, Enum):
    """Handling of a column whose type in a file does not fit the table's."""

    REFUSE = "refuse"
    """The file is rejected."""
    QUARANTINE = "quarantine"
    """The rows that do not fit go to the quarantine."""


class Sensitivity(str, Enum):
    """Who may see the values of a column."""

    NONE = "none"
    """Everyone who may read the table."""
    INTERNAL = "internal"
    """Not everyone: a mark for catalogues and grants."""
    PERSONAL = "personal"
    """Data of persons: in no profile, and a table with such a column has no values in
    reports, logs, notifications and pages (docs/security.md)."""


class ColumnUse(str, Enum):
    """What a column of a table does with the values of another one."""

    COPIED = "copied"
    """It has them as they are, or parsed."""
    COMPUTED = "computed"
    """An expression makes its values of them."""
    SUMMED = "summed"
    """Its values are totals or means over many rows."""
    DERIVED = "derived"
    """They decide its values, which have nothing of them: a count, a version's times.
    """


class OnFail(str, Enum):
    """Action for a row that fails a quality rule."""

    QUARANTINE = "quarantine"
    """It is set aside, and counts as a bad row."""
    WARN = "warn"
    """It is kept, and a warning counts it."""
    FAIL = "fail"
    """The run of the table fails before its commit."""


class CheckedLayer(str, Enum):
    """Rows of a table that a check is about."""

    CHANGES = "changes"
    """Those that a commit adds to the change log."""
    CURRENT = "current"
    """Those of current, the only layer of a product."""
    HISTORY = "history"
    """Those of history."""


class Severity(str, Enum):
    """Effect of a failed check."""

    FAIL = "fail"
    """The run of the table stops before the commit."""
    WARN = "warn"
    """The run goes on, and reports it."""


class Every(str, Enum):
    """How often a check is evaluated."""

    RUN = "run"
    """In each run that commits."""
    DAY = "day"
    """In the first such run of a day (UTC), and after a failure in each."""


class Aggregate(str, Enum):
    """Aggregate of the values of a column."""

    AVG = "avg"
    """Their mean."""
    SUM = "sum"
    """Their total."""
    MIN = "min"
    """The least."""
    MAX = "max"
    """The greatest."""
    COUNT_DISTINCT = "count_distinct"
    """How many different ones there are."""


class Concurrency(str, Enum):
    """Behaviour of a run while another run of its domain is running."""

    WAIT = "wait"
    """It waits for the other's end."""
    REFUSE = "refuse"
    """It fails."""


class Event(str, Enum):
    """Events that notifications are sent for, besides the run's log."""

    FAILURE = "failure"
    """A run failed."""
    RECOVERY = "recovery"
    """The first successful run after failed ones."""
    QUARANTINE = "quarantine"
    """More bad rows than `quarantine.warn_share`."""
    LATE_SOURCE = "late_source"
    """A source is late by `source.late_after_hours`."""


class HistoryRuns(str, Enum):
    """Place of the history stage of an incremental run."""

    SAME_CLUSTER = "same_cluster"
    """In the incremental run, on its cluster."""
    OWN_DAG = "own_dag"
    """In a DAG of its own, triggered by an Asset."""


class Connector(str, Enum):
    """Debezium connector that wrote the events; it defines their order."""

    POSTGRESQL = "postgresql"
    """Of PostgreSQL: events are ordered by the positions (LSN) of their commits."""
    MARIADB = "mariadb"
    """Of MariaDB: events are ordered by their positions in the binlog."""
    MYSQL = "mysql"
    """Of MySQL: as of MariaDB."""


class SecretStore(str, Enum):
    """Service that stores a secret."""

    SECRETS_MANAGER = "secrets_manager"
    """AWS Secrets Manager."""
    SSM = "ssm"
    """A parameter (SecureString) of AWS Systems Manager."""


class KafkaSecurity(str, Enum):
    """Protocol and authentication of Kafka's brokers."""

    PLAINTEXT = "plaintext"
    """Neither encryption nor a user: for a broker of one's own machine."""
    TLS = "tls"
    """Encryption, without a user."""
    SCRAM = "scram"
    """Encryption, and user and password of `secret` (SASL/SCRAM-SHA-512)."""
