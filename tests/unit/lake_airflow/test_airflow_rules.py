"""The rules of Airflow's versions are those of the sources that are installed here."""

from __future__ import annotations

import inspect
import re
from types import SimpleNamespace

import pytest
from airflow import __version__
from airflow.api.common import mark_tasks
from airflow.api_fastapi.execution_api.routes import task_instances
from airflow.jobs import scheduler_job_runner
from airflow.sdk.execution_time import supervisor

from lake_airflow.airflow_rules import RULES, STAYS


@pytest.fixture
def rules():
    (found,) = [rules for rules in RULES if rules.version == __version__]
    return found


def test_a_mark_with_downstream_takes_the_teardowns_or_leaves_them(rules):
    end = SimpleNamespace(task_id="terminate_cluster", is_teardown=True)
    stage = SimpleNamespace(
        task_id="scd2", get_flat_relatives=lambda upstream: [] if upstream else [end]
    )
    marked = list(mark_tasks.find_task_relatives([stage], True, False))
    assert (marked[1:] == [end.task_id]) is rules.downstream_marks_teardowns


def test_a_retry_begins_anew_or_where_the_task_failed(rules):
    source = inspect.getsource(
        task_instances._create_ti_state_update_query_and_update_state
    )
    ended = source.split("TIDeferredStatePayload")[0]
    assert ("next_method=None" not in ended) is rules.retry_resumes


def test_a_task_that_restarts_is_scheduled_or_forgotten(rules):
    events = inspect.getsource(
        scheduler_job_runner.SchedulerJobRunner.process_executor_events
    )
    assert ("RESTARTING" not in events) is rules.restarting_stays
    assert STAYS == {"restarting"}


def test_a_worker_that_shuts_down_ends_its_processes_or_leaves_them(rules):
    source = inspect.getsource(supervisor)
    forwards = re.search(r"signal\.signal\(signal\.SIGTERM, _forward", source)
    assert bool(forwards) is rules.forwards_sigterm
