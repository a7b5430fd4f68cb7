"""The rows of a layer as they will be after a commit, and one query that measures them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property, reduce
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lake_spec.model.checks.measures import How, Measure, Value, Values
from lake_spark.checks.kept_measures import from_text
from lake_spark.scd2.current import not_deleted
from lake_spark.scd2.derived_table import CHANGED, INSERTED, REMOVED
from lake_spark.scd2.events import KEY
from lake_spark.storage.hudi_table import without_hudi_columns

OLD = "lake_old"
"""Column of the difference between rows and a table: the stored row that differs."""

_SIGN = "lake_sign"

Others = Callable[[str], DataFrame]
"""Gives the values of `table.column`, as the column `lake_value`."""


@dataclass(frozen=True)
class CheckedRows:
    """Rows around a commit: those after it, and those that it adds and removes.

    `read` gives all rows after it. `added` and `removed` are None where the commit writes
    all rows. Where both are absent and `is_unchanged`, there is no commit.
    """

    read: Callable[[], DataFrame]
    added: Optional[DataFrame] = None
    removed: Optional[DataFrame] = None
    is_unchanged: bool = False

    @cached_property
    def after(self) -> DataFrame:
        """Return all rows after the commit; to begin to read a table takes time."""
        return self.read()

    def kind(self, column: str) -> str:
        """Return the type of a column."""
        return dict((self.after if self.added is None else self.added).dtypes)[column]


def of_changes(
    changes: DataFrame, stored: Optional[Callable[[], DataFrame]], mark: str
) -> CheckedRows:
    """Return the rows around a commit of changes, each with its `lake_action`.

    Args:
        changes: All rows of the changed keys, with `lake_old` where it is compared.
        stored: The table's rows; None if the changes are all rows.
        mark: The column that marks rows as deleted, which may not be there.
    """
    new = not_deleted(changes.where(F.col("lake_action") != REMOVED), mark)
    if stored is None:
        return CheckedRows(lambda: new)
    added = changes.where(F.col("lake_action").isin(INSERTED, CHANGED))
    removed = changes.where(F.col("lake_action").isin(CHANGED, REMOVED))
    return CheckedRows(
        lambda: _replaced(stored(), changes, new, mark),
        not_deleted(added, mark),
        not_deleted(removed.select(f"{OLD}.*"), mark),
    )


def _replaced(
    stored: DataFrame, changes: DataFrame, new: DataFrame, mark: str
) -> DataFrame:
    keys = changes.select(KEY).distinct()
    rest = not_deleted(stored, mark).join(keys, KEY, "left_anti")
    return without_hudi_columns(rest).unionByName(new, allowMissingColumns=True)


def measured(
    rows: CheckedRows,
    wanted: Sequence[Measure],
    kept: Mapping[str, Optional[str]],
    others: Others,
) -> Values:
    """Measure rows by one query.

    Args:
        rows: The rows around a commit.
        wanted: What to measure.
        kept: The measures of the commit before, by their ids.
        others: The columns of other tables.
    """
    can_move = rows.added is not None or rows.is_unchanged
    known = [each for each in wanted if each.id in kept and can_move]
    before = {each: from_text(kept, each) for each in known}
    moved = [] if rows.is_unchanged else known
    rest = [each for each in wanted if each not in before]
    found = _first(rows, moved, rest, others)
    values: Dict[Measure, Value] = {**before, **{m: found[m.id] for m in rest}}
    again = []
    for each in moved:
        value = _moved(each, before[each], found)
        if value is _Unknown.UNKNOWN:
            again.append(each)
        else:
            values[each] = value
    if again:
        found = _first(rows, [], again, others)
        values.update({each: found[each.id] for each in again})
    return values


class _Unknown(Enum):
    """What a kept measure is after a commit that removed the row which it was of."""

    UNKNOWN = "unknown"


def _moved(
    measure: Measure, before: Value, found: Mapping[str, Any]
) -> Union[Value, _Unknown]:
    """Return a kept measure after the commit; UNKNOWN if all rows must be read."""
    new: Any = found[f"+{measure.id}"]
    old: Any = found[f"-{measure.id}"]
    if measure.how is How.SUM:
        total: Value = (before or 0) + (new or 0) - (old or 0)
        return total
    better = max if measure.how is How.MAX else min
    if new is not None and (before is None or better(new, before) == new):
        extreme: Value = new
        return extreme
    if before is not None and old is not None and better(old, before) == old:
        return _Unknown.UNKNOWN  # the row that had the extreme is gone
    return before


def _first(
    rows: CheckedRows,
    moved: Sequence[Measure],
    all_of: Sequence[Measure],
    others: Others,
) -> Mapping[str, Any]:
    """Run one query; return what it finds by the ids of measures."""
    frames = _frames(rows, moved, all_of, others)
    if not frames:
        return {}
    row = reduce(DataFrame.crossJoin, frames).first()
    assert row is not None, "aggregates of all rows are one row"
    return row.asDict()


def _frames(
    rows: CheckedRows,
    moved: Sequence[Measure],
    all_of: Sequence[Measure],
    others: Others,
) -> List[DataFrame]:
    """Return what is to be found, a row each.

    A query is of the session of its first rows. So those of the table are first: the
    changes may be of the session for few rows, which compiles nothing.
    """
    frames = []
    plain = [each for each in all_of if each.how not in (How.REPEATED, How.LOST)]
    if plain:
        columns = [F.expr(_aggregate(each)).alias(each.id) for each in plain]
        frames.append(rows.after.agg(*columns))
    for each in all_of:
        if each.how is How.REPEATED:
            frames.append(_repeated(rows.after, each))
        elif each.how is How.LOST:
            frames.append(_lost(rows.after, each, others(each.to)))
    return frames + ([_changes(rows, moved)] if moved else [])


def _aggregate(measure: Measure) -> str:
    if measure.how is How.AGGREGATE:
        return measure.sql
    if measure.how is How.SUM:
        return f"coalesce(sum({measure.sql}), 0)"
    return f"{measure.how.value}({measure.sql})"


def _changes(rows: CheckedRows, measures: Sequence[Measure]) -> DataFrame:
    """Return each measure of the added rows (`+`) and of the removed ones (`-`)."""
    assert rows.added is not None and rows.removed is not None
    sides = [
        side.selectExpr(
            f"{sign} AS {_SIGN}",
            *(f"{each.sql} AS `{place}`" for place, each in enumerate(measures)),
        )
        for sign, side in ((1, rows.added), (-1, rows.removed))
    ]
    columns = [
        F.expr(
            f"{each.how.value}(CASE WHEN {_SIGN} = {sign} THEN `{place}` END)"
        ).alias(f"{name}{each.id}")
        for place, each in enumerate(measures)
        for name, sign in (("+", 1), ("-", -1))
    ]
    return sides[0].union(sides[1]).agg(*columns)


def _repeated(rows: DataFrame, measure: Measure) -> DataFrame:
    """Count rows beyond the first with the same values; nulls are no values."""
    values = rows.selectExpr(f"struct({measure.sql}) AS v")
    kind = values.schema["v"].dataType
    assert isinstance(kind, StructType), kind
    fields = [F.col(f"v.`{name}`") for name in kind.names]
    values = values.where(reduce(lambda a, b: a & b, [f.isNotNull() for f in fields]))
    copies = values.groupBy("v").count()
    return copies.agg(F.coalesce(F.sum(F.col("count") - 1), F.lit(0)).alias(measure.id))


def _lost(rows: DataFrame, measure: Measure, others: DataFrame) -> DataFrame:
    """Count rows whose value the other table does not have."""
    values = rows.selectExpr(f"{measure.sql} AS lake_value").where(
        "lake_value IS NOT NULL"
    )
    lost = values.join(others.distinct(), "lake_value", "left_anti")
    return lost.agg(F.count("*").alias(measure.id))
