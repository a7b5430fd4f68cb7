"""Airflow's backfill: past intervals, oldest first, as if they had run on time."""

from __future__ import annotations

import pytest

from tests.e2e import days_lake
from tests.e2e.lake import tags

pytestmark = pytest.mark.nightly


def test_a_plan_tells_the_step_and_costs_nothing(backfilled):
    plan = backfilled.plan
    assert "days_incremental success" in plan.out
    made = {tags(each)["lake:run-id"] for each in backfilled.clusters_of_plan}
    assert not any(run_id.startswith("cli__") for run_id in made)


def test_a_schedule_starts_by_itself_and_finds_nothing_to_do(backfilled):
    assert backfilled.scheduled["state"] == "success"


def test_each_interval_has_a_run_that_took_its_own_snapshot(backfilled):
    taken = [
        [path for path, *_ in run.files("incremental/stock")] for run in backfilled.runs
    ]
    assert taken == [[f"stock_{day}.csv"] for day in days_lake.DAYS]


def test_a_later_interval_has_its_cluster_after_the_earlier_one_s_end(backfilled):
    lives = [run.cluster["Status"]["Timeline"] for run in backfilled.runs]
    for earlier, later in zip(lives, lives[1:]):
        assert earlier["EndDateTime"] <= later["CreationDateTime"]


def test_the_history_is_that_of_runs_on_time(backfilled):
    assert sorted(backfilled.versions) == sorted(days_lake.VERSIONS)
