"""The check `drift`."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean, pstdev
from typing import ClassVar, Iterator, Optional, Sequence, Tuple

from lake_spec.diagnostics.diagnostic import Problem
from lake_spec.model.checks.column_check import AggregateCheck
from lake_spec.model.checks.judgement import Judgement, SKIPPED, judgement, number
from lake_spec.model.checks.measures import Value
from lake_spec.model.checks.table_check import (
    check_name,
    checked_layer,
    how_often,
    severity_of,
)
from lake_spec.model.choices import Aggregate, CheckedLayer, Every, Severity
from lake_spec.model.limits import Limits
from lake_spec.model.spec_field import setting

FEW_RUNS = 5
"""Number of earlier runs with which drift is compared."""


@dataclass(frozen=True)
class Drift(AggregateCheck):
    """The number of rows, or an aggregate of a column, is near that of earlier runs."""

    kind: ClassVar[str] = "drift"
    compares_commits: ClassVar[bool] = True
    column: Optional[str] = setting(
        "Column; if left out, the number of rows is compared.", None, example="amount"
    )
    aggregate: Optional[Aggregate] = setting(
        "Aggregate of its values.", None, example="avg"
    )
    share: Optional[float] = setting(
        "Largest distance from the mean of the earlier runs, as a share of it.",
        None,
        example=0.3,
        limits=Limits(above=0),
    )
    sigma: Optional[float] = setting(
        "The same in standard deviations of the earlier runs.",
        None,
        example=4,
        limits=Limits(above=0),
    )
    runs: int = setting(
        "Number of earlier runs with a commit; with fewer than five (or than this, if it "
        "is less) nothing is compared.",
        14,
        limits=Limits(2, 100),
    )
    name: Optional[str] = check_name()
    layer: CheckedLayer = checked_layer()
    severity: Severity = severity_of(Severity.WARN)
    every: Every = how_often()

    def problems(self) -> Iterator[Problem]:
        """Refuse it with two limits or none, and a column without an aggregate."""
        if (self.share is None) == (self.sigma is None):
            lacks = self.share is None
            has = "neither share nor sigma" if lacks else "share and sigma"
            hint = "Write one of the two: share: 0.3, or sigma: 4."
            yield Problem((), None, f"drift has {has}", hint)
        if (self.column is None) != (self.aggregate is None):
            both = ("column", "aggregate")
            has, lacking = both if self.column else both[::-1]
            hint = "Write both, or neither for the number of rows."
            yield Problem((), None, f"drift has {has} and no {lacking}", hint)

    def judged(self, value: Value, earlier: Sequence[float]) -> Judgement:
        """Compare it with the mean of the earlier ones, once there are enough."""
        earlier = earlier[-self.runs :]
        needed = min(self.runs, FEW_RUNS)
        if value is None or len(earlier) < needed:
            words = f"compared after {needed} commits, {len(earlier)} so far"
            return Judgement(SKIPPED, words)
        middle = mean(earlier)
        most, words = self._distance(middle, earlier)
        of = f"{number(middle)}, the mean of {len(earlier)} commits"
        is_within = abs(float(value) - middle) <= most
        return judgement(is_within, f"within {words} of {of}")

    def _distance(self, middle: float, earlier: Sequence[float]) -> Tuple[float, str]:
        """Return the largest distance from the mean, and that in words."""
        if self.share is not None:
            return self.share * abs(middle), f"{number(self.share * 100)}%"
        sigma = self.sigma or 0
        words = f"{number(sigma)} standard deviations"
        # Numbers never repeat to the last digit: equal ones would allow no change at all.
        return max(sigma * pstdev(earlier), 1e-9 * abs(middle)), words
