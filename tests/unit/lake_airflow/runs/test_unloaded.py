"""Of a domain that was never loaded, a run that a schedule starts has no cluster."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lake_airflow.compat import AirflowFailException, AirflowSkipException
from lake_airflow.runs.files import RunFiles
from lake_airflow.runs.task_notes import FirstTaskNotes
from lake_spec.model.continuous import Continuous
from tests.unit.lake_airflow.first_task import create_cluster
from tests.unit.lake_airflow.specs import ENVIRONMENT, dag_plan, domain, snapshot

SPEC = domain(continuous=Continuous())
PLAN = dag_plan("incremental", SPEC)
WORDS = (
    "The run is refused: a schedule started it, and nothing of sales has been loaded "
    "yet. Start sales_full_load; once it has ended, the next run takes what has landed "
    "meanwhile. If the sources send no full load, start sales_incremental once."
)


@pytest.fixture
def scheduled(runner):
    """Makes the next run one that a schedule starts."""

    def scheduled(run_id="scheduled-1", *, cleared=0):
        runner.run_id, runner.xcoms = run_id, {}
        runner.dag_run = SimpleNamespace(
            run_type="scheduled", start_date=None, clear_number=cleared
        )

    return scheduled


@pytest.mark.parametrize("kind", ["incremental", "continuous"])
def test_it_says_what_to_start_and_so_does_the_next_one(
    aws, emr, runner, scheduled, kind
):
    for run_id in ("scheduled-1", "scheduled-2"):
        scheduled(run_id)
        with pytest.raises(AirflowFailException) as refused:
            runner.execute(create_cluster(dag_plan(kind, SPEC)))
        assert str(refused.value) == WORDS
        files = RunFiles(ENVIRONMENT, f"sales_{kind}/{run_id}", aws_conn_id=None)
        told = f"sales: no cluster was created: {WORDS}"
        assert files.read("summary.json")["causes"] == [told]
    assert not emr.clusters
    assert not aws.list_objects_v2(Bucket="lake", Prefix="runs/leases/")["KeyCount"]


@pytest.mark.parametrize("tables", [SPEC.tables, (snapshot("stock"),)])
def test_maintenance_has_nothing_to_do_then_and_is_green(
    aws, emr, runner, scheduled, tables
):
    plan = dag_plan("maintenance", domain(*tables))
    for run_id in ("scheduled-1", "scheduled-2"):
        scheduled(run_id)
        with pytest.raises(AirflowSkipException, match="nothing of sales has been"):
            runner.execute(create_cluster(plan))
        files = RunFiles(ENVIRONMENT, f"sales_maintenance/{run_id}", aws_conn_id=None)
        assert not files.read("summary.json")["causes"]
        assert FirstTaskNotes.of_run(runner.context("done")).no_news
        runner.succeeded = {"sales_maintenance": 1}
    assert not emr.clusters
    assert not aws.list_objects_v2(Bucket="lake", Prefix="runs/leases/")["KeyCount"]
    runner.succeeded = {"sales_incremental": 1}
    scheduled("scheduled-3")
    assert runner.execute(create_cluster(plan)) == emr.clusters[0].id


@pytest.mark.parametrize("first", ["full_load", "incremental"])
def test_after_any_run_that_somebody_started_it_has_one(emr, runner, scheduled, first):
    plan = dag_plan(first)
    made = runner.execute(create_cluster(plan))
    emr.backend.clusters[made].state = "TERMINATED"
    create_cluster(plan).lease().release(f"{plan.dag_id}/manual-1")
    scheduled()
    assert runner.execute(create_cluster(PLAN)) == emr.clusters[1].id


@pytest.mark.parametrize("dag_id", ["sales_full_load", "sales_incremental"])
def test_where_the_folder_of_runs_was_lost_airflow_knows_that_it_was_loaded(
    emr, runner, scheduled, dag_id
):
    scheduled()
    runner.succeeded = {dag_id: 1}
    assert runner.execute(create_cluster(PLAN)) == emr.clusters[0].id


def test_a_run_that_somebody_cleared_has_one(emr, runner, scheduled):
    scheduled(cleared=1)
    assert runner.execute(create_cluster(PLAN)) == emr.clusters[0].id


def test_where_a_table_begins_with_any_run_the_first_one_has_a_cluster(
    emr, runner, scheduled
):
    scheduled()
    plan = dag_plan("incremental", domain(*SPEC.tables, snapshot("stock")))
    assert runner.execute(create_cluster(plan)) == emr.clusters[0].id
