"""The tables of a stage: Airflow passes them, and the step processes them."""

from __future__ import annotations

from typing import Iterable, List

from lake_spec.model import Engine, TableSpec
from lake_spec.model.continuous import CONTINUOUS

STREAMER = "streamer"
"""The HoodieStreamer stage, one step per table."""

MAINTENANCE = "maintenance"
SCD2 = "scd2"
DIMENSION, REBUILD_DIMENSION = "dimension", "rebuild_dimension"
PRODUCT, REBUILD_PRODUCT = "product", "rebuild_product"

FOLLOWING = (SCD2, DIMENSION, REBUILD_DIMENSION, PRODUCT, REBUILD_PRODUCT)
"""The stages that the step of an earlier one can run after it."""


def tables_of(stage: str, tables: Iterable[TableSpec]) -> List[TableSpec]:
    """Give the tables of a stage, in their order."""
    return [table for table in tables if _takes(stage, table)]


def _takes(stage: str, table: TableSpec) -> bool:
    if stage == MAINTENANCE:
        return True
    if stage == CONTINUOUS:
        return not table.is_product  # they have a DAG of their own
    if stage == STREAMER or stage.startswith("prepare_"):
        return table.engine is Engine.STREAMER
    if stage in (DIMENSION, REBUILD_DIMENSION):
        return table.is_dimension
    if stage in (PRODUCT, REBUILD_PRODUCT):
        return table.is_product
    return table.has_files
