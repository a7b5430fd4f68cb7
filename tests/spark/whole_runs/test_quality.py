"""Faults of each kind planted in random rows, and runs without: each fault is reported.

As many as wished: ./run_tests_locally.sh quality --faults N.
"""

from __future__ import annotations

import pytest

from tests.quality.playing import play


@pytest.mark.nightly  # by day: checks/test_table_checks.py
def test_each_kind_of_fault_is_found_and_clean_runs_have_no_alarm(spark, tmp_path):
    outcome = play(spark, tmp_path, faults=4, seed=35)
    assert (outcome.missed, outcome.false) == ([], [])
    assert (outcome.faults, outcome.clean) == (4, 7)
