"""What checks measure of rows, and by which SQL: decision 061.

Counts, sums of whole numbers and decimals, and extremes are kept with each commit and
brought up to the next one by the rows that it changes; the rest is read from all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Callable, Dict, List, Mapping, Optional, Tuple, Union

from lake_spec.model import (
    AcceptedRange,
    Aggregate,
    Check,
    Drift,
    Expression,
    Freshness,
    NullShare,
    References,
    Unique,
)
from lake_spec.text.sql_text import sql_identifier

Value = Union[int, float, Decimal, None]

HOUR = 3_600 * 1_000_000
"""Microseconds of an hour."""


class How(str, Enum):
    """How the measure of a table follows from its rows."""

    SUM = "sum"
    """The sum of a value of each row: known after a commit from the rows it changes."""
    MAX = "max"
    MIN = "min"
    """The extreme of such a value: mostly known from them too."""
    AGGREGATE = "aggregate"
    """An aggregate of all rows."""
    REPEATED = "repeated"
    """Number of rows that repeat the values of other rows."""
    LOST = "lost"
    """Number of rows whose value another table does not have."""


@dataclass(frozen=True)
class Measure:
    """A number that is measured of rows.

    `sql` is the value of one row (SUM, MAX, MIN), an aggregate, or quoted columns.
    """

    how: How
    sql: str
    to: str = ""
    """The other table and its column, of values that it may lack."""

    @property
    def id(self) -> str:
        """Return what identifies it among the measures of a commit."""
        return f"{self.how.value}:{self.sql}{self.to and f':{self.to}'}"

    @property
    def is_kept(self) -> bool:
        """Return whether a commit keeps it for the next one."""
        return self.how in (How.SUM, How.MAX, How.MIN)


ROWS = Measure(How.SUM, "1L")

Values = Mapping[Measure, Value]


def measures_of(check: Check, kind: Callable[[str], str]) -> Tuple[Measure, ...]:
    """Return what a check needs to know; `kind` gives the type of a column of the rows."""
    if isinstance(check, Unique):
        names = ", ".join(map(sql_identifier, check.columns))
        return (Measure(How.REPEATED, names),)
    if isinstance(check, References):
        return (Measure(How.LOST, sql_identifier(check.column), check.to),)
    if isinstance(check, Freshness):
        return (_newest(check.column),)
    if isinstance(check, Expression):
        assert check.written is not None, f"{check.title}: build the release again"
        return (_count(f"NOT coalesce(({check.written}), true)"),)
    if isinstance(check, NullShare):
        return (ROWS, _count(f"{sql_identifier(check.column)} IS NULL"))
    if isinstance(check, (AcceptedRange, Drift)) and check.column is not None:
        assert check.aggregate is not None, f"{check.title} has no aggregate"
        return _of_aggregate(check.aggregate, check.column, kind(check.column))
    return (ROWS,)


def _count(condition: str) -> Measure:
    return Measure(How.SUM, f"CASE WHEN {condition} THEN 1L ELSE 0L END")


def _newest(column: str) -> Measure:
    time = f"CAST({sql_identifier(column)} AS timestamp)"
    return Measure(How.MAX, f"unix_micros({time})")


def _of_aggregate(aggregate: Aggregate, column: str, kind: str) -> Tuple[Measure, ...]:
    name = sql_identifier(column)
    if aggregate is Aggregate.COUNT_DISTINCT:
        return (Measure(How.AGGREGATE, f"count(DISTINCT {name})"),)
    exact = _exact(name, kind)
    if exact is None:  # sums of floats depend on their order
        number = f"CAST({name} AS double)"
        return (Measure(How.AGGREGATE, f"{aggregate.value}({number})"),)
    if aggregate in (Aggregate.MIN, Aggregate.MAX):
        return (Measure(How(aggregate.value), exact),)
    total = Measure(How.SUM, f"coalesce({exact}, 0)")
    return (total, _count(f"{name} IS NOT NULL"))


def _exact(name: str, kind: str) -> Optional[str]:
    """Return SQL of a column's value as a decimal; None if it has none that is exact."""
    if kind in ("tinyint", "smallint", "int", "bigint"):
        return f"CAST({name} AS decimal(38,0))"
    if kind.startswith("decimal("):
        scale = kind[len("decimal(") : -1].split(",")[1]
        return f"CAST({name} AS decimal(38,{scale}))"
    return None


def value_of(check: Check, found: List[Value], now: datetime) -> Value:
    """Return the number that a check compares, of the values of its measures."""
    if isinstance(check, Freshness):
        (newest,) = found
        age = None if newest is None else now.timestamp() * 1e6 - float(newest)
        return None if age is None else round(age / HOUR, 3)
    if isinstance(check, NullShare):
        rows, nulls = found
        return float(nulls or 0) / float(rows) if rows else 0.0
    if len(found) == 2:  # a sum, and how many values it has
        total, count = found
        if not count:
            return None
        is_sum = getattr(check, "aggregate") is Aggregate.SUM
        return float(total or 0) if is_sum else float(total or 0) / float(count)
    (value,) = found
    return float(value) if isinstance(value, Decimal) else value


def to_text(values: Values) -> Dict[str, Optional[str]]:
    """Return the measures that a commit keeps, by their ids."""
    return {
        each.id: None if value is None else str(value)
        for each, value in values.items()
        if each.is_kept
    }


def from_text(kept: Mapping[str, Optional[str]], measure: Measure) -> Value:
    """Return the value that a commit kept of a measure. Raises KeyError if it did not."""
    text = kept[measure.id]
    return None if text is None else Decimal(text)
