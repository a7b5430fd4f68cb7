"""Forty random files, valid and mutated, are read exactly or refused by name."""

from __future__ import annotations

from tests.fuzz.__main__ import play_all


def test_random_files_are_read_exactly_or_refused_by_name(spark):
    finds = []
    found = play_all(spark, 40, 4, finds.append)
    assert (found.wrong, found.poisoned) == ({}, {}), "\n".join(finds)
