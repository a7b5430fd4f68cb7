"""What must hold of versions before they are written: contract section 8.

The checks look at the affected keys alone, at all of their versions. What they
need to know of the events is kept with each version as a witness: a column that
is never written.
"""

from __future__ import annotations

from typing import Dict, Tuple

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lake_spec.model import VersionedTable
from lake_spark.changelog.schema import DELETE, LogColumn
from lake_spark.scd2 import fold
from lake_spark.scd2.derived_table import REMOVED
from lake_spark.scd2.events import KEY, Roles
from lake_spark.scd2.order import total_order

NEXT_DELETE, IS_LAST = "lake_next_delete", "lake_is_last"
"""Of an event: since when the next delete after it counts; whether none follows."""

BY_DELETE = "lake_by_delete"
WITNESSES: Tuple[str, ...] = (BY_DELETE, IS_LAST)
"""Of a version: whether a delete ends it; whether it shows its key's last event."""

_OVERLAPS, _GAP, _OPEN = "lake_overlaps", "lake_gap", "lake_open_versions"


def with_witnesses(events: DataFrame, roles: Roles) -> DataFrame:
    """Note with each event, in lake_effective_final order, what the checks will ask."""
    order = Window.partitionBy(KEY).orderBy(*total_order(roles))
    deleted = "CASE WHEN lake_op = '%s' THEN lake_effective_final END" % DELETE
    next_delete = F.expr(f"lead({deleted}) IGNORE NULLS").over(order)
    is_last = F.lead(LogColumn.OP).over(order).isNull()
    return events.withColumns({NEXT_DELETE: next_delete, IS_LAST: is_last})


def with_witnesses_of_single_events(events: DataFrame) -> DataFrame:
    """Note the same with events that are the only ones of their keys."""
    never = F.lit(None).cast("timestamp")
    return events.withColumns({NEXT_DELETE: never, IS_LAST: F.lit(True)})


def of_history(spec: VersionedTable) -> Dict[str, str]:
    """Return promise -> SQL of a breach, for rows that `checked` was given."""
    names = spec.history.columns
    return {
        "a version ends after it starts": f"`{names.valid_to}` <= `{names.valid_from}`",
        "a version has a start": f"`{names.valid_from}` IS NULL",
        "versions of a key do not overlap": _OVERLAPS,
        "a key has at most one open version": f"`{names.is_current}` AND {_OPEN} > 1",
        "a gap is a delete's": f"{_GAP} AND NOT coalesce({BY_DELETE}, false)",
        "the open version is what current shows": (
            f"`{names.is_current}` AND NOT {IS_LAST}"
        ),
    }


def checked(rows: DataFrame, spec: VersionedTable) -> DataFrame:
    """Return the rows with what the invariants need of a version's neighbours."""
    names = spec.history.columns
    by_key = Window.partitionBy(KEY, F.col("lake_action") == REMOVED)
    following = F.lead(fold.FROM).over(by_key.orderBy(fold.FROM))
    ends = F.coalesce(F.unix_micros(names.valid_to), F.lit(2**63 - 1))
    return rows.withColumns(
        {
            _OVERLAPS: F.coalesce(ends > following, F.lit(False)),
            _GAP: _ended(spec) & F.coalesce(ends < following, F.lit(True)),
            _OPEN: F.count_if(F.col(names.is_current)).over(by_key),
        }
    )


def checked_single_events(rows: DataFrame, spec: VersionedTable) -> DataFrame:
    """Return the same of versions that have no neighbours."""
    is_current = F.col(spec.history.columns.is_current)
    return rows.withColumns(
        {_OVERLAPS: F.lit(False), _GAP: _ended(spec), _OPEN: is_current.cast("int")}
    )


def _ended(spec: VersionedTable) -> Column:
    names = spec.history.columns
    return ~F.col(names.is_current) & ~F.col(names.is_deleted)
