"""The two tables of a dimension: their histories as they are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import List, Mapping, Optional, Sequence, Tuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lake_spec.model import DimensionTable, Side, VersionedTable
from lake_spec.model.shown_columns import shown_columns
from lake_spark.errors import DimensionMismatch
from lake_spark.scd2 import fold
from lake_spark.scd2.events import KEY, tracked_columns
from lake_spark.schema.promotion import canonical_type
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.hudi_table import without_hudi_columns
from lake_spark.tables.table_run import VersionedRun


@dataclass(frozen=True)
class SideRows:
    """One of the two tables; `shown` are pairs of its name and the dimension's."""

    run: VersionedRun
    rows: DataFrame
    shown: Sequence[Tuple[str, str]]
    log_instant: Optional[str]

    @property
    def spec(self) -> VersionedTable:
        """Return the table's own spec."""
        return self.run.spec

    @property
    def untracked(self) -> List[str]:
        """List shown columns whose change opens no version in the table's own history."""
        tracked = tracked_columns(self.spec, [name for name, _ in self.shown])
        return [shown for name, shown in self.shown if name not in tracked]


def side_rows(run: VersionedRun, side: Side, key: Mapping[str, str]) -> SideRows:
    """Return a table of the dimension.

    `key` is its key with the types of the main table.
    """
    # The instant first: rows of a later commit are then touched once more.
    log_instant = run.history.last_value(CommitValue.LOG_INSTANT)
    rows = _versions(run) if log_instant else _no_versions(run, key)
    added = _added(run.spec)
    known = [name for name in rows.columns if name not in added]
    shown = shown_columns(side, known, tuple(key))
    missing = [name for name, _ in shown if name not in known]
    if missing:
        raise DimensionMismatch(
            f"{run.spec.full_name} has no column {missing[0]!r}; its history has "
            f"{', '.join(known)}. Correct the columns in the dimension's spec."
        )
    return SideRows(run, rows, shown, log_instant)


def _versions(run: VersionedRun) -> DataFrame:
    return without_hudi_columns(run.history.read())


def _no_versions(run: VersionedRun, key: Mapping[str, str]) -> DataFrame:
    """Return the history of a table that was not loaded yet."""
    names = run.spec.history.columns
    times = [(name, "timestamp") for name in (names.valid_from, names.valid_to)]
    flags = [(name, "boolean") for name in (names.is_current, names.is_deleted)]
    declared = {name: canonical_type(column.type) for name, column in run.spec.columns}
    values = {**declared, **key}.items()
    columns = [*values, *times, *flags, (KEY, "string"), (fold.FROM, "bigint")]
    nothing = [F.lit(None).cast(kind).alias(name) for name, kind in columns]
    return run.spark.range(0).select(*nothing)


def _added(spec: VersionedTable) -> List[str]:
    """List the columns of a history that are not the table's own."""
    names = spec.history.columns
    times = [names.valid_from, names.valid_to, names.is_current, names.is_deleted]
    return [*times, spec.history.surrogate_key.column, KEY, fold.FROM]


def require_a_join(spec: DimensionTable, main: SideRows, joined: SideRows) -> None:
    """Refuse what `validate` cannot see where a table does not declare its columns."""
    ours, theirs = dict(main.rows.dtypes), dict(joined.rows.dtypes)
    for name in spec.key:
        if ours[name] != theirs[name]:
            raise DimensionMismatch(
                f"key column {name!r} is {ours[name]} in {main.spec.full_name} and "
                f"{theirs[name]} in {joined.spec.full_name}. Give both the same type."
            )
    shown = [name for part in (main, joined) for _, name in part.shown]
    taken = Counter(name.lower() for name in (*spec.key, *_added(spec), *shown))
    for name in shown:
        if taken[name.lower()] > 1:
            raise DimensionMismatch(
                f"{spec.full_name} would have two columns {name!r}. Give one of them "
                "another name by `rename`, or list the columns to show in `columns`."
            )
