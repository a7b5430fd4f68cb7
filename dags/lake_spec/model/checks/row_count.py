"""The check `row_count`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, ClassVar, Iterator, Optional, Sequence, Tuple

from lake_spec.diagnostics.diagnostic import Problem
from lake_spec.model.checks.judgement import (
    Judgement,
    SKIPPED,
    are_within,
    judgement,
    limits_in_words,
    number,
)
from lake_spec.model.checks.limits import limit_problems, limits_of_contract
from lake_spec.model.checks.measures import Measure, ROWS, Value
from lake_spec.model.checks.table_check import (
    Json,
    TableCheck,
    check_name,
    checked_layer,
    how_often,
    severity_of,
)
from lake_spec.model.choices import CheckedLayer, Every, Severity
from lake_spec.model.limits import Limits
from lake_spec.model.spec_field import setting


@dataclass(frozen=True)
class RowCount(TableCheck):
    """The number of rows is within limits, or near that of the previous run."""

    kind: ClassVar[str] = "row_count"
    compares_commits: ClassVar[bool] = True
    at_least: Optional[int] = setting(
        "Smallest number of rows.", None, limits=Limits(0)
    )
    at_most: Optional[int] = setting("Largest number of rows.", None, limits=Limits(0))
    change: Optional[float] = setting(
        "Largest change since the previous commit, as a share of it: 0.2 is 20 percent.",
        None,
        example=0.2,
        limits=Limits(above=0),
    )
    name: Optional[str] = check_name()
    layer: CheckedLayer = checked_layer()
    severity: Severity = severity_of()
    every: Every = how_often()

    @property
    def subject(self) -> str:
        """Return its kind."""
        return self.kind

    def problems(self) -> Iterator[Problem]:
        """Refuse it without a limit, or with limits that cross."""
        is_limited = self.change is not None
        limits = (self.at_least, self.at_most)
        yield from limit_problems(
            self.kind, *limits, "change", is_limited_otherwise=is_limited
        )

    def measures(self, kind: Callable[[str], str]) -> Tuple[Measure, ...]:
        """Count all rows."""
        return (ROWS,)

    def judged(self, value: Value, earlier: Sequence[float]) -> Judgement:
        """Compare the number with the limits, and with that of the commit before."""
        words = limits_in_words(self.at_least, self.at_most)
        is_within = are_within(value, self.at_least, self.at_most)
        if self.change is not None:
            share = f"within {number(self.change * 100)}% of "
            words.append(
                share + (number(earlier[-1]) if earlier else "the previous commit")
            )
            for before in earlier[-1:]:
                distance = abs(float(value or 0) - before)
                is_within = is_within and distance <= self.change * abs(before)
        if value is None:
            return Judgement(SKIPPED, ", ".join(words))
        return judgement(is_within, ", ".join(words))

    def quality(self) -> Json:
        """Return the metric of rows; as text what compares commits."""
        if self.change is not None:
            return {"type": "text", "dimension": "accuracy"}
        limits = limits_of_contract(self.at_least, self.at_most)
        return {"metric": "rowCount", "dimension": "completeness", **limits}
