"""What we do against faults, taken away piece by piece: schedules break a promise.

So the simulator sees what is wrong. A minute of work, hence in the full tests alone.
"""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest
from airflow.providers.amazon.aws.hooks.emr import EmrHook

from lake_airflow.emr import clusters, job_flow, step_status
from lake_airflow.operators import create_cluster, reaper, run_over
from lake_airflow.operators.create_cluster import CreateCluster
from lake_airflow.operators.deferral import OutlivesTriggers
from lake_airflow.operators.finish_run import RunResult
from lake_airflow.operators.reaper import TerminateOrphans
from lake_airflow.operators.submit_stage import SubmitStage
from lake_airflow.operators.terminate_cluster import TerminateCluster
from lake_airflow.reporting.cost_ledger import Ledger
from lake_airflow.reporting.notifier import FailureCallback, Note, RunNotifier
from lake_airflow.runs import run, run_tasks
from lake_airflow.runs.covered import Covered
from lake_airflow.runs.lease import DomainLease
from lake_spec.state.lease import Lease
from tests.simulator import airflow, client, designs, world
from tests.simulator.playing import SCHEDULES, broken
from tests.unit.lake_airflow.first_task import create_without_looking

pytestmark = pytest.mark.usefixtures("quiet")


def test_the_provider_s_example_breaks_every_invariant():
    assert set(broken(design=designs.stock)) >= {
        "left over",
        "clusters at once",
        "steps of",
        "times",
    }


def without_lease(monkeypatch):
    monkeypatch.setattr(
        DomainLease, "take", lambda lease, holder, lives: Lease(holder, 1)
    )
    return "steps of"


def with_botocore_s_retries(monkeypatch):
    monkeypatch.setattr(CreateCluster, "aws_hook_class", EmrHook)
    return "clusters at once"


def with_steps_sent_again(monkeypatch):
    monkeypatch.setattr(SubmitStage, "aws_hook_class", EmrHook)
    return "times"


def without_looking_first(monkeypatch):
    create_without_looking(monkeypatch)
    return "clusters at once"


def without_reaper(monkeypatch):
    monkeypatch.setattr(TerminateOrphans, "execute", lambda *_: [])
    return "left over"


def with_an_end_that_ends_only_what_it_was_told(monkeypatch):
    monkeypatch.setattr(TerminateCluster, "unreported_cluster", lambda *_: "")
    return "outlived"


def without_a_limit_for_the_start(monkeypatch):
    monkeypatch.setattr(step_status, "overdue", lambda *_, **__: None)
    return "waited for"


def without_the_reaper_s_entries(monkeypatch):
    monkeypatch.setattr(Ledger, "note_missing", lambda *_: [])
    return "not in the ledger"


def without_a_note_of_what_was_told(monkeypatch):
    monkeypatch.setattr(Note, "begin", lambda *_: True)
    return "told again"


def without_the_callback(monkeypatch):
    monkeypatch.setattr(FailureCallback, "__call__", lambda *_: None)
    return "nobody was told"


def with_a_reaper_that_asks_nobody(monkeypatch):
    def nothing(*_, **__):
        return 0

    monkeypatch.setattr(
        world,
        "Counts",
        lambda *_: SimpleNamespace(get_dr_count=nothing, get_ti_count=nothing),
    )
    return "was needed"


def with_a_verdict_that_always_agrees(monkeypatch):
    monkeypatch.setattr(RunResult, "execute", lambda *_: None)
    return "green, but not all of its steps completed"


def without_waiting_for_the_earlier(monkeypatch):
    monkeypatch.setattr(create_cluster, "earlier_run", lambda _: None)
    return "began before its earlier interval"


def with_runs_of_all_airflows_alike(monkeypatch):
    for module in (job_flow, run_tasks, clusters, run):
        monkeypatch.setattr(module, "airflow_name", lambda *_: "", raising=False)
    return "times"


def with_a_reaper_for_clusters_of_other_airflows(monkeypatch):
    monkeypatch.setattr(reaper, "is_of_this_airflow", lambda _: True)
    return "was needed"


