"""What a setting can be, where it can be one of a few things."""

from __future__ import annotations

from enum import Enum


class Engine(str, Enum):
    """Who reads the landing files into the change log."""

    PYSPARK = "pyspark"
    STREAMER = "streamer"


class TableType(str, Enum):
    """How Hudi keeps a table's files."""

    COPY_ON_WRITE = "copy_on_write"
    MERGE_ON_READ = "merge_on_read"


class Index(str, Enum):
    """How Hudi finds the file of a row."""

    BUCKET = "bucket"
    BLOOM = "bloom"
    SIMPLE = "simple"
    RECORD = "record"


class MissingKeys(str, Enum):
    """What it means that a snapshot lacks a key that the one before had."""

    DELETE = "delete"
    IGNORE = "ignore"


class CurrentDeletes(str, Enum):
    """What a delete leaves in the current table."""

    HARD = "hard"
    SOFT = "soft"


class HistoryDeletes(str, Enum):
    """What a delete leaves in the history table."""

    CLOSE = "close"
    TOMBSTONE = "tombstone"


class SurrogateKind(str, Enum):
    """What the surrogate key of a version is."""

    DETERMINISTIC = "deterministic"
    INCREASING = "increasing"


class NewColumns(str, Enum):
    """What to do with a source column that the spec does not declare."""

    ADD = "add"
    IGNORE = "ignore"
    REFUSE = "refuse"


class OnTypeMismatch(str, Enum):
    """What to do with a column whose type in a file does not fit the table's."""

    REFUSE = "refuse"
    QUARANTINE = "quarantine"


class OnFail(str, Enum):
    """What happens to a row that fails a quality rule."""

    QUARANTINE = "quarantine"
    WARN = "warn"
    FAIL = "fail"


class Concurrency(str, Enum):
    """What a run does while another run of its domain is under way."""

    WAIT = "wait"
    REFUSE = "refuse"


class Event(str, Enum):
    """Events that notifications are sent for, besides the run's log."""

    FAILURE = "failure"
    RECOVERY = "recovery"
    QUARANTINE = "quarantine"
    LATE_SOURCE = "late_source"


class HistoryRuns(str, Enum):
    """Where the history stage of an incremental run happens."""

    SAME_CLUSTER = "same_cluster"
    OWN_DAG = "own_dag"


class Connector(str, Enum):
    """Which of Debezium's connectors wrote the events: they say their order."""

    POSTGRESQL = "postgresql"
    MARIADB = "mariadb"
    MYSQL = "mysql"


class SecretStore(str, Enum):
    """What keeps a secret."""

    SECRETS_MANAGER = "secrets_manager"
    SSM = "ssm"


class KafkaSecurity(str, Enum):
    """How Kafka's brokers are reached."""

    PLAINTEXT = "plaintext"
    TLS = "tls"
    SCRAM = "scram"
