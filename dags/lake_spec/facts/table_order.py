"""The order in which one Spark application processes its tables: docs/cost.md."""

from __future__ import annotations

import heapq
import math
from typing import Iterable, List, Mapping, Optional, Sequence

TABLES_AT_ONCE = "spark.lake.tablesAtOnce"
"""Spark setting of a cluster: the number of tables that a step processes at once."""


def longest_first(names: Sequence[str], expected: Mapping[str, float]) -> List[str]:
    """Sort names by their expected seconds, the longest first.

    What was never seen comes before all: it may be a first load. Names that are
    equal keep their order.
    """
    return sorted(names, key=lambda name: -expected.get(name, math.inf))


def makespan(seconds: Iterable[float], at_once: int) -> float:
    """Return the seconds until the last one ends, each started in turn when one of
    `at_once` is free."""
    ends = [0.0] * at_once
    for each in seconds:
        heapq.heappush(ends, heapq.heappop(ends) + each)
    return max(ends)


def blended(expected: Optional[float], took: float) -> float:
    """Return the next expectation: half of it is the last measured value."""
    return took if expected is None else (expected + took) / 2
