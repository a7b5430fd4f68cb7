"""Enumerations of settings."""

from __future__ import annotations

from enum import Enum


class Engine(str, Enum):
    """The engine that ingests landing files into the change log."""

    PYSPARK = "pyspark"
    STREAMER = "streamer"


class TableType(str, Enum):
    """Hudi's table type, or plain Parquet."""

    COPY_ON_WRITE = "copy_on_write"
    MERGE_ON_READ = "merge_on_read"
    PARQUET = "parquet"


HUDI_TYPES = (TableType.COPY_ON_WRITE, TableType.MERGE_ON_READ)
"""The types of tables that Hudi keeps: of all but some products."""


class ReadableAs(str, Enum):
    """Format that readers of other engines find a table in, next to Hudi."""

    ICEBERG = "iceberg"
    DELTA = "delta"

    def database_of(self, domain: str) -> str:
        """Return the database of Glue with the tables of a domain in this format."""
        return f"{domain}_{self.value}"


class Presence(str, Enum):
    """Whether a column has a value."""

    NOT_NULL = "not_null"
    NULL = "null"


class Index(str, Enum):
    """Hudi's index, which finds the file of a row."""

    BUCKET = "bucket"
    BLOOM = "bloom"
    SIMPLE = "simple"
    RECORD = "record"


class Shuffle(str, Enum):
    """What brings the rows of a first load or a rebuild to their buckets."""

    SPARK = "spark"
    HUDI = "hudi"


class AbsentFields(str, Enum):
    """Meaning of a field that a record of a feed lacks."""

    NO_VALUE = "no_value"
    UNCHANGED = "unchanged"


class MissingKeys(str, Enum):
    """Meaning of a key that the previous snapshot had and this one lacks."""

    DELETE = "delete"
    IGNORE = "ignore"


class DuplicateKeys(str, Enum):
    """Handling of rows of one full copy that have one key and differ."""

    QUARANTINE = "quarantine"
    LAST = "last"


class Profile(str, Enum):
    """When the columns of a table are measured."""

    WEEKLY = "weekly"
    NEVER = "never"


class CurrentDeletes(str, Enum):
    """Effect of a delete on the current table."""

    HARD = "hard"
    SOFT = "soft"


class HistoryDeletes(str, Enum):
    """Effect of a delete on the history table."""

    CLOSE = "close"
    TOMBSTONE = "tombstone"


class SurrogateKind(str, Enum):
    """Kind of the surrogate key of a version."""

    DETERMINISTIC = "deterministic"
    INCREASING = "increasing"


class Layer(str, Enum):
    """Layer of a table that a product reads."""

    CURRENT = "current"
    HISTORY = "history"


class Keep(str, Enum):
    """Row that stays of several."""

    FIRST = "first"
    LAST = "last"


class NewColumns(str, Enum):
    """Handling of a source column that the spec does not declare."""

    ADD = "add"
    REFRESH = "refresh"
    IGNORE = "ignore"
    REFUSE = "refuse"

    @property
    def adds(self) -> bool:
        """Return whether such a column becomes one of the table."""
        return self in (NewColumns.ADD, NewColumns.REFRESH)


class MissingColumns(str, Enum):
    """Handling of a file that lacks a declared column."""

    WARN = "warn"
    REFUSE = "refuse"


class OnTypeMismatch(str, Enum):
    """Handling of a column whose type in a file does not fit the table's."""

    REFUSE = "refuse"
    QUARANTINE = "quarantine"


class Sensitivity(str, Enum):
    """Who may see the values of a column."""

    NONE = "none"
    INTERNAL = "internal"
    PERSONAL = "personal"


class ColumnUse(str, Enum):
    """What a column of a table does with the values of another one."""

    COPIED = "copied"
    """It has them as they are, or parsed."""
    COMPUTED = "computed"
    """An expression makes its values of them."""
    SUMMED = "summed"
    """Its values are totals or means over many rows."""
    DERIVED = "derived"
    """They decide its values, which have nothing of them: a count, a version's times."""


class OnFail(str, Enum):
    """Action for a row that fails a quality rule."""

    QUARANTINE = "quarantine"
    WARN = "warn"
    FAIL = "fail"


class CheckedLayer(str, Enum):
    """Rows of a table that a check is about."""

    CHANGES = "changes"
    CURRENT = "current"
    HISTORY = "history"


class Severity(str, Enum):
    """Effect of a failed check."""

    FAIL = "fail"
    WARN = "warn"


class Every(str, Enum):
    """How often a check is evaluated."""

    RUN = "run"
    DAY = "day"


class Aggregate(str, Enum):
    """Aggregate of the values of a column."""

    AVG = "avg"
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    COUNT_DISTINCT = "count_distinct"


class Concurrency(str, Enum):
    """Behaviour of a run while another run of its domain is running."""

    WAIT = "wait"
    REFUSE = "refuse"


class Event(str, Enum):
    """Events that notifications are sent for, besides the run's log."""

    FAILURE = "failure"
    RECOVERY = "recovery"
    QUARANTINE = "quarantine"
    LATE_SOURCE = "late_source"


class HistoryRuns(str, Enum):
    """Place of the history stage of an incremental run."""

    SAME_CLUSTER = "same_cluster"
    OWN_DAG = "own_dag"


class Connector(str, Enum):
    """Debezium connector that wrote the events; it defines their order."""

    POSTGRESQL = "postgresql"
    MARIADB = "mariadb"
    MYSQL = "mysql"


class SecretStore(str, Enum):
    """Service that stores a secret."""

    SECRETS_MANAGER = "secrets_manager"
    SSM = "ssm"


class KafkaSecurity(str, Enum):
    """Protocol and authentication of Kafka's brokers."""

    PLAINTEXT = "plaintext"
    TLS = "tls"
    SCRAM = "scram"
