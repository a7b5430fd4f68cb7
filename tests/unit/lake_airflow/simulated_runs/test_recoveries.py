"""What a DAG remembers from run to run: failures until recovery, sources until on time."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from lake_airflow.reporting.summary import summarise
from tests.unit.lake_airflow.notifications import (
    DAYS_LATER,
    FAILED,
    Dag,
    sent,
    subjects,
)
from tests.unit.lake_airflow.specs import run

JANUARY_1, JANUARY_2 = "2026-01-01..2026-01-02", "2026-01-02..2026-01-03"


@pytest.fixture
def dag(topic):
    return Dag(topic)


def test_only_the_first_green_run_after_a_failed_one_is_a_recovery(dag, topic):
    dag.is_green("r0")
    dag.is_red("r1")
    dag.callback("r2")  # lost with its worker
    dag.is_green("r3")
    dag.is_green("r4")
    assert subjects(topic)[2:] == ["sales_incremental: recovered"]


def test_a_run_that_is_green_after_it_was_cleared_is_a_recovery(dag, topic):
    dag.is_red("r1")
    dag.is_green("r1")
    assert subjects(topic) == [
        "sales_incremental: failed",
        "sales_incremental: recovered",
    ]


def test_a_run_is_told_again_each_time_that_it_was_cleared(dag, topic):
    dag.is_red("r1")
    dag.is_green("r1", cleared=1)
    dag.is_red("r1", cleared=2)
    dag.is_red("r1", cleared=2)
    dag.is_red("r1", cleared=3)
    dag.is_green("r1", cleared=4)
    failed, recovered = "sales_incremental: failed", "sales_incremental: recovered"
    assert subjects(topic) == [failed, recovered, failed, failed, recovered]


def test_a_run_of_other_tables_or_a_dry_run_is_no_recovery(dag, topic):
    dag.is_red("r1", asked=("orders",))
    dag.is_green("r2", asked=("customers",))
    dry = summarise(
        dag.plan,
        run(dag.plan, key="r3", dry_run=True),
        steps={},
        reports={},
        now=datetime.now(timezone.utc),
    )
    dag.write("r3", replace(dry, causes=()))
    dag.notifier("r3").succeeded()
    assert subjects(topic) == ["sales_incremental: failed"]
    dag.is_green("r4", asked=("orders",))
    assert subjects(topic)[1:] == ["sales_incremental: recovered"]


def test_a_run_of_another_window_is_no_recovery(dag, topic):
    dag.is_red("r1", window=JANUARY_1)
    dag.is_green("r2", window=JANUARY_2)
    assert subjects(topic) == ["sales_incremental: failed"]
    dag.is_green("r1", window=JANUARY_1)
    assert subjects(topic)[1:] == ["sales_incremental: recovered"]


@pytest.mark.parametrize("windows", [(None, JANUARY_1), (JANUARY_1, JANUARY_2)])
def test_after_failures_of_several_windows_only_a_run_of_all_is_a_recovery(
    dag, topic, windows
):
    for number, window in enumerate(windows):
        dag.is_red(f"r{number}", window=window)
    dag.is_green("r2", window=windows[1])
    assert len(subjects(topic)) == 2
    dag.is_green("r3")
    assert subjects(topic)[2:] == ["sales_incremental: recovered"]


def test_a_late_source_is_told_again_only_after_it_was_on_time(dag, topic):
    dag.is_green("r1", now=DAYS_LATER)
    dag.is_green("r2", now=DAYS_LATER)
    dag.is_green("r3", now=DAYS_LATER, asked=("customers",))
    dag.is_green("r4", now=DAYS_LATER)
    assert subjects(topic) == ["sales_incremental: source is late"]
    dag.is_green("r5")
    dag.is_green("r6", now=DAYS_LATER)
    assert len(subjects(topic)) == 2


def test_a_failed_run_names_late_sources_and_the_next_green_one_tells_of_them(
    dag, topic
):
    dag.ends("r1", now=DAYS_LATER, customers=FAILED)
    dag.notifier("r1").failed()
    dag.is_green("r2", now=DAYS_LATER)
    dag.is_green("r3", now=DAYS_LATER)
    (_, text, _), (subject, _, attributes) = sent(topic)
    assert "WARNING sales.orders: LateSource: source is late" in text
    assert subject == "sales_incremental: recovered, source is late"
    assert attributes["events"]["Value"] == '["recovery", "late_source"]'


def test_a_late_source_whose_table_fails_is_not_told_again(dag, topic):
    dag.is_green("r1", now=DAYS_LATER)
    dag.ends("r2", now=DAYS_LATER, orders=FAILED)
    dag.notifier("r2").failed()
    dag.is_green("r3", now=DAYS_LATER)
    assert subjects(topic)[2:] == ["sales_incremental: recovered"]
