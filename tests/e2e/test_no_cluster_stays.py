"""Clusters end, and runs stay red, whatever people do with them."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.nightly  # by day, tests/simulator marks runs


def test_the_cluster_of_a_run_that_was_marked_as_failed_is_ended(lake, marked):
    assert marked.tasks["terminate_cluster"] == "success"
    assert marked.cluster["Id"] not in [each["Id"] for each in lake.living_clusters()]


def test_so_is_one_that_emr_had_made_and_the_run_did_not_know(unheard):
    assert unheard.tasks["create_cluster"] == "failed"
    assert unheard.tasks["terminate_cluster"] == "success"


def test_a_run_that_was_marked_as_failed_stays_failed(marked, unheard):
    for run in (marked, unheard):
        assert run.tasks["done"] == "failed"
        assert run.state == "failed"
