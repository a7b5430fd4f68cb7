"""Unions of many parts."""

from __future__ import annotations

from typing import Sequence

from pyspark.sql import DataFrame


def union_of(parts: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of all parts, whose columns have the same names.

    By halves: each union has Spark look at all of what it joins, so one after the other
    they take the square of their number. Raises IndexError where there is no part.
    """
    half = len(parts) // 2
    if not half:
        return parts[0]
    return union_of(parts[:half]).unionByName(union_of(parts[half:]))
