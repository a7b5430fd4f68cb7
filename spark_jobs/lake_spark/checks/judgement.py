"""Whether the number of a check is within its limits: without Spark."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean, pstdev
from typing import List, Optional, Sequence, Tuple, Union

from lake_spec.model import (
    AcceptedRange,
    Check,
    Drift,
    Expression,
    Freshness,
    NullShare,
    References,
    RowCount,
    Unique,
)
from lake_spark.checks.measures import Value

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"

FEW_RUNS = 5
"""Number of earlier runs with which drift is compared."""


@dataclass(frozen=True)
class Judgement:
    """The result of a check, and its limits in words."""

    result: str
    bounds: str


def judge(check: Check, value: Value, earlier: Sequence[float]) -> Judgement:
    """Compare a number with the limits of its check.

    Args:
        check: The check.
        value: Its number; None if no row has a value.
        earlier: The numbers of the same check in earlier commits, oldest first.
    """
    if isinstance(check, Freshness):
        within = value is not None and value <= check.hours
        return _judgement(within, f"at most {_number(check.hours)} hours old")
    if isinstance(check, Drift):
        return _drift(check, value, earlier[-check.runs :])
    if isinstance(check, (RowCount, AcceptedRange)):
        return _limits(check, value, earlier)
    most = check.at_most if isinstance(check, NullShare) else 0
    return _judgement((value or 0) <= most, f"at most {_number(most)}")


def _judgement(within: bool, bounds: str) -> Judgement:
    return Judgement(PASSED if within else FAILED, bounds)


def _limits(
    check: Union[RowCount, AcceptedRange], value: Value, earlier: Sequence[float]
) -> Judgement:
    low: Optional[float] = check.at_least
    high: Optional[float] = check.at_most
    words: List[str] = []
    words += [] if low is None else [f"at least {_number(low)}"]
    words += [] if high is None else [f"at most {_number(high)}"]
    within = value is None or (
        (low is None or value >= low) and (high is None or value <= high)
    )
    change = getattr(check, "change", None)
    if change is not None and earlier:
        before = earlier[-1]
        words.append(f"within {_number(change * 100)}% of {_number(before)}")
        within = within and value is not None
        within = within and abs(float(value or 0) - before) <= change * abs(before)
    elif change is not None:
        words.append(f"within {_number(change * 100)}% of the previous commit")
    if value is None:
        return Judgement(SKIPPED, ", ".join(words))
    return _judgement(within, ", ".join(words))


def _drift(check: Drift, value: Value, earlier: Sequence[float]) -> Judgement:
    needed = min(check.runs, FEW_RUNS)
    if value is None or len(earlier) < needed:
        words = f"compared after {needed} commits, {len(earlier)} so far"
        return Judgement(SKIPPED, words)
    middle, most, words = _distance(check, earlier)
    of = f"{_number(middle)}, the mean of {len(earlier)} commits"
    within = abs(float(value) - middle) <= most
    return _judgement(within, f"within {words} of {of}")


def _distance(check: Drift, earlier: Sequence[float]) -> Tuple[float, float, str]:
    """Return the mean, the largest distance from it, and that in words."""
    middle = mean(earlier)
    if check.share is not None:
        return middle, check.share * abs(middle), f"{_number(check.share * 100)}%"
    sigma = check.sigma or 0
    words = f"{_number(sigma)} standard deviations"
    # Numbers never repeat to the last digit: equal ones would allow no change at all.
    most = max(sigma * pstdev(earlier), 1e-9 * abs(middle))
    return middle, most, words


def _number(value: Value) -> str:
    """Return a number for people, without digits that say nothing."""
    number = float(value or 0)
    if number == int(number):
        return f"{int(number):,}"
    return f"{number:,.6g}"


def sentence(check: Check, value: Value, bounds: str) -> str:
    """Return what a failed check says: its rule, and its number and limits."""
    named = (
        check.title
        if check.title == check.subject
        else f"{check.title}: {check.subject}"
    )
    if isinstance(check, (Unique, References, Expression)):
        return f"{_number(value)} row(s) break {named}"
    shown = "no value" if value is None else _number(float(value))
    return f"{named} is {shown} ({bounds})"
