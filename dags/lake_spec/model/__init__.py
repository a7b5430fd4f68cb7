"""Table specs, domains, clusters and environments as plain frozen dataclasses.

One class per kind of thing, so that a kind has only its own settings. The
decoder, the JSON Schema and the reference page all read these classes: the
field's type gives what is accepted, `setting(...)` gives the words.

Standard library only; Python 3.9 to 3.12.
"""

from lake_spec.model.aws import (
    ClusterSpec,
    EnvironmentSpec,
)
from lake_spec.model.choices import (
    MissingKeys,
    Connector,
    CurrentDeletes,
    Engine,
    Event,
    HistoryDeletes,
    HistoryRuns,
    Index,
    Keep,
    Layer,
    MissingColumns,
    NewColumns,
    OnFail,
    OnTypeMismatch,
    ReadableAs,
    Sensitivity,
    Shuffle,
    SurrogateKind,
    TableType,
    Concurrency,
)
from lake_spec.model.connections import (
    Connection,
    KafkaCluster,
    MariaDb,
    PostgreSql,
)
from lake_spec.model.continuous import (
    Continuous,
)
from lake_spec.model.enrichment import (
    Enrichment,
)
from lake_spec.model.envelopes import (
    Debezium,
)
from lake_spec.model.table_parts import (
    Column,
    Current,
    History,
    HistoryColumns,
    Maintenance,
    Quarantine,
    Rule,
    Storage,
    SurrogateKey,
)
from lake_spec.model.product import (
    Deduplicate,
    Equality,
    Lookup,
    Product,
    ProductInput,
    ProductPlan,
)
from lake_spec.model.pulls import (
    JdbcChanges,
    JdbcTable,
    KafkaTopic,
)
from lake_spec.model.spec_field import (
    setting,
)
from lake_spec.model.sources import (
    Avro,
    Complete,
    Csv,
    Dimension,
    SnapshotTime,
    Feed,
    Format,
    Json,
    Operation,
    Orc,
    Parquet,
    FullRefresh,
    Scope,
    Side,
    Snapshot,
    Source,
)
from lake_spec.model.table import (
    Clusters,
    DomainSpec,
    Notifications,
    Reader,
    STAGE_HOURS,
    Schedules,
    TableGrant,
    TableSpec,
    Term,
)

__all__ = [
    "MissingKeys",
    "Avro",
    "ClusterSpec",
    "Clusters",
    "Column",
    "Complete",
    "Connection",
    "Connector",
    "Continuous",
    "Csv",
    "Current",
    "CurrentDeletes",
    "Debezium",
    "Deduplicate",
    "Dimension",
    "DomainSpec",
    "Engine",
    "Equality",
    "Enrichment",
    "EnvironmentSpec",
    "Event",
    "SnapshotTime",
    "Feed",
    "Format",
    "History",
    "HistoryColumns",
    "HistoryDeletes",
    "HistoryRuns",
    "Index",
    "JdbcChanges",
    "JdbcTable",
    "Json",
    "KafkaCluster",
    "KafkaTopic",
    "Keep",
    "Layer",
    "Lookup",
    "Maintenance",
    "MariaDb",
    "MissingColumns",
    "NewColumns",
    "Notifications",
    "OnFail",
    "OnTypeMismatch",
    "Operation",
    "Orc",
    "Parquet",
    "PostgreSql",
    "Product",
    "ProductInput",
    "ProductPlan",
    "Quarantine",
    "ReadableAs",
    "Sensitivity",
    "Shuffle",
    "FullRefresh",
    "Reader",
    "Rule",
    "STAGE_HOURS",
    "Schedules",
    "Scope",
    "Side",
    "Snapshot",
    "Source",
    "Storage",
    "SurrogateKey",
    "SurrogateKind",
    "TableGrant",
    "TableSpec",
    "Term",
    "TableType",
    "Concurrency",
    "setting",
]
