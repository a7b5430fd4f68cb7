"""What a domain's topic hears of runs: the causes, each thing once, nothing else.

The examples of docs/notifications.md are what is delivered here.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from lake_airflow.reporting import messages, notifier
from lake_airflow.runs.s3_object import S3Object
from lake_spec.model import Event
from tests.unit.lake_airflow.notifications import (
    DAYS_LATER,
    FAILED,
    Dag,
    sent,
    subjects,
)

PAGE = Path(__file__).resolve().parents[4] / "docs" / "notifications.md"
EXAMPLE = re.compile(r"subject `([^`]+)`:\n```text\n(.*?)\n```", re.DOTALL)


@pytest.fixture
def dag(topic):
    return Dag(topic)


def id_of(day):
    return f"scheduled__2026-11-{day}T02:00:00+00:00"


def test_the_examples_of_the_page_are_what_is_delivered(dag, topic):
    warned = (
        "QuarantinedRows: 2 of 900 rows are bad: customers/7.csv record 8: id: no value"
    )
    dag.ends(id_of(21), customers={"warnings": [warned]}, **FAILED)
    dag.notifier(id_of(21)).failed()
    dag.is_green(id_of(22), now=DAYS_LATER)
    dag.is_green(id_of(23), quarantined=4)
    examples = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
    assert [(subject, text) for subject, text, _ in sent(topic)] == examples


def test_subscriptions_can_filter_by_event_domain_and_dag(dag, topic):
    dag.is_red("r1")
    ((_, _, attributes),) = sent(topic)
    values = {name: each["Value"] for name, each in attributes.items()}
    assert values == {
        "events": '["failure"]',
        "domain": "sales",
        "dag_id": "sales_incremental",
    }


def test_a_failed_run_that_was_marked_as_success_is_no_recovery(dag, topic):
    dag.is_red("r1")
    dag.notifier("r1").succeeded()
    assert subjects(topic) == ["sales_incremental: failed"]
    dag.is_green("r2")
    assert subjects(topic)[1:] == ["sales_incremental: recovered"]


def test_a_failure_is_told_once_whoever_comes_again(dag, topic):
    dag.is_red("r1")
    dag.callback("r1")
    dag.is_red("r1")
    dag.is_red("r2")
    assert subjects(topic) == ["sales_incremental: failed"] * 2


@pytest.mark.parametrize(
    "reason, words",
    [
        ("task_failure", f"FAILED {messages.NO_SUMMARY}"),
        ("timed_out", "FAILED Airflow reports: timed_out."),
    ],
)
def test_a_run_without_a_summary_is_told_by_the_callback(dag, topic, reason, words):
    dag.callback("r1", reason)
    dag.callback("r1", reason)
    ((_, text, _),) = sent(topic)
    assert text.splitlines()[1] == words


def test_a_summary_that_cannot_be_read_keeps_nobody_from_being_told(dag, topic, aws):
    aws.put_object(
        Bucket="lake", Key="runs/sales_incremental/r1/summary.json", Body=b"{ha"
    )
    dag.callback("r1")
    assert subjects(topic) == ["sales_incremental: failed"]


@pytest.mark.parametrize("quarantined, told", [(0, 0), (1, 1)])
def test_bad_rows_are_told_over_the_share_that_warns(dag, topic, quarantined, told):
    dag.is_green("r1", quarantined=quarantined)
    assert len(sent(topic)) == told


def test_only_the_chosen_events_are_told(topic):
    dag = Dag(topic, Event.RECOVERY)
    dag.is_red("r1")
    dag.is_green("r2", quarantined=9)
    ((subject, _, attributes),) = sent(topic)
    assert subject == "sales_incremental: recovered"
    assert attributes["events"]["Value"] == '["recovery"]'


def test_without_a_topic_nobody_is_told_and_nothing_is_kept(aws):
    dag = Dag(None)
    dag.is_red("r1")
    dag.is_green("r2")
    listed = aws.list_objects_v2(Bucket="lake")["Contents"]
    assert {each["Key"].rsplit("/", 1)[-1] for each in listed} == {"summary.json"}


def test_what_could_not_be_published_is_told_by_who_comes_next(dag, topic, monkeypatch):
    with monkeypatch.context() as patched:
        error = ClientError({"Error": {"Code": "InternalError"}}, "Publish")
        patched.setattr(notifier, "publish", raising(error))
        with pytest.raises(ClientError):
            dag.is_red("r1")
    dag.callback("r1")
    dag.callback("r1")
    assert subjects(topic) == ["sales_incremental: failed"]


@pytest.mark.parametrize(
    "key",
    [
        "states/sales_incremental.json",
        "sales_incremental/r1/notifications/failure.json",
    ],
)
@pytest.mark.parametrize("text", [b"{ha", b"[]", b"{}"])
def test_a_failure_is_told_also_where_what_was_noted_cannot_be_read(
    dag, topic, aws, key, text
):
    aws.put_object(Bucket="lake", Key=f"runs/{key}", Body=text)
    dag.is_red("r1")
    assert subjects(topic) == ["sales_incremental: failed"]


def test_a_failure_is_told_also_where_s3_cannot_be_asked(dag, topic, monkeypatch):
    error = ClientError({"Error": {"Code": "AccessDenied"}}, "PutObject")
    monkeypatch.setattr(S3Object, "replace", raising(error))
    dag.callback("r1")
    assert subjects(topic) == ["sales_incremental: failed"]


def raising(error):
    def act(*_, **__):
        raise error

    return act


def test_a_message_fits_into_sns_whatever_the_causes_hold(dag, topic):
    long = {"type": "Bad", "message": "\U0001f600" * 5000}
    many = [f"warning {n}: " + "\U0001f600" * 2000 for n in range(50)]
    dag.is_red("r1", error=long, warnings=many)
    ((_, text, _),) = sent(topic)
    assert len(json.dumps({"default": text})) < 256 * 1024 - 1000
    assert "... and 40 more warning(s); see the summary." in text


def test_secrets_do_not_leave_with_a_message(dag, topic):
    told = "cannot open jdbc://reader:hunter2@db/x?password=hunter2&ssl=true"
    dag.is_red("r1", error={"type": "Bad", "message": f"{told} AKIAIOSFODNN7EXAMPLE"})
    ((_, text, _),) = sent(topic)
    assert "jdbc://***@db/x?password=***&ssl=true ***" in text
