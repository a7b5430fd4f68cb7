"""The current table: one row per living key, as the last event left it."""

from __future__ import annotations

from typing import Dict, Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lake_spec.model import CurrentDeletes, TableSpec, VersionedTable
from lake_spark.changelog.schema import DELETE, LogColumn, UPSERT
from lake_spark.scd2 import fold
from lake_spark.scd2.derived_table import Layer
from lake_spark.scd2.events import KEY, Roles
from lake_spark.schema.columns import any_null


class CurrentLayer(Layer):
    """The current table of a spec."""

    name = "current"
    record_key = (KEY,)

    def __init__(self, spec: VersionedTable, columns: Sequence[str]) -> None:
        self._spec, self._columns = spec, columns

    def desired(self, events: DataFrame) -> DataFrame:
        """Give one row per key that lives, and per deleted one where deletes are soft."""
        return living_rows(events, self._spec, self._columns)

    def desired_of_single_events(self, events: DataFrame) -> DataFrame:
        """Give the same of keys with one event each: a delete deletes nothing."""
        return living_rows_of_single_events(events, self._spec, self._columns)

    @property
    def is_open(self) -> Column:
        """Return whether the row lives."""
        if self._spec.current.deletes is CurrentDeletes.HARD:
            return F.lit(True)
        return _is_not_deleted(self._spec.history.columns.is_deleted)

    @property
    def broken(self) -> Dict[str, str]:
        """Name the promise: a row has a key."""
        return {"key is null": any_null(self._spec.key)}


def mark_of(spec: TableSpec) -> str:
    """Return the column that marks deleted rows; a product's of that name is its own."""
    return spec.history.columns.is_deleted if isinstance(spec, VersionedTable) else ""


def not_deleted(rows: DataFrame, mark: str) -> DataFrame:
    """Return the rows that are not marked as deleted.

    Rows without a mark are not: those of before the table had marks.
    """
    return rows.where(_is_not_deleted(mark)) if mark in rows.columns else rows


def _is_not_deleted(mark: str) -> Column:
    return ~F.coalesce(F.col(f"`{mark}`"), F.lit(False))


def living_rows(
    events: DataFrame, spec: VersionedTable, columns: Sequence[str]
) -> DataFrame:
    """Return one row per key that lives, and per deleted one where deletes are soft."""
    roles = Roles.of(spec, columns)
    if spec.current.deletes is CurrentDeletes.HARD:
        living = fold.last_events(events, roles).where(F.col(LogColumn.OP) == UPSERT)
        return living.select(*columns, KEY)
    had_upsert = F.max(F.col(LogColumn.OP) == UPSERT).over(Window.partitionBy(KEY))
    marked = events.withColumn("lake_had_upsert", had_upsert)
    last = fold.last_events(marked, roles).where("lake_had_upsert")
    gone = F.col(LogColumn.OP) == DELETE
    values = [_kept(name, gone, spec) for name in columns]
    return last.select(*values, gone.alias(spec.history.columns.is_deleted), KEY)


def living_rows_of_single_events(
    events: DataFrame, spec: VersionedTable, columns: Sequence[str]
) -> DataFrame:
    """Return the same of keys with one event each: a delete deletes nothing."""
    upserts = events.where(F.col(LogColumn.OP) == UPSERT)
    if spec.current.deletes is CurrentDeletes.HARD:
        return upserts.select(*columns, KEY)
    lives = F.lit(False).alias(spec.history.columns.is_deleted)
    return upserts.select(*columns, lives, KEY)


def _kept(name: str, gone: Column, spec: VersionedTable) -> Column:
    """Return what a deleted row keeps, its key; its other values are null."""
    if name in spec.key:
        return F.col(name)
    return F.when(~gone, F.col(name)).alias(name)
