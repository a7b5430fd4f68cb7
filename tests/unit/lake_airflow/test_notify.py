"""What a domain's topic hears of runs: the causes, each thing once, nothing else.

The examples of docs/notifications.md are what is delivered here.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest
from botocore.exceptions import ClientError
from moto.core import DEFAULT_ACCOUNT_ID
from moto.sns.models import sns_backends

from lake_airflow import notice, notify
from lake_airflow.notify import FailureCallback, RunNotifier
from lake_airflow.run_files import RunFiles
from lake_airflow.s3_object import S3Object
from lake_airflow.summary import Summary, summarise
from lake_spec.model import Event, Notifications, Quarantine
from tests.unit.lake_airflow.conftest import REGION, client
from tests.unit.lake_airflow.specs import ENVIRONMENT, dag_plan, domain, run, table

PAGE = Path(__file__).resolve().parents[3] / "docs" / "notifications.md"
EXAMPLE = re.compile(r"subject `([^`]+)`:\n```text\n(.*?)\n```", re.DOTALL)
LANDED = "2026-11-20T23:10:05+00:00"
MORNING, DAYS_LATER = "2026-11-21T03:00:00+00:00", "2026-11-22T03:00:00+00:00"
BAD_ROWS = "120 of 900 rows are bad: orders/7.csv record 3: amount: not a decimal(10,2)"
FAILED = {
    "state": "failed",
    "error": {"type": "TooManyBadRows", "message": BAD_ROWS},
}


@pytest.fixture
def topic(aws):
    return client("sns").create_topic(Name="sales-runs")["TopicArn"]


def sent(topic):
    """(subject, text, attributes) of each message, the oldest first."""
    found = sns_backends[DEFAULT_ACCOUNT_ID][REGION].topics[topic].sent_notifications
    return [(each[2], json.loads(each[1])["default"], each[3]) for each in found]


def subjects(topic):
    return [subject for subject, _, _ in sent(topic)]


class Dag:
    """The runs of sales_incremental, told as its tasks and its callback would."""

    def __init__(self, topic, *events):
        orders = table("orders")
        orders = replace(
            orders,
            source=replace(orders.source, late_after_hours=26),
            quarantine=Quarantine(warn_share=0.001),
        )
        told = Notifications(topic, events or tuple(Event))
        spec = domain(orders, table("customers"), notifications=told)
        self.plan = dag_plan("incremental", spec)

    def ends(
        self, run_id, *, now=MORNING, customers=None, asked=None, window=None, **orders
    ):
        """Leave the summary of a run whose reports say that of its tables."""
        report = {"state": "done", "rows_in": 900, "newest_input": LANDED}
        changes = {"orders": orders, "customers": customers or {}}
        names = asked or ("orders", "customers")
        pinned = run(self.plan, key=run_id, tables=names, window=window)
        steps = {s.name: [{"state": "COMPLETED"}] for s in self.plan.stages}
        summary = summarise(
            self.plan,
            pinned,
            steps=steps,
            reports={
                (stage.name, name): (
                    {**report, **changes[name]}
                    if stage.name == "incremental"
                    else {"state": "done"}
                )
                for stage in self.plan.stages
                for name in names
            },
            now=datetime.fromisoformat(now),
        )
        self.write(run_id, summary)

    def write(self, run_id, summary: Summary):
        name = self.notifier(run_id).run
        files = RunFiles(ENVIRONMENT, name, aws_conn_id=None)
        files.write("summary.json", summary.to_json())

    def notifier(self, run_id):
        return RunNotifier(self.plan, ENVIRONMENT, {"run_id": run_id})

    def is_red(self, run_id, **told):
        self.ends(run_id, **{**FAILED, **told})
        self.notifier(run_id).failed()

    def is_green(self, run_id, **told):
        self.ends(run_id, **told)
        self.notifier(run_id).succeeded()

    def callback(self, run_id, reason="task_failure"):
        FailureCallback(self.plan, ENVIRONMENT)({"run_id": run_id, "reason": reason})


@pytest.fixture
def dag(topic):
    return Dag(topic)


def id_of(day):
    return f"scheduled__2026-11-{day}T02:00:00+00:00"


def test_the_examples_of_the_page_are_what_is_delivered(dag, topic):
    warned = (
        "quarantined: 2 of 900 rows are bad: customers/7.csv record 8: id: no value"
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


def test_a_failure_is_told_once_whoever_comes_again(dag, topic):
    dag.is_red("r1")
    dag.callback("r1")
    dag.is_red("r1")
    dag.is_red("r2")
    assert subjects(topic) == ["sales_incremental: failed"] * 2


@pytest.mark.parametrize(
    "reason, words",
    [
        ("task_failure", f"FAILED {notice.NO_SUMMARY}"),
        ("timed_out", "FAILED Airflow says: timed_out."),
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
    dag.is_red("r1", window="2026-01-01..2026-01-02")
    dag.is_green("r2", window="2026-01-02..2026-01-03")
    assert subjects(topic) == ["sales_incremental: failed"]
    dag.is_green("r1", window="2026-01-01..2026-01-02")
    assert subjects(topic)[1:] == ["sales_incremental: recovered"]


def test_a_late_source_is_told_again_only_after_it_was_on_time(dag, topic):
    dag.is_green("r1", now=DAYS_LATER)
    dag.is_green("r2", now=DAYS_LATER)
    dag.is_green("r3", now=DAYS_LATER, asked=("customers",))
    dag.is_green("r4", now=DAYS_LATER)
    assert subjects(topic) == ["sales_incremental: source is late"]
    dag.is_green("r5")
    dag.is_green("r6", now=DAYS_LATER)
    assert len(subjects(topic)) == 2


def test_a_failed_run_tells_of_late_sources_too_and_once(dag, topic):
    dag.ends("r1", now=DAYS_LATER, customers=FAILED)
    dag.notifier("r1").failed()
    dag.is_green("r2", now=DAYS_LATER)
    (_, text, _), (subject, *_) = sent(topic)
    assert "WARNING sales.orders: source is late" in text
    assert subject == "sales_incremental: recovered"


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
        patched.setattr(notify, "publish", raising(error))
        with pytest.raises(ClientError):
            dag.is_red("r1")
    dag.callback("r1")
    dag.callback("r1")
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
    assert "... and 40 more warning(s), see the summary." in text


def test_secrets_do_not_leave_with_a_message(dag, topic):
    told = "cannot open jdbc://reader:hunter2@db/x?password=hunter2&ssl=true"
    dag.is_red("r1", error={"type": "Bad", "message": f"{told} AKIAIOSFODNN7EXAMPLE"})
    ((_, text, _),) = sent(topic)
    assert "jdbc://***@db/x?password=***&ssl=true ***" in text
