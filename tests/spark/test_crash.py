"""kill -9 in the midst of a stage: one point each of ingest, current, history,
compaction and cleaning, on a merge-on-read table.

A full load and two batches of change files are taken in; the stage that is
killed gets the second batch, or the upkeep after it. As many random points as
wished: ./run_tests_locally.sh crash --points N.
"""

from __future__ import annotations

import pytest

from tests.crash.lakes import Undisturbed
from tests.crash.play import Victims, play
from tests.crash.stages import MERGED, STAGES, Point

POINTS = {
    "ingest": 0.7,
    "current": 0.6,
    "history": 0.4,
    "compaction": 0.5,
    "cleaning": 0.3,
}
"""Stage -> the share of its changes that there have been when it is killed."""


@pytest.fixture(scope="module")
def outcomes(spark, tmp_path_factory):
    """What became of each point. After the killed history comes a maintenance."""
    home = tmp_path_factory.mktemp("crash")
    victims = Victims(home, len(POINTS))
    found = {}
    try:
        undisturbed = Undisturbed(spark, home / "undisturbed", MERGED, seed=2026)
        for stage in STAGES:
            if stage.name in POINTS:
                shares = (POINTS[stage.name],)
                point = Point(MERGED, stage, shares, stage.name == "history")
                found[stage.name] = play(point, undisturbed, victims, home / stage.name)
    finally:
        victims.close()
    return found


@pytest.mark.parametrize("stage", list(POINTS))
def test_a_stage_that_was_killed_and_run_again_leaves_the_same_rows(outcomes, stage):
    assert outcomes[stage].killed
    assert outcomes[stage].differences == [], outcomes[stage].killed
