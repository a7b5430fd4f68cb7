"""The history table: one row per version of a key over [from, to)."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lake_spec.model import SurrogateKind, TableSpec
from lake_spark.changelog.schema import DELETE
from lake_spark.scd2 import fold, invariants, surrogate_keys
from lake_spark.scd2.layer import Layer
from lake_spark.storage.hudi_table import HudiTable


def history_layer(
    spec: TableSpec, columns: Sequence[str], narrow: Sequence[str] = ()
) -> Layer:
    """How the history table of a spec is built; `narrow` as in Roles."""
    names = spec.history.columns
    return Layer(
        name="history",
        record_key=(fold.KEY, fold.FROM),
        desired=lambda events: version_rows(events, spec, columns, narrow),
        of_alone=lambda events: version_rows_of_alone(events, spec, columns),
        is_open=F.col(names.is_current),
        broken=invariants.of_history(spec),
        checked=lambda rows: invariants.checked(rows, spec),
        checked_alone=lambda rows: invariants.checked_alone(rows, spec),
        witnesses=invariants.WITNESSES,
    )


def numbered_layer(
    layer: Layer, spec: TableSpec, numbers: HudiTable, metadata: Mapping[str, str]
) -> Layer:
    """The layer with increasing surrogate keys, kept in `numbers`."""
    column = spec.history.surrogate_key.column
    return replace(
        layer,
        desired=lambda events: surrogate_keys.with_known_numbers(
            layer.desired(events), numbers, column
        ),
        of_alone=lambda events: surrogate_keys.with_known_numbers(
            layer.of_alone(events), numbers, column
        ),
        completed=lambda changes: surrogate_keys.with_new_numbers(
            changes, numbers, column, metadata
        ),
    )


def version_rows(
    events: DataFrame,
    spec: TableSpec,
    columns: Sequence[str],
    narrow: Sequence[str] = (),
) -> DataFrame:
    """The whole history of the keys in these events, and the checks' witnesses."""
    roles = fold.Roles.of(spec, columns, narrow)
    dated = fold.with_effective_times(events, roles)
    spans = fold.versions(invariants.with_witnesses(dated, roles), spec, roles)
    return _rows(spans, spec, columns)


def version_rows_of_alone(
    events: DataFrame, spec: TableSpec, columns: Sequence[str]
) -> DataFrame:
    """The same of events that are the only ones of their keys."""
    seen = invariants.with_witnesses_of_alone(events)
    return _rows(fold.versions_of_alone(seen), spec, columns)


def _rows(spans: DataFrame, spec: TableSpec, columns: Sequence[str]) -> DataFrame:
    """Versions in the columns of the table, and the witnesses."""
    names = spec.history.columns
    gone = F.col("lake_op") == DELETE
    end = end_of_span = F.col("lake_ends")
    if spec.history.open_end is not None:
        end = F.coalesce(end, F.lit(spec.history.open_end).cast("timestamp"))
    values = [
        F.col(n) if n in spec.key else F.when(~gone, F.col(n)).alias(n) for n in columns
    ]
    return spans.select(
        _surrogate_key(spec),
        *values,
        F.col("lake_starts").alias(names.valid_from),
        end.alias(names.valid_to),
        (F.col("lake_ends").isNull() & ~gone).alias(names.is_current),
        gone.alias(names.is_deleted),
        fold.KEY,
        fold.FROM,
        (end_of_span == F.col(invariants.NEXT_DELETE)).alias(invariants.BY_DELETE),
        invariants.IS_LAST,
    )


def _surrogate_key(spec: TableSpec) -> Column:
    """The version's own key; a number is filled in from where numbers are kept."""
    asked = spec.history.surrogate_key
    is_number = asked.kind is SurrogateKind.INCREASING
    key = F.lit(None) if is_number else surrogate_keys.hashed()
    return key.cast(surrogate_keys.SURROGATE_TYPES[asked.kind]).alias(asked.column)
