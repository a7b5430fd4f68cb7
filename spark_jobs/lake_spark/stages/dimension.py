"""dimension: brought up to its tables; rebuild_dimension: made of them again."""

from __future__ import annotations

from lake_spec.model import DimensionTable
from lake_spark.checks import table_checks
from lake_spark.dimension.build_dimension import build_dimension
from lake_spark.publish.publication import publish
from lake_spark.tables import catalog
from lake_spark.tables.table_run import TableRun


def dimension(run: TableRun) -> None:
    """Write what the histories of its tables changed, by one commit per table."""
    _build(run, rebuild=False)


def rebuild_dimension(run: TableRun) -> None:
    """Join the whole histories again, with the settings of today."""
    _build(run, rebuild=True)


def _build(run: TableRun, *, rebuild: bool) -> None:
    if not run.dry_run:
        build_dimension(run.of_kind(DimensionTable), rebuild=rebuild)
        catalog.register(run)
        publish(run, ("current", "history"))
        for layer in ("history", "current"):
            table_checks.without_commit(run, layer)
