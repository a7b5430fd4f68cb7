"""Checks of one column, and of an aggregate of one."""

from __future__ import annotations

from datetime import datetime
from typing import Callable, Optional, Sequence, Tuple

from lake_spec.diagnostics.diagnostic import Path
from lake_spec.model.checks.measures import (
    Measure,
    ROWS,
    Value,
    of_aggregate,
    value_of_aggregate,
)
from lake_spec.model.checks.table_check import Needs, TableCheck
from lake_spec.model.choices import Aggregate


class ColumnCheck(TableCheck):
    """A check of the values of one column."""

    column: str

    @property
    def subject(self) -> str:
        """Return it as in `null_share(a)`."""
        return f"{self.kind}({self.column})"

    @property
    def column_places(self) -> Tuple[Tuple[Path, str], ...]:
        """Return its column."""
        return ((("column",), self.column),)


class AggregateCheck(TableCheck):
    """A check of an aggregate of a column; where there is none, of the number of rows."""

    column: Optional[str]
    aggregate: Optional[Aggregate]

    @property
    def subject(self) -> str:
        """Return it as in `drift(avg(a))`."""
        if self.column is None or self.aggregate is None:
            return f"{self.kind}(row_count)"
        return f"{self.kind}({self.aggregate.value}({self.column}))"

    @property
    def column_places(self) -> Tuple[Tuple[Path, str], ...]:
        """Return its column, if it has one."""
        return () if self.column is None else ((("column",), self.column),)

    @property
    def shown_column(self) -> Optional[str]:
        """Return its column; None where its values are only counted."""
        is_count = self.aggregate is Aggregate.COUNT_DISTINCT
        return None if is_count else self.column

    @property
    def shows_one_value(self) -> bool:
        """Return whether its number is the value of one row."""
        return self.aggregate in (Aggregate.MIN, Aggregate.MAX)

    @property
    def needs(self) -> Optional[Needs]:
        """Return numbers, or what can be counted."""
        is_count = self.aggregate is Aggregate.COUNT_DISTINCT
        return Needs.SINGLE if is_count else Needs.NUMBER

    @property
    def operation(self) -> str:
        """Return the aggregate."""
        return self.kind if self.aggregate is None else f"{self.aggregate.value} of it"

    def measures(self, kind: Callable[[str], str]) -> Tuple[Measure, ...]:
        """Measure the aggregate, or count the rows."""
        if self.column is None:
            return (ROWS,)
        assert self.aggregate is not None, f"{self.title} has no aggregate"
        return of_aggregate(self.aggregate, self.column, kind(self.column))

    def value(self, found: Sequence[Value], now: datetime) -> Value:
        """Return the aggregate; None if no row has a value."""
        return value_of_aggregate(self.aggregate, found)
