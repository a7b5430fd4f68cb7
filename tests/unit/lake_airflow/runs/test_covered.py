"""Of two runs that were started for one update of an asset, the later has no cluster."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import pytest

from lake_airflow.compat import AirflowSkipException
from lake_airflow.operators.finish_run import RunResult
from lake_airflow.operators.run_over import RunOver
from lake_airflow.runs.files import RunFiles
from lake_spec.model import HistoryRuns, Notifications
from tests.unit.lake_airflow.first_task import create_cluster
from tests.unit.lake_airflow.notifications import subjects
from tests.unit.lake_airflow.specs import ENVIRONMENT, dag_plan, domain

BEFORE = datetime.now(timezone.utc) - timedelta(minutes=1)
LATER = BEFORE + timedelta(days=1)
NOTE = {"Bucket": "lake", "Key": "runs/covered/sales_scd2.json"}


@pytest.fixture
def plan(topic):
    told = Notifications(topic)
    return dag_plan(
        "scd2", domain(history_runs=HistoryRuns.OWN_DAG, notifications=told)
    )


def started(runner, asked=BEFORE, *, run_type="asset_triggered", cleared=0):
    """A run that was asked for at that time."""
    runner.run_id, runner.xcoms, runner.states = "second", {}, {}
    runner.dag_run = SimpleNamespace(
        run_type=run_type, run_after=asked, clear_number=cleared
    )


def verdict(plan):
    return RunResult(task_id="done", plan=plan, environment=ENVIRONMENT)


@pytest.fixture
def first(emr, runner, plan):
    """Plays the first run to its green end; its cluster is gone."""

    def first(*, tries=1, **params):
        started(runner)
        runner.run_id, runner.params = "first", params
        for _ in range(tries):
            made = runner.execute(create_cluster(plan))
        emr.backend.clusters[made].state = "TERMINATED"
        files = RunFiles(ENVIRONMENT, "sales_scd2/first", aws_conn_id=None)
        files.write("summary.json", {"state": "succeeded"})
        done = ("create_cluster", "summary", "terminate_cluster")
        runner.states = dict.fromkeys(done, "success")
        create_cluster(plan).lease().release("sales_scd2/first")
        runner.execute(verdict(plan))
        runner.params = {}

    return first


@pytest.mark.parametrize("tries", [1, 2])
def test_the_second_run_for_one_update_ends_without_a_cluster(
    emr, runner, plan, first, topic, tries
):
    first(tries=tries)  # of which a later one finds the cluster
    started(runner)
    with pytest.raises(
        AirflowSkipException, match="Nothing new: sales_scd2/first took"
    ):
        runner.execute(create_cluster(plan))
    assert len(emr.clusters) == 1
    assert create_cluster(plan).lease().since("sales_scd2/second") is None
    runner.states.update(create_cluster="skipped", terminate_cluster="skipped")
    with pytest.raises(AirflowSkipException, match="Nothing new"):
        runner.execute(verdict(plan))
    over = {"run_id": "second", "reason": "success", "dag_run": runner.dag_run}
    RunOver(plan, ENVIRONMENT)(over)
    assert subjects(topic) == []


@pytest.mark.parametrize(
    "asked",
    [
        {"asked": LATER},
        {"run_type": "manual"},
        {"cleared": 1},
    ],
    ids=["after it began", "by somebody", "cleared"],
)
def test_a_run_that_may_have_news_or_is_wanted_has_one(emr, runner, plan, first, asked):
    first()
    started(runner, **asked)
    assert runner.execute(create_cluster(plan)) == emr.clusters[1].id


@pytest.mark.parametrize("params", [{"tables": ["orders"]}, {"dry_run": True}], ids=str)
def test_a_run_that_did_not_take_all_covers_none(emr, runner, plan, first, params):
    first(**params)
    started(runner)
    assert runner.execute(create_cluster(plan)) == emr.clusters[1].id


@pytest.mark.parametrize("text", [b"{", b"[]", b"{}", b'{"began": 7}'])
def test_a_note_that_cannot_be_read_says_nothing(aws, emr, runner, plan, text):
    aws.put_object(**NOTE, Body=text)
    started(runner)
    assert runner.execute(create_cluster(plan)) == emr.clusters[0].id
