"""What other teams have beside the lake, under its own roots, is as they left it."""

from __future__ import annotations

import pytest


def test_it_is_as_it_was_after_all_runs_of_the_day(others, revived):
    assert len(others) > 40 and others.changed() == []


@pytest.mark.nightly
def test_it_is_after_maintenance_an_erase_the_pages_and_other_domains(
    others, forgotten, queued, backfilled, treated
):
    assert forgotten.receipt["erased"] == {"artists_feed": 1}
    assert len(forgotten.pages) > 1 and others.changed() == []
