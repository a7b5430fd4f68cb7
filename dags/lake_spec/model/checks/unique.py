"""The check `unique`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, ClassVar, Iterator, Optional, Sequence, Tuple

from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.model.checks.judgement import Judgement, at_most
from lake_spec.model.checks.measures import How, Measure, Value
from lake_spec.model.checks.table_check import (
    Json,
    Needs,
    TableCheck,
    check_name,
    checked_layer,
    how_often,
    severity_of,
)
from lake_spec.model.choices import CheckedLayer, Every, Severity
from lake_spec.model.spec_field import setting
from lake_spec.text.sql_text import sql_identifier


@dataclass(frozen=True)
class Unique(TableCheck):
    """No two rows have the same values in these columns; rows with a null are left out."""

    kind: ClassVar[str] = "unique"
    counts_rows: ClassVar[bool] = True
    columns: Tuple[str, ...] = setting("Columns.", example=["email"])
    name: Optional[str] = check_name()
    layer: CheckedLayer = checked_layer()
    severity: Severity = severity_of()
    every: Every = how_often()

    @property
    def subject(self) -> str:
        """Return it as in `unique(a, b)`."""
        return f"unique({', '.join(self.columns)})"

    @property
    def column_places(self) -> Tuple[Tuple[Path, str], ...]:
        """Return its list of columns."""
        return tuple(
            (("columns", place), each) for place, each in enumerate(self.columns)
        )

    @property
    def needs(self) -> Optional[Needs]:
        """Return that values are compared."""
        return Needs.SINGLE

    def problems(self) -> Iterator[Problem]:
        """Refuse an empty list."""
        if not self.columns:
            yield got(("columns",), [], "Name the columns that are unique.")

    def measures(self, kind: Callable[[str], str]) -> Tuple[Measure, ...]:
        """Count the rows that repeat others."""
        return (Measure(How.REPEATED, ", ".join(map(sql_identifier, self.columns))),)

    def judged(self, value: Value, earlier: Sequence[float]) -> Judgement:
        """Allow none."""
        return at_most(value, 0)

    def quality(self) -> Json:
        """Return the metric of duplicates."""
        arguments = {"properties": list(self.columns)}
        metric: Json = {"metric": "duplicateValues", "dimension": "uniqueness"}
        return {**metric, "arguments": arguments, "mustBe": 0}
