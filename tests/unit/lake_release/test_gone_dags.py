"""A DAG that a release has no more is needed while a run of it is under way.

Airflow leaves runs of a DAG alone whose file defines it no more: they stay `running`, and
the cluster idles.
"""

from __future__ import annotations

import shutil
from itertools import product

import pytest
from lake_release.errors import ReleaseError
from lake_spec.layout.dag_names import DAG_KINDS

from tests.unit.lake_release.conftest import write_dags
from tests.unit.lake_release.mwaa import OTHERS


@pytest.fixture
def shop(lake, mwaa, airflow):
    """A release with the domains moma and shop; the next one lacks shop."""
    tables = lake.project / "dags" / "tables"
    shutil.copytree(tables / "moma", tables / "shop")
    for file in (tables / "shop").glob("*.yml"):
        file.write_text(file.read_text().replace("moma", "shop"))
    write_dags(lake.project, "one", "moma.py", "shop.py")
    mwaa.shows = [lake.built().id]
    first = lake.deploy(airflow=airflow)
    shutil.rmtree(tables / "shop")
    write_dags(lake.project, "two", "moma.py")
    mwaa.shows = [lake.built().id]
    return first


def test_a_domain_with_a_run_under_way_is_not_removed(lake, mwaa, airflow, shop):
    for kind, state in product(DAG_KINDS, ("running", "queued")):
        mwaa.busy = {f"shop_{kind}": state}
        with pytest.raises(ReleaseError) as refused:
            lake.deploy(airflow=airflow)
        said = (
            f"prod: the release no longer has DAG shop_{kind} (run {OTHERS}, {state})"
        )
        assert said in str(refused.value)
        _, refusal, *_ = lake.deployment(airflow=airflow).plan(lake.built())
        assert refusal == f"deploy would refuse this: {refused.value}"
    assert set(lake.shown()) == {"moma.py", "shop.py"}
    mwaa.busy.clear()
    lake.deploy(airflow=airflow)
    assert set(lake.shown()) == {"moma.py"}


def test_the_words_say_what_to_do(lake, mwaa, airflow, shop):
    mwaa.busy = {"shop_incremental": "running", "shop_reprocess": "queued"}
    mwaa.busy_since = "2027-01-12T08:00:00Z"
    with pytest.raises(ReleaseError) as refused:
        lake.deploy(airflow=airflow)
    assert str(refused.value) == (
        f"prod: the release no longer has DAG shop_incremental (run {OTHERS}, running "
        f"for 3 days); shop_reprocess (run {OTHERS}, queued for 3 days), and Airflow would "
        "never finish a run of a missing DAG. Wait for its end, or mark it as failed, "
        "which terminates its cluster; then deploy again. One that stays queued (its DAG "
        "is paused, its backfill was cancelled) never ends by itself: mark it. If its "
        "schedule always starts a new run, deploy the domain without schedules first."
    )


def test_runs_of_dags_that_stay_are_in_nobodys_way(lake, mwaa, airflow, shop):
    mwaa.busy["moma_full_load"] = "running"
    lake.deploy(airflow=airflow)
    assert set(lake.shown()) == {"moma.py"}


@pytest.mark.parametrize(
    "dag, had, has",
    [
        ("moma_scd2", "history_runs: own_dag", "history_runs: same_cluster"),
        ("moma_continuous", "continuous: {hours: 4}", "schedules: {maintenance:"),
    ],
    ids=["history", "continuous"],
)
def test_a_dag_that_a_domain_has_no_more_is_needed_while_it_runs(
    lake, mwaa, airflow, dag, had, has
):
    file = lake.project / "dags" / "tables" / "moma" / "_domain.yml"
    without = file.read_text()
    key = had.split(":")[0]
    lines = [each for each in without.splitlines() if each.split(":")[0] != key]
    file.write_text("\n".join([*lines, had]))
    mwaa.shows = [lake.built().id]
    lake.deploy(airflow=airflow)
    file.write_text(without)
    assert has in without
    mwaa.busy[dag] = "running"
    with pytest.raises(ReleaseError, match=f"no longer has DAG {dag} "):
        lake.deploy(airflow=airflow)
    mwaa.busy.clear()
    mwaa.shows = [lake.built().id]
    lake.deploy(airflow=airflow)


def test_a_dag_file_that_goes_takes_the_dags_of_its_name_along(lake, mwaa, airflow):
    """Also where no spec is of that name: a file may define any DAGs."""
    write_dags(lake.project, "one", "moma.py", "kiosk.py")
    mwaa.shows = [lake.built().id]
    lake.deploy(airflow=airflow)
    write_dags(lake.project, "one", "moma.py")
    mwaa.busy["kiosk_incremental"] = "running"
    with pytest.raises(ReleaseError, match="no longer has DAG kiosk_incremental "):
        lake.deploy(airflow=airflow)


def test_a_run_that_begins_while_mwaa_is_updated_is_seen(lake, mwaa, airflow, shop):
    (lake.project / "requirements" / "airflow.txt").write_text("newer\n")

    mwaa.begins_at("UpdateEnvironment", shop_incremental="running")
    with pytest.raises(ReleaseError, match="no longer has DAG shop_incremental "):
        lake.deploy(airflow=airflow)
    assert set(lake.shown()) == {"moma.py", "shop.py"}


def test_a_run_that_begins_before_airflow_shows_the_release_takes_it_back(
    lake, mwaa, airflow, shop
):
    mwaa.begins_at("POST", shop_incremental="queued")
    with pytest.raises(ReleaseError, match=f"first.\n{shop} is the current release"):
        lake.deploy(airflow=airflow)
    assert set(lake.shown()) == {"moma.py", "shop.py"}


def test_a_rollback_that_removes_a_domain_is_refused_alike(lake, mwaa, airflow, shop):
    second = lake.deploy(airflow=airflow)
    mwaa.shows = [shop]
    lake.deployment(airflow=airflow).rollback()
    mwaa.busy["shop_maintenance"] = "running"
    with pytest.raises(ReleaseError, match="no longer has DAG shop_maintenance "):
        lake.deployment(airflow=airflow).rollback(second)
    assert set(lake.shown()) == {"moma.py", "shop.py"}


def test_where_airflow_cannot_be_asked_nothing_is_removed(lake, mwaa, airflow, shop):
    mwaa.fails = lambda method, path: (403, "AccessDeniedException") if path else None
    with pytest.raises(
        ReleaseError, match="InvokeRestApi of lake-prod, GET /dags/shop_"
    ):
        lake.deploy(airflow=airflow)
    assert set(lake.shown()) == {"moma.py", "shop.py"}


def test_a_dag_that_airflow_does_not_know_has_no_run(lake, mwaa, airflow, shop):
    mwaa.fails = lambda method, path: (
        (400, "RestApiClientException", 404) if "/shop_" in path else None
    )
    lake.deploy(airflow=airflow)
    assert set(lake.shown()) == {"moma.py"}


def test_without_an_airflow_nobody_is_asked(lake, mwaa, airflow, shop):
    mwaa.there = None
    lake.deploy(airflow=airflow)
    assert set(lake.shown()) == {"moma.py"}
