"""Runs of a domain with a topic, and what the topic heard of them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace

from moto.core import DEFAULT_ACCOUNT_ID
from moto.sns.models import sns_backends

from lake_airflow.reporting.notifier import FailureCallback, RunNotifier
from lake_airflow.reporting.summary import Summary, summarise
from lake_airflow.runs.files import RunFiles
from lake_spec.model import Event, Notifications, Quarantine
from tests.unit.lake_airflow.conftest import REGION
from tests.unit.lake_airflow.specs import ENVIRONMENT, dag_plan, domain, run, table

LANDED = "2026-11-20T23:10:05+00:00"
MORNING, DAYS_LATER = "2026-11-21T03:00:00+00:00", "2026-11-22T03:00:00+00:00"
BAD_ROWS = "120 of 900 rows are bad: orders/7.csv record 3: amount: not a decimal(10,2)"
FAILED = {
    "state": "failed",
    "error": {"type": "TooManyBadRows", "message": BAD_ROWS},
}


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

    def notifier(self, run_id, *, cleared=0):
        context = {"run_id": run_id, "dag_run": SimpleNamespace(clear_number=cleared)}
        return RunNotifier(self.plan, ENVIRONMENT, context)

    def is_red(self, run_id, *, cleared=0, **told):
        self.ends(run_id, **{**FAILED, **told})
        self.notifier(run_id, cleared=cleared).failed()

    def is_green(self, run_id, *, cleared=0, **told):
        self.ends(run_id, **told)
        self.notifier(run_id, cleared=cleared).succeeded()

    def callback(self, run_id, reason="task_failure"):
        FailureCallback(self.plan, ENVIRONMENT)({"run_id": run_id, "reason": reason})
