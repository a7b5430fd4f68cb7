"""The tables of a stage: Airflow passes them, and the step processes them."""

from __future__ import annotations

from typing import Iterable, List

from lake_spec.layout.dag_names import FULL_LOAD, INCREMENTAL, REPROCESS
from lake_spec.model import DimensionTable, Engine, FileTable, ProductTable, TableSpec
from lake_spec.model.continuous import CONTINUOUS

STREAMER = "streamer"
"""The HoodieStreamer stage, one step per table."""

MAINTENANCE = "maintenance"
ERASE = "erase"
"""The stage, and the kind of DAG, whose runs read from an object what to erase."""

SCD2 = "scd2"
DIMENSION, REBUILD_DIMENSION = "dimension", "rebuild_dimension"
PRODUCT, REBUILD_PRODUCT = "product", "rebuild_product"

INGESTING = (FULL_LOAD, INCREMENTAL, REPROCESS, CONTINUOUS)
"""Stages whose reports have the newest file of a table and all of its bad rows."""

FOLLOWING = (SCD2, DIMENSION, REBUILD_DIMENSION, PRODUCT, REBUILD_PRODUCT)
"""The stages that the step of an earlier one can run after it."""


def tables_of(stage: str, tables: Iterable[TableSpec]) -> List[TableSpec]:
    """Give the tables of a stage, in their order."""
    return [table for table in tables if _takes(stage, table)]


def _takes(stage: str, table: TableSpec) -> bool:
    if stage in (MAINTENANCE, CONTINUOUS):
        return True
    if stage == STREAMER or stage.startswith("prepare_"):
        return table.engine is Engine.STREAMER
    if stage in (DIMENSION, REBUILD_DIMENSION):
        return isinstance(table, DimensionTable)
    if stage in (PRODUCT, REBUILD_PRODUCT):
        return isinstance(table, ProductTable)
    if stage == ERASE:  # products are made again of what their inputs have left
        return isinstance(table, (FileTable, ProductTable))
    return isinstance(table, FileTable)


def with_products(names: Iterable[str], tables: Iterable[TableSpec]) -> List[str]:
    """Give these tables and the products that are made of them, however far."""
    found = list(names)
    products = [each for each in tables if isinstance(each, ProductTable)]
    for name in found:  # which grows meanwhile
        for each in products:
            is_made_of_it = f"{each.domain}.{name}" in each.source.reads
            if is_made_of_it and each.name not in found:
                found.append(each.name)
    return found
