"""The check `accepted_range`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Callable, ClassVar, Iterator, Optional, Sequence, Tuple

from lake_spec.diagnostics.diagnostic import Path, Problem
from lake_spec.model.checks.judgement import (
    Judgement,
    SKIPPED,
    are_within,
    judgement,
    limits_in_words,
)
from lake_spec.model.checks.limits import limit_problems, limits_of_contract
from lake_spec.model.checks.measures import (
    Measure,
    Value,
    of_aggregate,
    value_of_aggregate,
)
from lake_spec.model.checks.table_check import (
    Json,
    Needs,
    TableCheck,
    check_name,
    checked_layer,
    how_often,
    severity_of,
)
from lake_spec.model.choices import Aggregate, CheckedLayer, Every, Severity
from lake_spec.model.spec_field import setting
from lake_spec.text.sql_text import sql_identifier


@dataclass(frozen=True)
class AcceptedRange(TableCheck):
    """An aggregate of a column is within limits."""

    kind: ClassVar[str] = "accepted_range"
    column: str = setting("Column.", example="amount")
    aggregate: Aggregate = setting("Aggregate of its values.", example="avg")
    at_least: Optional[float] = setting("Smallest result.", None)
    at_most: Optional[float] = setting("Largest result.", None)
    name: Optional[str] = check_name()
    layer: CheckedLayer = checked_layer()
    severity: Severity = severity_of()
    every: Every = how_often()

    @property
    def subject(self) -> str:
        """Return it as in `accepted_range(avg(a))`."""
        return f"accepted_range({self.aggregate.value}({self.column}))"

    @property
    def column_places(self) -> Tuple[Tuple[Path, str], ...]:
        """Return its column."""
        return ((("column",), self.column),)

    @property
    def shown_column(self) -> Optional[str]:
        """Return its column; None where its values are only counted."""
        is_count = self.aggregate is Aggregate.COUNT_DISTINCT
        return None if is_count else self.column

    @property
    def needs(self) -> Optional[Needs]:
        """Return numbers, or what can be counted."""
        is_count = self.aggregate is Aggregate.COUNT_DISTINCT
        return Needs.SINGLE if is_count else Needs.NUMBER

    @property
    def operation(self) -> str:
        """Return the aggregate."""
        return f"{self.aggregate.value} of it"

    def problems(self) -> Iterator[Problem]:
        """Refuse it without a limit, or with limits that cross."""
        return limit_problems(self.kind, self.at_least, self.at_most)

    def measures(self, kind: Callable[[str], str]) -> Tuple[Measure, ...]:
        """Measure the aggregate."""
        return of_aggregate(self.aggregate, self.column, kind(self.column))

    def value(self, found: Sequence[Value], now: datetime) -> Value:
        """Return the aggregate; None if no row has a value."""
        return value_of_aggregate(self.aggregate, found)

    def judged(self, value: Value, earlier: Sequence[float]) -> Judgement:
        """Compare it with the limits; where no row has a value it is skipped."""
        bounds = ", ".join(limits_in_words(self.at_least, self.at_most))
        if value is None:
            return Judgement(SKIPPED, bounds)
        return judgement(are_within(value, self.at_least, self.at_most), bounds)

    def quality(self) -> Json:
        """Return a query of the aggregate."""
        column = sql_identifier(self.column)
        is_count = self.aggregate is Aggregate.COUNT_DISTINCT
        name = self.aggregate.value.upper()
        result = f"COUNT(DISTINCT {column})" if is_count else f"{name}({column})"
        query = f"SELECT {result} FROM ${{object}}"
        limits = limits_of_contract(self.at_least, self.at_most)
        return {"type": "sql", "query": query, "dimension": "conformity", **limits}
