"""Two sides of one target: their ratio, with what else was counted of both."""

from __future__ import annotations

from dataclasses import fields
from typing import List, Optional, Sequence

from benchmarks.speed.measuring import Measured, median, ratios
from benchmarks.speed.result import Result, over

COUNTED = tuple(each.name for each in fields(Measured))


def compared(
    id: str,
    what: str,
    ours: List[Measured],
    theirs: List[Measured],
    target: Optional[float],
    counted: Sequence[str] = COUNTED,
) -> Result:
    """Seconds of ours over theirs, round by round; medians of what is counted next to
    it."""
    medians = {
        f"{side}_{name}": median(found, name)
        for side, found in (("ours", ours), ("theirs", theirs))
        for name in counted
    }
    return over(id, what, ratios(ours, theirs), target, medians)


def summed(*pieces: Measured) -> Measured:
    """Pieces of work as if they were one: one after the other."""
    found = {name: sum(getattr(one, name) for one in pieces) for name in COUNTED}
    return Measured(**{**found, "peak": max(one.peak for one in pieces)})
