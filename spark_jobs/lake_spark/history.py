"""The history table: one row per version of a key over [from, to)."""

from __future__ import annotations

from typing import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lake_spec.model import TableSpec
from lake_spark import fold
from lake_spark.derived import REMOVED, Layer
from lake_spark.log_rows import DELETE


def history_layer(spec: TableSpec, columns: Sequence[str]) -> Layer:
    """How the history table of a spec is built."""
    names = spec.history.columns
    return Layer(
        name="history",
        record_key=(fold.KEY, fold.FROM),
        desired=lambda events: version_rows(events, spec, columns),
        is_open=F.col(names.is_current),
        broken=promises(spec),
        checked=lambda rows: with_overlaps(rows, names.valid_to),
    )


def promises(spec: TableSpec) -> dict:
    """What must hold of the rows about to be written: promise -> SQL of a breach."""
    names = spec.history.columns
    return {
        "a version ends after it starts": f"`{names.valid_to}` <= `{names.valid_from}`",
        "a version has a start": f"`{names.valid_from}` IS NULL",
        "versions of a key do not overlap": _OVERLAPS,
    }


_OVERLAPS = "lake_overlaps"
"""Added to the rows for the check, never written."""


def version_rows(
    events: DataFrame, spec: TableSpec, columns: Sequence[str]
) -> DataFrame:
    """The whole history of the keys in these events."""
    roles = fold.Roles.of(spec, columns)
    dated = fold.with_effective_times(events, roles)
    spans = fold.versions(dated, spec, roles)
    names = spec.history.columns
    gone = F.col("lake_op") == DELETE
    end = F.col("lake_ends")
    if spec.history.open_end is not None:
        end = F.coalesce(end, F.lit(spec.history.open_end).cast("timestamp"))
    values = [
        F.col(n) if n in spec.key else F.when(~gone, F.col(n)).alias(n) for n in columns
    ]
    return spans.select(
        surrogate_key().alias(spec.history.surrogate_key.column),
        *values,
        F.col("lake_starts").alias(names.valid_from),
        end.alias(names.valid_to),
        (F.col("lake_ends").isNull() & ~gone).alias(names.is_current),
        gone.alias(names.is_deleted),
        fold.KEY,
        fold.FROM,
    )


def surrogate_key() -> Column:
    """Half a SHA-256 of key and start: the same in every build, 32 hex digits."""
    text = F.concat_ws("|", F.col(fold.KEY), F.col(fold.FROM).cast("string"))
    return F.substring(F.sha2(text, 256), 1, 32)


def with_overlaps(rows: DataFrame, valid_to: str) -> DataFrame:
    """Mark versions that have not ended when the next one of their key starts."""
    by_key = Window.partitionBy(fold.KEY, F.col("lake_action") == REMOVED)
    following = F.lead(fold.FROM).over(by_key.orderBy(fold.FROM))
    ends = F.coalesce(F.unix_micros(valid_to), F.lit(2**63 - 1))
    return rows.withColumn(_OVERLAPS, F.coalesce(ends > following, F.lit(False)))
