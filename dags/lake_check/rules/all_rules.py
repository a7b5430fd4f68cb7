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
from lake_check.rules.order import ORDER
from lake_check.rules.path_columns import PATH_COLUMNS
from lake_check.rules.plain_parquet import PLAIN_PARQUET
from lake_check.rules.product import PRODUCT
from lake_check.rules.pulls import PULLS
from lake_check.rules.quality import QUALITY
from lake_check.rules.readers import READERS
from lake_check.rules.rule_set import RuleSet
from lake_check.rules.snapshots import SNAPSHOTS
from lake_check.rules.source import SOURCE
from lake_check.rules.table import TABLE
from lake_spec.model import ClusterSpec, DomainSpec, EnvironmentSpec, TableSpec

RULE_SETS: Dict[type, Tuple[RuleSet, ...]] = {
    TableSpec: (
        *(LIMITS, TABLE, SOURCE, ENVELOPE, ENRICHMENT, SNAPSHOTS, FULL_REFRESH, PULLS),
        *(PATH_COLUMNS, COLUMNS, ORDER, HISTORY, QUALITY, CHECKS, PLAIN_PARQUET),
    ),
    DomainSpec: (LIMITS, DOMAIN, CONTINUOUS, READERS),
    ClusterSpec: (LIMITS, CLUSTER, INSTANCES, DRIVERS),
    EnvironmentSpec: (LIMITS, ENVIRONMENT, CONNECTIONS),
}

OF_DIMENSION = (
    LIMITS,
    TABLE,
    DIMENSION,
    COLUMNS,
    ORDER,
    HISTORY,
    CHECKS,
    PLAIN_PARQUET,
)
"""A dimension is a table without landing files."""


OF_PRODUCT = (LIMITS, TABLE, PRODUCT, COLUMNS, ORDER, QUALITY, CHECKS, PLAIN_PARQUET)
"""A product has no landing files and no history, but columns and rules on them."""


def rule_sets_of(spec: Any) -> Tuple[RuleSet, ...]:
    """Return the rules of a spec by its class; dimensions and products have their own."""
    if isinstance(spec, TableSpec) and spec.is_dimension:
        return OF_DIMENSION
    if isinstance(spec, TableSpec) and spec.is_product:
        return OF_PRODUCT
    return RULE_SETS[type(spec)]
