"""The check `accepted_range`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Iterator, Optional, Sequence

from lake_spec.diagnostics.diagnostic import Problem
from lake_spec.model.checks.column_check import AggregateCheck
from lake_spec.model.checks.judgement import (
    Judgement,
    SKIPPED,
    are_within,
    judgement,
    limits_in_words,
)
from lake_spec.model.checks.limits import limit_problems, limits_of_contract
from lake_spec.model.checks.measures import Value
from lake_spec.model.checks.table_check import (
    Json,
    check_name,
    checked_layer,
    how_often,
    severity_of,
)
from lake_spec.model.choices import Aggregate, CheckedLayer, Every, Severity
from lake_spec.model.spec_field import setting
from lake_spec.text.sql_text import sql_identifier


@dataclass(frozen=True)
class AcceptedRange(AggregateCheck):
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

    def problems(self) -> Iterator[Problem]:
        """Refuse it without a limit, or with limits that cross."""
        return limit_problems(self.kind, self.at_least, self.at_most)

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
