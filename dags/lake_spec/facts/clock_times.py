"""Which times of a table are what a clock showed, and not instants."""

from __future__ import annotations

from typing import Iterable, Optional, Tuple

from lake_spec.model import Column, SnapshotTable, TableSpec
from lake_spec.text.encodings import names_zone, TYPES


def clock_columns(spec: TableSpec, names: Iterable[str]) -> Tuple[str, ...]:
    """List those of the columns that may be times without a zone.

    A format that names the zone, or counts since 1970, says an instant.
    """
    return tuple(name for name in names if _is_local(spec.column(name)))


def _is_local(column: Optional[Column]) -> bool:
    if column is None:
        return True  # its type is found in the files
    form = column.format or ""
    says_instant = form in TYPES or names_zone(form)
    return column.type == "timestamp" and not says_instant


def dates_by_clock(spec: SnapshotTable) -> bool:
    """Return whether hours of its snapshots are said without a zone."""
    if spec.source.pulled_from:
        return False
    form = spec.source.snapshot_time.format.replace("%%", "")
    return any(hour in form for hour in ("%H", "%I", "%X", "%c")) and "%z" not in form
