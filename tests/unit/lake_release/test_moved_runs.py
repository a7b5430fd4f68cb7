"""Leases lie below `runs`: another root is no place to go to while a run is under way."""

from __future__ import annotations

import pytest
from lake_release.errors import ReleaseError

from tests.unit.lake_release.conftest import write_dags
from tests.unit.lake_release.mwaa import OTHERS

OLD = "s3://lake-prod-work-111122223333/runs"
NEW = "s3://lake-prod-work-111122223333/later"


@pytest.fixture
def moved(lake, mwaa, airflow):
    """A release that is deployed; the next one has other `runs`."""
    first = deploy(lake, mwaa, airflow)
    place = lake.project / "dags" / "environments" / "prod.yml"
    text = place.read_text()
    assert f"runs: {OLD}\n" in text
    place.write_text(text.replace(f"runs: {OLD}\n", f"runs: {NEW}\n"))
    return first


def deploy(lake, mwaa, airflow):
    mwaa.shows = [lake.built().id]
    return lake.deploy(airflow=airflow)


@pytest.mark.parametrize("state", ["running", "queued"])
def test_a_run_under_way_keeps_its_leases(lake, mwaa, airflow, moved, state):
    mwaa.busy["moma_incremental"] = state
    with pytest.raises(ReleaseError) as refused:
        lake.deploy(airflow=airflow)
    said = str(refused.value)
    assert said.startswith(f"prod: `runs` was {OLD}, now {NEW}: a run in the one does")
    assert f"Under way: moma_incremental (run {OTHERS}, {state})." in said
    assert said.endswith("deploy again (docs/upgrades.md#move-the-runs).")
    assert f"deploy would refuse this: {said}" in lake.deployment(airflow=airflow).plan(
        lake.built()
    )
    assert lake.current() == moved
    mwaa.busy.clear()
    second = deploy(lake, mwaa, airflow)
    mwaa.busy["moma_incremental"] = state
    with pytest.raises(ReleaseError, match=f"was {NEW}, now {OLD}"):
        lake.deployment(airflow=airflow).rollback()
    assert lake.current() == second


def test_a_run_that_begins_while_mwaa_is_updated_is_seen(lake, mwaa, airflow, moved):
    # startup.sh names the root, so MWAA is updated.
    mwaa.begins_at("UpdateEnvironment", moma_incremental="running")
    with pytest.raises(ReleaseError, match=f"now {NEW}"):
        lake.deploy(airflow=airflow)
    assert lake.current() == moved


def test_a_run_in_the_new_place_does_not_take_the_release_back(
    lake, mwaa, airflow, moved
):
    mwaa.begins_at("POST", moma_incremental="running")
    assert deploy(lake, mwaa, airflow) == lake.current() != moved


def test_another_release_with_the_same_runs_waits_for_nobody(lake, mwaa, airflow):
    first = deploy(lake, mwaa, airflow)
    write_dags(lake.project, "two", "moma.py")
    mwaa.busy["moma_incremental"] = "running"
    assert deploy(lake, mwaa, airflow) == lake.current() != first
