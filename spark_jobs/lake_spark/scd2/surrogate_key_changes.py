"""Surrogate keys that a commit takes out of history, and what takes their place.

A late event, a reprocess or a delete that arrives late can move or remove the start of
a version, to which its surrogate key belongs. Facts may refer to the old key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lake_spec.model import VersionedTable
from lake_spec.state.report import MOST_LISTED, MovedKey
from lake_spark.scd2.derived_table import REMOVED
from lake_spark.scd2.events import KEY
from lake_spark.scd2.fold import FROM

_FOREVER = 2**63 - 1


@dataclass(frozen=True)
class Moved:
    """How many surrogate keys went, and the first of them with what replaced it."""

    count: int = 0
    first: Tuple[MovedKey, ...] = ()


def moved_keys(changes: DataFrame, spec: VersionedTable) -> Moved:
    """Return removed versions with those that now cover their time, in the order of keys.

    Takes all rows of the affected keys, each with its lake_action.
    """
    versions = _versions(changes, spec)
    live = versions.where("NOT removed").drop("removed")
    # A version in another partition is removed there and inserted here.
    gone = versions.where("removed").join(live, [KEY, FROM], "left_anti")
    overlaps = [
        F.col(f"old.{KEY}") == F.col(f"new.{KEY}"),
        F.col(f"new.{FROM}") < F.col("old.until"),
        F.col("new.until") > F.col(f"old.{FROM}"),
    ]
    pieces = (
        gone.alias("old")
        .join(live.alias("new"), overlaps, "left")
        .select(
            F.col(f"old.{KEY}").alias(KEY),
            F.col("old.surrogate").alias("removed"),
            F.col("new.surrogate").alias("replaced_by"),
            F.greatest(f"old.{FROM}", f"new.{FROM}").alias("start"),
            F.least("old.until", "new.until").alias("until"),
        )
    )
    first = pieces.orderBy(KEY, "start").limit(MOST_LISTED).drop(KEY)
    shown = first.withColumns({n: _time(n) for n in ("start", "until")}).collect()
    return Moved(gone.count(), tuple(MovedKey(*row) for row in shown))


def _versions(changes: DataFrame, spec: VersionedTable) -> DataFrame:
    names = spec.history.columns
    return changes.where(~F.col(names.is_deleted)).select(
        KEY,
        FROM,
        F.col(spec.history.surrogate_key.column).alias("surrogate"),
        F.coalesce(F.unix_micros(names.valid_to), F.lit(_FOREVER)).alias("until"),
        (F.col("lake_action") == REMOVED).alias("removed"),
    )


def _time(micros: str) -> Column:
    timestamp = F.timestamp_micros(micros).cast("string")
    return F.when(F.col(micros) != _FOREVER, timestamp)
