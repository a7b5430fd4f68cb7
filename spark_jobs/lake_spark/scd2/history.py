"""The history table: one row per version of a key over [from, to)."""

from __future__ import annotations

from types import MappingProxyType
from typing import Callable, Dict, Mapping, Optional, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lake_spec.model import SurrogateKind, VersionedTable
from lake_spark.changelog.schema import DELETE, LogColumn
from lake_spark.scd2 import fold, invariants, surrogate_keys
from lake_spark.scd2.derived_table import Layer
from lake_spark.scd2.events import KEY, Roles
from lake_spark.storage.hudi_table import HudiTable


class HistoryLayer(Layer):
    """The history table of a spec; `narrow` as in Roles.

    `numbers` keeps the surrogate keys that count up, `metadata` is of their commits.
    """

    name = "history"
    record_key = (KEY, fold.FROM)
    witnesses = invariants.WITNESSES

    def __init__(
        self,
        spec: VersionedTable,
        columns: Sequence[str],
        narrow: Sequence[str] = (),
        *,
        numbers: Optional[HudiTable] = None,
        metadata: Mapping[str, str] = MappingProxyType({}),
        on_removed: Callable[[DataFrame], None] = lambda changes: None,
    ) -> None:
        self._spec, self._columns, self._narrow = spec, columns, narrow
        self._numbers, self._metadata, self._on_removed = numbers, metadata, on_removed
        self.makes_once = numbers is not None

    def desired(self, events: DataFrame) -> DataFrame:
        """Give every version of the keys, and the checks' witnesses."""
        rows = version_rows(events, self._spec, self._columns, self._narrow)
        return self._numbered(rows)

    def desired_of_single_events(self, events: DataFrame) -> DataFrame:
        """Give the same of events that are the only ones of their keys."""
        return self._numbered(
            version_rows_of_single_events(events, self._spec, self._columns)
        )

    def _numbered(self, rows: DataFrame) -> DataFrame:
        if self._numbers is None:
            return rows
        return surrogate_keys.with_known_numbers(rows, self._numbers, self._key)

    @property
    def _key(self) -> str:
        return self._spec.history.surrogate_key.column

    @property
    def is_open(self) -> Column:
        """Return whether the version is the current one."""
        return F.col(self._spec.history.columns.is_current)

    @property
    def broken(self) -> Dict[str, str]:
        """Return what must hold of versions."""
        return invariants.of_history(self._spec)

    def checked(self, rows: DataFrame) -> DataFrame:
        """Add what the invariants need of a version's neighbours."""
        return invariants.checked(rows, self._spec)

    def checked_single_events(self, rows: DataFrame) -> DataFrame:
        """Add the same to versions that have no neighbours."""
        return invariants.checked_single_events(rows, self._spec)

    def completed(self, changes: DataFrame) -> DataFrame:
        """Give numbers to versions that never had one, and commit these."""
        if self._numbers is None:
            return changes
        return surrogate_keys.with_new_numbers(
            changes, self._numbers, self._key, self._metadata
        )

    def on_removed(self, changes: DataFrame) -> None:
        """Show the removed versions' rows of a commit to whoever asked for them."""
        self._on_removed(changes)


def version_rows(
    events: DataFrame,
    spec: VersionedTable,
    columns: Sequence[str],
    narrow: Sequence[str] = (),
) -> DataFrame:
    """Return the whole history of the keys in these events, and the checks' witnesses."""
    roles = Roles.of(spec, columns, narrow)
    dated = fold.with_effective_times(events, roles)
    spans = fold.versions(invariants.with_witnesses(dated, roles), spec, roles)
    return _rows(spans, spec, columns)


def version_rows_of_single_events(
    events: DataFrame, spec: VersionedTable, columns: Sequence[str]
) -> DataFrame:
    """Return the same of events that are the only ones of their keys."""
    seen = invariants.with_witnesses_of_single_events(events)
    return _rows(fold.versions_of_single_events(seen), spec, columns)


def _rows(spans: DataFrame, spec: VersionedTable, columns: Sequence[str]) -> DataFrame:
    """Return versions in the columns of the table, and the witnesses."""
    names = spec.history.columns
    gone = F.col(LogColumn.OP) == DELETE
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
        KEY,
        fold.FROM,
        (end_of_span == F.col(invariants.NEXT_DELETE)).alias(invariants.BY_DELETE),
        invariants.IS_LAST,
    )


def _surrogate_key(spec: VersionedTable) -> Column:
    """Return the version's own key; a number is filled in from where numbers are kept."""
    asked = spec.history.surrogate_key
    is_number = asked.kind is SurrogateKind.INCREASING
    key = F.lit(None) if is_number else surrogate_keys.hashed()
    return key.cast(surrogate_keys.SURROGATE_TYPES[asked.kind]).alias(asked.column)
