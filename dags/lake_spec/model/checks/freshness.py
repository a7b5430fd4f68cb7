"""The check `freshness`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Callable, ClassVar, Optional, Sequence, Tuple

from lake_spec.model.checks.column_check import ColumnCheck
from lake_spec.model.checks.judgement import Judgement, judgement, number
from lake_spec.model.checks.measures import How, Measure, Value
from lake_spec.model.checks.table_check import (
    Json,
    Needs,
    check_name,
    checked_layer,
    how_often,
    severity_of,
)
from lake_spec.model.choices import CheckedLayer, Every, Severity
from lake_spec.model.limits import Limits
from lake_spec.model.spec_field import setting
from lake_spec.text.sql_text import sql_identifier

HOUR = 3_600 * 1_000_000
"""Microseconds of an hour."""


@dataclass(frozen=True)
class Freshness(ColumnCheck):
    """The newest value of a time is not too old, also where a run finds nothing new."""

    kind: ClassVar[str] = "freshness"
    changes_with_time: ClassVar[bool] = True
    column: str = setting("Column with a date or timestamp.", example="updated_at")
    hours: float = setting(
        "Largest age of its newest value, in hours.", example=26, limits=Limits(above=0)
    )
    name: Optional[str] = check_name()
    layer: CheckedLayer = checked_layer()
    severity: Severity = severity_of(Severity.WARN)
    every: Every = how_often()

    @property
    def shown_column(self) -> Optional[str]:
        """Return its column, whose newest value follows from the age."""
        return self.column

    @property
    def needs(self) -> Optional[Needs]:
        """Return that it is about times."""
        return Needs.TIME

    def measures(self, kind: Callable[[str], str]) -> Tuple[Measure, ...]:
        """Find the newest value."""
        time = f"CAST({sql_identifier(self.column)} AS timestamp)"
        return (Measure(How.MAX, f"unix_micros({time})"),)

    def value(self, found: Sequence[Value], now: datetime) -> Value:
        """Return its age in hours; None if no row has a value."""
        (newest,) = found
        age = None if newest is None else now.timestamp() * 1e6 - float(newest)
        return None if age is None else round(age / HOUR, 3)

    def judged(self, value: Value, earlier: Sequence[float]) -> Judgement:
        """Compare the age with the largest one; no value at all is too old."""
        is_within = value is not None and value <= self.hours
        return judgement(is_within, f"at most {number(self.hours)} hours old")

    def quality(self) -> Optional[Json]:
        """Return None: it is a service level."""
        return None

    def service_level(self, table: str) -> Optional[Json]:
        """Return the freshness of the rows of current."""
        if self.layer is not CheckedLayer.CURRENT:
            return None
        return {
            "property": "freshness",
            "value": self.hours,
            "unit": "h",
            "element": f"{table}.{self.column}",
            "driver": "operational",
            "description": f"Largest age of the newest {self.column}, in hours.",
        }
