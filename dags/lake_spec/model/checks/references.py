"""The check `references`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, ClassVar, Optional, Sequence, Tuple

from lake_spec.model.checks.column_check import ColumnCheck
from lake_spec.model.checks.judgement import Judgement, at_most
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
from lake_spec.model.spec_field import setting
from lake_spec.text.sql_text import sql_identifier


@dataclass(frozen=True)
class References(ColumnCheck):
    """Each value of a column is one of a column of another table's current rows."""

    kind: ClassVar[str] = "references"
    counts_rows: ClassVar[bool] = True
    column: str = setting("Column; nulls are left out.", example="customer_id")
    to: str = setting(
        "Table of the same domain and its column; read at its newest commit.",
        example="customers.id",
    )
    name: Optional[str] = check_name()
    layer: CheckedLayer = checked_layer()
    severity: Severity = severity_of()
    every: Every = how_often()

    @property
    def subject(self) -> str:
        """Return it as in `references(a -> b.c)`."""
        return f"references({self.column} -> {self.to})"

    @property
    def other_table(self) -> str:
        """Return the table that has to be there, and is written first."""
        return self.to.partition(".")[0]

    @property
    def other_column(self) -> str:
        """The name of the other table's column."""
        return self.to.partition(".")[2]

    @property
    def needs(self) -> Optional[Needs]:
        """Return that values are compared."""
        return Needs.SINGLE

    def measures(self, kind: Callable[[str], str]) -> Tuple[Measure, ...]:
        """Count the rows whose value the other table lacks."""
        return (Measure(How.LOST, sql_identifier(self.column), self.to),)

    def judged(self, value: Value, earlier: Sequence[float]) -> Judgement:
        """Allow none."""
        return at_most(value, 0)

    def quality(self) -> Json:
        """Return it as text: the standard has no metric of two tables."""
        return {"type": "text", "dimension": "consistency"}
