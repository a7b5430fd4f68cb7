"""The check `expression`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, ClassVar, Optional, Sequence, Tuple

from lake_spec.model.checks.judgement import Judgement, at_most
from lake_spec.model.checks.measures import Measure, Value, count_of
from lake_spec.model.checks.table_check import (
    Json,
    TableCheck,
    check_name,
    checked_layer,
    how_often,
    severity_of,
)
from lake_spec.model.choices import CheckedLayer, Every, Severity
from lake_spec.model.spec_field import setting


@dataclass(frozen=True)
class Expression(TableCheck):
    """A condition over the columns of one row is false for no row; null passes."""

    kind: ClassVar[str] = "expression"
    counts_rows: ClassVar[bool] = True
    reads_all_columns: ClassVar[bool] = True
    sql: str = setting(
        "Condition in Spark SQL, without subqueries and aggregates.",
        example="shipped_at >= ordered_at",
    )
    name: Optional[str] = check_name()
    layer: CheckedLayer = checked_layer()
    severity: Severity = severity_of()
    every: Every = how_often()
    written: Optional[str] = setting(
        "The condition as Spark gets it, in a release.", None, given="release"
    )

    @property
    def subject(self) -> str:
        """Return it as in `expression(a > b)`."""
        return f"expression({self.sql})"

    def measures(self, kind: Callable[[str], str]) -> Tuple[Measure, ...]:
        """Count the rows of which the condition is false."""
        assert self.written is not None, f"{self.title}: build the release again"
        return (count_of(f"NOT coalesce(({self.written}), true)"),)

    def judged(self, value: Value, earlier: Sequence[float]) -> Judgement:
        """Allow none."""
        return at_most(value, 0)

    def quality(self) -> Json:
        """Return a query that counts these rows."""
        query = f"SELECT COUNT(*) FROM ${{object}} WHERE NOT ({self.sql})"
        return {"type": "sql", "query": query, "dimension": "consistency", "mustBe": 0}
