"""Whether a number is within limits, and these in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional

from lake_spec.model.checks.measures import Value

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclass(frozen=True)
class Judgement:
    """The result of a check, and its limits in words."""

    result: str
    bounds: str


def judgement(is_within: bool, bounds: str) -> Judgement:
    """Return the result of a comparison."""
    return Judgement(PASSED if is_within else FAILED, bounds)


def at_most(value: Value, most: float) -> Judgement:
    """Compare a number of rows, or a share of them, with the largest one allowed."""
    return judgement((value or 0) <= most, f"at most {number(most)}")


def are_within(value: Value, low: Optional[float], high: Optional[float]) -> bool:
    """Return whether a number is between two limits; None is no limit."""
    return value is not None and (
        (low is None or value >= low) and (high is None or value <= high)
    )


def limits_in_words(low: Optional[float], high: Optional[float]) -> List[str]:
    """Return the limits that there are, each in words."""
    words = [] if low is None else [f"at least {number(low)}"]
    return words + ([] if high is None else [f"at most {number(high)}"])


def number(value: Value) -> str:
    """Format a number for people, without digits that say nothing."""
    plain = float(value or 0)
    if plain == int(plain):
        return f"{int(plain):,}"
    return f"{plain:,.6g}"
