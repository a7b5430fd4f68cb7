"""Two real steps of one domain: only the one whose grant is in force commits anything.

A step of the run `old` is interrupted in each of its looks at the lease, the first one
at its start and the others right before its commits.
"""

from __future__ import annotations

import json

import pytest

from lake_spark.errors import LeaseLost
from tests.kinds import one_by_day
from tests.spark.lake import FEED_FILES, Lake, table
from tests.spark.leased import Interrupted, Steps, grant

SPEC = FEED_FILES + """columns: {id: int, ts: timestamp, note: string}
key: [id]
order_by: [ts]
load_effective_at: "2020-01-01"
storage: {type: merge_on_read, buckets: 1}
maintenance: {compact_after: 1}
"""
OLD, NEW = "tests_incremental/old", "tests_incremental/new"
LOAD = "id,ts,note\n1,2020-01-01,a\n"
TOLD = "no longer has the lease of tests"


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    made = Lake(spark, tmp_path_factory.mktemp("one_writer"), table(SPEC))
    made.land("load/1.csv", LOAD)
    made.done("full_load", "scd2")
    made.landed = 0
    return made


@pytest.fixture
def steps(lake, monkeypatch):
    return Steps(lake, monkeypatch)


def land(lake):
    """One more change of key 1; what current must show once it is ingested."""
    lake.landed += 1
    note, day = f"n{lake.landed}", f"2021-01-{lake.landed:02}"
    lake.land(f"changes/{lake.landed:03}.csv", f"op,id,ts,note\nU,1,{day},{note}\n")
    return [(1, note)]


def outcome(steps, stage, store):
    """The words by which a step of `old` was refused; None if it was not."""
    try:
        if steps.step(stage, OLD, 5, store=store) == 0:
            return None
        return steps.report(OLD, stage)["error"]["message"]
    except LeaseLost as refused:  # at its start
        return str(refused)


EVENTS = {
    "given back": lambda lake: grant(lake.root, None, 5),
    "given back and taken again": lambda lake: grant(lake.root, OLD, 6),
    "expired and taken by another": lambda lake: grant(lake.root, NEW, 6),
    "broken": lambda lake: (lake.root / "runs/leases/tests.json").unlink(),
}


BY_DAY = "given back and taken again"


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(each, marks=() if each == BY_DAY else pytest.mark.nightly)
        for each in EVENTS
    ],
)
def test_a_step_that_lost_its_lease_commits_nothing_more(steps, lake, event):
    living = land(lake)
    looks, number = 2, 1
    while number <= looks:
        grant(lake.root, OLD, 5)
        there = []

        def happens():
            EVENTS[event](lake)
            there.append(steps.completed())

        store = Interrupted(number, happens)
        told = outcome(steps, "incremental", store)
        if not there:
            break  # it looked less often: all was committed before
        assert TOLD in told and "Start the run again" in told, (number, told)
        assert steps.completed() == there[0], number
        looks, number = number + 1, number + 1
    assert number > 2  # its start, and at least two commits
    grant(lake.root, OLD, 7)
    assert steps.step("incremental", OLD, 7) == 0
    assert lake.living("note") == living


def test_another_run_s_whole_step_in_the_middle_leaves_the_rows_exact(steps, lake):
    number, interrupted = 1, True
    while interrupted:
        living = land(lake)
        grant(lake.root, OLD, 5)
        ends = []

        def other_run():
            grant(lake.root, NEW, 6)
            ends.append(steps.step("incremental", NEW, 6))
            ends.append(steps.step("scd2", NEW, 6))

        told = outcome(steps, "incremental", Interrupted(number, other_run))
        interrupted = bool(ends)
        if interrupted:
            assert (ends, TOLD in told) == ([0, 0], True), number
        assert lake.living("note") == living, number
        number += 1
    assert number > 3
    grant(lake.root, NEW, 8)
    assert steps.step("scd2", NEW, 8) == 0
    expected = ["a", *(f"n{each}" for each in range(1, lake.landed + 1))]
    assert [note for _, note, *_ in lake.versions("note")] == expected


@pytest.mark.parametrize("stage", one_by_day(["scd2", "maintenance"]))
def test_maintenance_and_history_ask_before_each_commit_too(steps, lake, stage):
    land(lake)
    grant(lake.root, OLD, 5)
    assert steps.step("incremental", OLD, 5) == 0
    there = []

    def happens():
        grant(lake.root, NEW, 6)
        there.append(steps.completed())

    told = outcome(steps, stage, Interrupted(2, happens))
    assert TOLD in told
    assert steps.completed() == there[0]
    grant(lake.root, OLD, 7)
    assert steps.step(stage, OLD, 7) == 0


def test_a_step_of_no_grant_does_not_even_start(steps, lake):
    (lake.root / "runs/leases/tests.json").unlink(missing_ok=True)
    with pytest.raises(LeaseLost, match="does not exist"):
        steps.step("incremental", OLD, 5)
    lease = lake.root / "runs/leases/tests.json"
    lease.write_text(json.dumps({"holder": None}))
    with pytest.raises(LeaseLost, match="given back"):
        steps.step("incremental", OLD, 5)
