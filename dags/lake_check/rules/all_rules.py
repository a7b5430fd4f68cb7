"""The rules of each kind of spec."""

from __future__ import annotations

from typing import Any, Dict, Tuple

from lake_check.rules.checks import CHECKS
from lake_check.rules.cluster import CLUSTER
from lake_check.rules.columns import COLUMNS
from lake_check.rules.connections import CONNECTIONS
from lake_check.rules.continuous import CONTINUOUS
from lake_check.rules.dimension import DIMENSION
from lake_check.rules.domain import DOMAIN
from lake_check.rules.drivers import DRIVERS
from lake_check.rules.enrichment import ENRICHMENT
from lake_check.rules.envelope import ENVELOPE
from lake_check.rules.environment import ENVIRONMENT
from lake_check.rules.full_refresh import FULL_REFRESH
from lake_check.rules.history import HISTORY
from lake_check.rules.instances import INSTANCES
from lake_check.rules.limits import LIMITS
from lake_check.rules.order import FEED_ORDER, FILE_ORDER, ORDER, TIMES
from lake_check.rules.path_columns import PATH_COLUMNS
from lake_check.rules.plain_parquet import PLAIN_PARQUET
from lake_check.rules.product import PRODUCT
from lake_check.rules.pulls import FEED_PULLS, PULLS, SNAPSHOT_PULLS
from lake_check.rules.quality import QUALITY
from lake_check.rules.readers import READERS
from lake_check.rules.rule_set import RuleSet
from lake_check.rules.snapshots import SNAPSHOTS
from lake_check.rules.source import FEED, SOURCE
from lake_check.rules.table import TABLE
from lake_spec.model import (
    ClusterSpec,
    DimensionTable,
    DomainSpec,
    EnvironmentSpec,
    FeedTable,
    ProductTable,
    SnapshotTable,
)

_OF_TABLES = (LIMITS, TABLE, COLUMNS, ORDER, CHECKS, PLAIN_PARQUET)
_OF_HISTORY = (HISTORY, TIMES)
_OF_FILES = (*_OF_HISTORY, SOURCE, FILE_ORDER, PULLS, QUALITY)

RULE_SETS: Dict[type, Tuple[RuleSet, ...]] = {
    SnapshotTable: (*_OF_TABLES, *_OF_FILES, SNAPSHOTS, SNAPSHOT_PULLS),
    FeedTable: (
        *(*_OF_TABLES, *_OF_FILES, FEED, FEED_PULLS, FEED_ORDER),
        *(ENVELOPE, ENRICHMENT, FULL_REFRESH, PATH_COLUMNS),
    ),
    DimensionTable: (*_OF_TABLES, *_OF_HISTORY, DIMENSION),
    ProductTable: (*_OF_TABLES, QUALITY, PRODUCT),
    DomainSpec: (LIMITS, DOMAIN, CONTINUOUS, READERS),
    ClusterSpec: (LIMITS, CLUSTER, INSTANCES, DRIVERS),
    EnvironmentSpec: (LIMITS, ENVIRONMENT, CONNECTIONS),
}


def rule_sets_of(spec: Any) -> Tuple[RuleSet, ...]:
    """Return the rules of a spec by its class."""
    return RULE_SETS[type(spec)]
