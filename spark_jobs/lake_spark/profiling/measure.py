"""Measures the columns of rows: one pass for counts and limits, one for values and bins."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Callable, Dict, Iterator, List, Mapping, Optional, Tuple

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F

from lake_spec.model.column_type import ColumnType
from lake_spec.state.table_profile import BINS, ColumnProfile, LONGEST, TOP
from lake_spec.text.sql_text import sql_identifier
from lake_spark.schema.spark_types import typed_names

MOST_COUNTED = 10_000
"""Different values of a column up to which rows are counted by value."""

WIDTH = 100
"""Columns that one pass measures: of more, Spark's generated code would be too long."""

_NUMBERS: Dict[str, str] = {
    "date": "CAST(unix_date({}) AS double)",
    "timestamp": "CAST({} AS double)",
}
"""How values are placed between min and max, where they are no numbers themselves."""


@dataclass(frozen=True)
class _Measured:
    """A column after the first pass; `low` and `high` are numbers for its histogram."""

    profile: ColumnProfile
    kind: ColumnType
    low: Optional[float] = None
    high: Optional[float] = None


def measure(
    rows: DataFrame, may_show: Callable[[str], bool]
) -> Tuple[int, Tuple[ColumnProfile, ...]]:
    """Return the number of rows, and the profile of each column in their order.

    Args:
        rows: the rows; each pass reads them.
        may_show: whether values of a column may be in a profile; else only counts are.
    """
    count, found = 0, []
    for names in _parts(typed_names(rows.schema)):
        count, measured = _limits(rows, names, may_show)
        found += _with_values(rows, measured)
    return count, tuple(found)


def _parts(names: List[Tuple[str, ColumnType]]) -> Iterator[Dict[str, ColumnType]]:
    for first in range(0, len(names), WIDTH):
        yield dict(names[first : first + WIDTH])


def _limits(
    rows: DataFrame, names: Mapping[str, ColumnType], may_show: Callable[[str], bool]
) -> Tuple[int, List[_Measured]]:
    """Count rows, nulls and different values, and find least, greatest and lengths."""
    asked = ["count(*) AS n"]
    for i, (name, kind) in enumerate(names.items()):
        aggregates = _aggregates(sql_identifier(name), kind, may_show(name))
        asked += [f"{sql} AS {what}_{i}" for what, sql in aggregates.items()]
    (row,) = rows.selectExpr(*asked).collect()
    found = [
        _limit(row, i, name, kind, may_show(name))
        for i, (name, kind) in enumerate(names.items())
    ]
    return row.n, found


def _aggregates(column: str, kind: ColumnType, shows: bool) -> Dict[str, str]:
    found = {"known": f"count({column})"}
    if kind.is_nested:
        return found
    found["distinct"] = f"approx_count_distinct({column})"
    if not shows:
        return found
    if kind.name in ("string", "binary"):
        found["shortest"] = f"min(length({column}))"
        found["longest"] = f"max(length({column}))"
    if kind.name != "binary":
        for what in ("min", "max"):
            found[what] = f"left(CAST({what}({column}) AS string), {LONGEST})"
    number = _number(kind)
    if number:
        found["low"] = number.format(f"min({column})")
        found["high"] = number.format(f"max({column})")
    return found


def _number(kind: ColumnType) -> Optional[str]:
    return "CAST({} AS double)" if kind.is_numeric else _NUMBERS.get(kind.name)


def _limit(row: Row, i: int, name: str, kind: ColumnType, shows: bool) -> _Measured:
    values = row.asDict()
    known, distinct = values[f"known_{i}"], values.get(f"distinct_{i}")
    profile = ColumnProfile(
        name=name,
        type=kind.text,
        nulls=row.n - known,
        distinct=None if distinct is None else min(distinct, known),
        counts_only=not shows,
        min=values.get(f"min_{i}"),
        max=values.get(f"max_{i}"),
        min_length=values.get(f"shortest_{i}"),
        max_length=values.get(f"longest_{i}"),
    )
    return _Measured(profile, kind, values.get(f"low_{i}"), values.get(f"high_{i}"))


def _with_values(rows: DataFrame, measured: List[_Measured]) -> List[ColumnProfile]:
    """Add the values with the most rows, and the histograms, by one pass for all."""
    asked = []
    for i, each in enumerate(measured):
        column = sql_identifier(each.profile.name)
        if _has_top(each.profile):
            text = f"left(CAST({column} AS string), {LONGEST})"
            asked.append((i, "top", text))
        bin_ = _bin(each, column)
        if bin_:
            asked.append((i, "bin", bin_))
    if not asked:
        return [each.profile for each in measured]
    stacked = ", ".join(f"{i}, '{what}', {sql}" for i, what, sql in asked)
    counted = (
        rows.selectExpr(f"stack({len(asked)}, {stacked}) AS (i, what, value)")
        .where("value IS NOT NULL")
        .groupBy("i", "what", "value")
        .count()
    )
    by_rows = Window.partitionBy("i", "what").orderBy(F.desc("count"), "value")
    ranked = counted.withColumn("rank", F.row_number().over(by_rows))
    wanted = ranked.where(f"what = 'bin' OR (rank <= {TOP} AND count > 1)")
    tops: Dict[int, List[Tuple[str, int]]] = {}
    bins: Dict[int, List[int]] = {}
    for row in sorted(wanted.collect(), key=lambda row: row["rank"]):
        if row.what == "top":
            tops.setdefault(row.i, []).append((row.value, row["count"]))
        else:
            bins.setdefault(row.i, [0] * BINS)[int(row.value)] = row["count"]
    return [
        replace(
            each.profile,
            top=tuple(tops.get(i, ())),
            histogram=tuple(bins.get(i, ())),
        )
        for i, each in enumerate(measured)
    ]


def _has_top(profile: ColumnProfile) -> bool:
    few = profile.distinct is not None and 0 < profile.distinct <= MOST_COUNTED
    return few and not profile.counts_only and profile.type != "binary"


def _bin(of: _Measured, column: str) -> Optional[str]:
    """Return SQL of the number of a value's part between least and greatest value."""
    low, high, number = of.low, of.high, _number(of.kind)
    if number is None or low is None or high is None or not low < high:
        return None
    width = (high - low) / BINS
    if not (math.isfinite(width) and width > 0 and math.isfinite(low)):
        return None
    part = f"CAST(floor(({number.format(column)} - {low!r}D) / {width!r}D) AS int)"
    # `least` and `greatest` pass over nulls.
    within = f"greatest(0, least({BINS - 1}, {part}))"
    return f"IF({column} IS NULL, NULL, CAST({within} AS string))"
