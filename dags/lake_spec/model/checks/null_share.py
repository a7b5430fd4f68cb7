"""The check `null_share`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Callable, ClassVar, Optional, Sequence, Tuple

from lake_spec.model.checks.column_check import ColumnCheck
from lake_spec.model.checks.judgement import Judgement, at_most
from lake_spec.model.checks.measures import Measure, ROWS, Value, count_of
from lake_spec.model.checks.table_check import (
    Json,
    check_name,
    checked_layer,
    how_often,
    severity_of,
)
from lake_spec.model.choices import CheckedLayer, Every, Severity
from lake_spec.model.limits import SHARE
from lake_spec.model.spec_field import setting
from lake_spec.text.sql_text import sql_identifier


@dataclass(frozen=True)
class NullShare(ColumnCheck):
    """At most this share of the rows has no value in a column."""

    kind: ClassVar[str] = "null_share"
    column: str = setting("Column.", example="email")
    at_most: float = setting("Largest share.", example=0.05, limits=SHARE)
    name: Optional[str] = check_name()
    layer: CheckedLayer = checked_layer()
    severity: Severity = severity_of()
    every: Every = how_often()

    def measures(self, kind: Callable[[str], str]) -> Tuple[Measure, ...]:
        """Count the rows, and those without a value."""
        return (ROWS, count_of(f"{sql_identifier(self.column)} IS NULL"))

    def value(self, found: Sequence[Value], now: datetime) -> Value:
        """Return the share of nulls; 0 where there is no row."""
        rows, nulls = found
        return float(nulls or 0) / float(rows) if rows else 0.0

    def judged(self, value: Value, earlier: Sequence[float]) -> Judgement:
        """Compare the share with the largest one."""
        return at_most(value, self.at_most)

    def quality(self) -> Json:
        """Return the metric of nulls, in percent."""
        arguments = {"properties": [self.column]}
        metric: Json = {"metric": "nullValues", "dimension": "completeness"}
        most = round(100 * self.at_most, 9)
        limit = {"unit": "percent", "mustBeLessOrEqualTo": most}
        return {**metric, "arguments": arguments, **limit}
