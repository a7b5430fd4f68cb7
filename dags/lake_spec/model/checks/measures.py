"""What checks measure of rows, and by which SQL: decision 061.

Counts, sums of whole numbers and decimals, and extremes are kept with each commit and
brought up to the next one by the rows that it changes; the rest is read from all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Mapping, Optional, Sequence, Tuple, Union

from lake_spec.model.choices import Aggregate
from lake_spec.text.sql_text import sql_identifier

Value = Union[int, float, Decimal, None]


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


def count_of(condition: str) -> Measure:
    """Return the number of rows of which a condition is true."""
    return Measure(How.SUM, f"CASE WHEN {condition} THEN 1L ELSE 0L END")


def of_aggregate(aggregate: Aggregate, column: str, kind: str) -> Tuple[Measure, ...]:
    """Return the measures of an aggregate of a column of that type.

    Of sums and means of exact numbers they are two: the sum, and how many values it has.
    """
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
    return (total, count_of(f"{name} IS NOT NULL"))


def _exact(name: str, kind: str) -> Optional[str]:
    """Return SQL of a column's value as a decimal; None if it has none that is exact."""
    if kind in ("tinyint", "smallint", "int", "bigint"):
        return f"CAST({name} AS decimal(38,0))"
    if kind.startswith("decimal("):
        scale = kind[len("decimal(") : -1].split(",")[1]
        return f"CAST({name} AS decimal(38,{scale}))"
    return None


def value_of_aggregate(aggregate: Optional[Aggregate], found: Sequence[Value]) -> Value:
    """Return an aggregate of the values of its measures; None if no row has a value."""
    if len(found) == 1:
        return one_value(found)
    total, count = found
    if not count:
        return None
    is_sum = aggregate is Aggregate.SUM
    return float(total or 0) if is_sum else float(total or 0) / float(count)


def one_value(found: Sequence[Value]) -> Value:
    """Return the value of the only measure."""
    (value,) = found
    return float(value) if isinstance(value, Decimal) else value
