"""Runs of the DAGs' own operators bill what the benchmark of packing reckons with."""

from __future__ import annotations


import pytest

from benchmarks.packing import MOST_BILLED, MOST_LATE, START, STEP, costed, drawn
from tests.kinds import one_by_day
from tests.simulator.calm import CalmWorld, Times

SEED, AT_ONCE = 7, 4
BESIDE = 3
"""Minutes of a run in which no cluster starts or works: asking, ending, telling."""


pytestmark = pytest.mark.usefixtures("quiet")


def played(before, now, names):
    def of(seconds):
        return {stage: {n: of[n] for n in names} for stage, of in seconds.items()}

    return CalmWorld(Times(START, STEP, of(now), of(before), AT_ONCE)).play()


@pytest.mark.parametrize("case", one_by_day(["one giant", "skewed", "hardly new"]))
def test_twenty_tables_on_one_cluster_against_a_cluster_for_each(case):
    before, now = drawn(case, SEED, 20)
    reckoned = costed(case, SEED, at_once=AT_ONCE)
    names = list(now["incremental"])
    shared = played(before, now, names)
    apart = [played(before, now, [name]) for name in names]

    billed = shared["minutes"]["total"]
    assert billed / sum(each["minutes"]["total"] for each in apart) <= MOST_BILLED
    assert shared["seconds"] <= MOST_LATE * reckoned.best + BESIDE * 60
    assert reckoned.shared / 60 <= billed <= reckoned.shared / 60 + BESIDE
    assert shared["minutes"]["start"] == START / 60
    assert set(shared["tables"]) == set(names)
