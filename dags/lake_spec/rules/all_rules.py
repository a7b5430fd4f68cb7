"""The rules of each kind of spec."""

from __future__ import annotations

from typing import Any, Dict, Tuple

from lake_spec.model import ClusterSpec, DomainSpec, EnvironmentSpec, TableSpec
from lake_spec.rules.rule_set import RuleSet
from lake_spec.rules.checks import CHECKS
from lake_spec.rules.cluster import CLUSTER
from lake_spec.rules.columns import COLUMNS
from lake_spec.rules.connections import CONNECTIONS
from lake_spec.rules.continuous import CONTINUOUS
from lake_spec.rules.dimension import DIMENSION
from lake_spec.rules.domain import DOMAIN
from lake_spec.rules.drivers import DRIVERS
from lake_spec.rules.enrichment import ENRICHMENT
from lake_spec.rules.envelope import ENVELOPE
from lake_spec.rules.environment import ENVIRONMENT
from lake_spec.rules.snapshots import SNAPSHOTS
from lake_spec.rules.history import HISTORY
from lake_spec.rules.instances import INSTANCES
from lake_spec.rules.limits import LIMITS
from lake_spec.rules.order import ORDER
from lake_spec.rules.path_columns import PATH_COLUMNS
from lake_spec.rules.plain_parquet import PLAIN_PARQUET
from lake_spec.rules.product import PRODUCT
from lake_spec.rules.pulls import PULLS
from lake_spec.rules.quality import QUALITY
from lake_spec.rules.readers import READERS
from lake_spec.rules.full_refresh import FULL_REFRESH
from lake_spec.rules.source import SOURCE
from lake_spec.rules.table import TABLE

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
