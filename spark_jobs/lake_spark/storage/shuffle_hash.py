"""Which numbers Spark's shuffle brings to which task: by their hash, Murmur3 of 32 bits."""

from __future__ import annotations

from typing import Dict, List

SEED = 42
"""Of the hash by which Spark chooses the task of a row."""


def numbers_of_tasks(tasks: int) -> List[int]:
    """Return for each task the least number that Spark's shuffle brings to it."""
    found: Dict[int, int] = {}
    number = 0
    while len(found) < tasks:
        found.setdefault(spark_hash(number) % tasks, number)
        number += 1
    return [found[task] for task in range(tasks)]


def spark_hash(number: int) -> int:
    """Return Spark's `hash` of an integer."""

    def rotated(value: int, by: int) -> int:
        return (value << by | value >> (32 - by)) & 0xFFFFFFFF

    mixed = rotated(number * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF
    found = rotated(SEED ^ mixed, 13) * 5 + 0xE6546B64 & 0xFFFFFFFF
    found ^= 4  # bytes of an integer
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        found = (found ^ found >> shift) * factor & 0xFFFFFFFF
    found ^= found >> 16
    return found - (1 << 32) if found >> 31 else found