def with_a_reaper_that_leaves_paused_runs_alone(monkeypatch):
    monkeypatch.setattr(reaper, "idle", lambda *_: None)
    return "idled for"


def with_a_reaper_that_ends_what_pauses_for_a_timestamp(monkeypatch):
    monkeypatch.setattr(clusters, "IDLE", timedelta(0))
    return "was needed"


def with_a_reaper_that_spares_a_day_s_clusters(monkeypatch):
    monkeypatch.setattr(reaper, "YOUNG", timedelta(hours=30))
    return "idled for"


def without_asking_whether_the_holder_lives(monkeypatch):
    take = DomainLease.take
    monkeypatch.setattr(
        DomainLease, "take", lambda it, holder, _: take(it, holder, lambda name: False)
    )
    return "without the lease"


def without_looking_for_what_may_come_yet(monkeypatch):
    monkeypatch.setattr(clusters.ClusterFinder, "look_for", lambda *_: [])
    return "outlived"


def with_a_step_that_ends_with_its_task_s_process(monkeypatch):
    def cancel(task):
        steps = task.cluster_steps()
        steps.cancel([step for step in steps.listed() if step_status.is_alive(step)])

    monkeypatch.setattr(SubmitStage, "on_kill", cancel)
    return "while it did well"


def without_looking_for_what_marks_left(monkeypatch):
    monkeypatch.setattr(run_over, "cluster_name", lambda run: f"{run} of nobody")
    return "outlived"


def without_a_word_about_marks(monkeypatch):
    monkeypatch.setattr(run_over.RunOver, "__call__", lambda *_: None)
    return "nobody was told"


def with_one_message_for_all_clearings(monkeypatch):
    monkeypatch.setattr(airflow, "CLEARED_AGAIN", 0.3)
    never = property(lambda self: 0, lambda self, number: None)
    monkeypatch.setattr(RunNotifier, "clearing", never, raising=False)
    return "nobody was told"


def with_tries_that_go_on_where_one_failed(monkeypatch):
    monkeypatch.setattr(client, "FORGETS", 0.3)
    monkeypatch.setattr(OutlivesTriggers, "is_of_before", lambda *_: False)
    return "lost requests"


def without_looking_for_news(monkeypatch):
    monkeypatch.setattr(Covered, "by", lambda *_: None)
    return "has a cluster for what"


def without_asking_for_the_full_load(monkeypatch):
    monkeypatch.setattr(create_cluster, "is_unloaded", lambda *_: False)
    return "before anything was loaded"


def with_a_reaper_that_waits_for_what_restarts(monkeypatch):
    monkeypatch.setattr(clusters, "AT_WORK", [*clusters.AT_WORK, "restarting"])
    return "idled for"


@pytest.mark.parametrize(
    "change",
    [
        without_lease,
        without_waiting_for_the_earlier,
        with_botocore_s_retries,
        with_steps_sent_again,
        without_looking_first,
        without_reaper,
        with_an_end_that_ends_only_what_it_was_told,
        without_a_limit_for_the_start,
        without_the_reaper_s_entries,
        without_a_note_of_what_was_told,
        without_the_callback,
        with_a_reaper_that_asks_nobody,
        with_a_verdict_that_always_agrees,
        with_runs_of_all_airflows_alike,
        with_a_reaper_for_clusters_of_other_airflows,
        with_a_reaper_that_leaves_paused_runs_alone,
        with_a_reaper_that_ends_what_pauses_for_a_timestamp,
        with_a_reaper_that_spares_a_day_s_clusters,
        without_asking_whether_the_holder_lives,
        without_looking_for_what_may_come_yet,
        with_a_step_that_ends_with_its_task_s_process,
        with_a_reaper_that_waits_for_what_restarts,
        without_looking_for_what_marks_left,
        with_tries_that_go_on_where_one_failed,
        without_looking_for_news,
        without_asking_for_the_full_load,
        without_a_word_about_marks,
        with_one_message_for_all_clearings,
    ],
    ids=lambda change: change.__name__,
)
def test_what_is_taken_away_is_missed(monkeypatch, change):
    expected = change(monkeypatch)
    assert expected in broken(schedules=4 * SCHEDULES)
