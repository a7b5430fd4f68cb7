"""A run that finds nothing new is green and writes nothing."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.nightly  # by day, tests/spark counts the files of such runs


def test_it_is_green_and_says_that_nothing_is_new(repeated):
    run = repeated.run
    assert run.summary["state"] == "succeeded" and run.summary["causes"] == []
    assert {name: each["state"] for name, each in run.reports.items()} == {
        "prepare_incremental/artists_feed": "nothing_new",
        "incremental/artists": "nothing_new",
        "incremental/artists_feed": "nothing_new",
        "incremental/works": "nothing_new",
        "scd2/artists": "nothing_new",
        "scd2/artists_feed": "nothing_new",
        "scd2/works": "nothing_new",
    }


def test_it_makes_no_commit(repeated):
    assert [each["commits"] for each in repeated.run.reports.values()] == [{}] * 7


def test_it_touches_no_object_of_any_table(repeated):
    assert len(repeated.before) > 100
    assert repeated.after == repeated.before


def test_it_has_no_step_of_the_streamer(repeated):
    assert not [s["Name"] for s in repeated.run.steps if s["Name"].startswith("stream")]
