"""Notifies the domain's SNS topic, if there is one, of a run: each event once.

Sent notifications are recorded next to the run's reports, so that a repeated task or
callback sends none; a run that was cleared has records of its own. The next of them sends
what could not be published; if it is unknown whether a failure was sent, it is sent twice
rather than not at all.
"""

from __future__ import annotations

import json
import logging
from typing import Any, Optional
from urllib.parse import quote
from uuid import uuid4

from airflow.configuration import conf
from airflow.providers.amazon.aws.hooks.sns import SnsHook
from airflow.providers.amazon.aws.notifications.sns import SnsNotifier
from botocore.exceptions import BotoCoreError, ClientError

from lake_airflow.planning.plan import DagPlan
from lake_airflow.reporting import messages
from lake_airflow.reporting.summary import SUCCEEDED
from lake_airflow.runs.files import RunFiles, report_folder
from lake_airflow.runs.s3_object import S3Object
from lake_airflow.runs.run_tasks import run_name
from lake_spec.model import EnvironmentSpec
from lake_spec.state.state_format import FORMAT, parse_state

AWS_CONNECTION = "aws_default"

UNREPORTED = (
    "The run is green in Airflow, but did not report that it succeeded: tasks were marked "
    "as success by hand. What it was to do is not all done. Start a run."
)

_NOT_OURS = (ValueError, TypeError, KeyError, AttributeError)
"""Errors from an object that something else wrote."""

log = logging.getLogger(__name__)


class RunNotifier:
    """Notifies the topic of a plan's domain of how one run ended."""

    def __init__(
        self, plan: DagPlan, environment: EnvironmentSpec, context: Any
    ) -> None:
        self.plan = plan
        self.environment = environment
        self.run_id = context["run_id"]
        self.run = run_name(plan, context)
        self.clearing = getattr(context.get("dag_run"), "clear_number", None) or 0

    def failed(self, also: tuple[str, ...] = ()) -> None:
        """Notify of a failed run; `also` are causes that its summary does not have."""
        if self.plan.notifications.topic is None:
            return
        summary = self._summary_if_any()
        message = messages.of_failure(
            self.plan, self.run_id, summary, also, self._links()
        )
        note = self._note("failure")
        try:
            if not note.begin(message):
                return
            self._remember(summary, failed=True)
        except (BotoCoreError, ClientError, *_NOT_OURS) as error:
            log.warning(
                ("%s: it is unknown whether the notification was sent: %s"),
                self.run,
                error,
            )
        self._publish(message)
        note.end(message)

    def succeeded(self) -> None:
        """Notify of a successful run, if it has events to report."""
        if self.plan.notifications.topic is None:
            return
        if "summary.json" not in self._files().names():
            self.failed((UNREPORTED,))
            return
        summary, before = self._summary(), self._memory()[0]
        if summary.get("state") != SUCCEEDED:  # of a try before, then marked manually
            log.warning("%s: no summary says that it succeeded.", self.run)
            return
        events = messages.events_of(self.plan, summary, before)
        wanted = tuple(e for e in events if e in self.plan.notifications.events)
        message = messages.of_success(
            self.plan, self.run_id, summary, wanted, self._links()
        )
        note = self._note("success")
        if wanted and note.begin(message):
            self._publish(message)
            note.end(message)
        self._remember(summary, failed=False)

    def _publish(self, message: messages.Notification) -> None:
        if set(message.events) & set(self.plan.notifications.events):
            publish(self.plan, message)

    def _summary(self) -> dict[str, Any]:
        """Return the run's summary."""
        summary: dict[str, Any] = self._files().read("summary.json")
        return summary

    def _files(self) -> RunFiles:
        return RunFiles(self.environment, self.run, aws_conn_id=AWS_CONNECTION)

    def _summary_if_any(self) -> dict[str, Any]:
        """Return the run's summary, or {} for a run that ended without one."""
        try:
            return self._summary()
        except (BotoCoreError, ClientError, ValueError) as error:
            log.info("The summary of %s cannot be read: %s", self.run, error)
            return {}

    def _remember(self, summary: dict[str, Any], *, failed: bool) -> None:
        before, etag = self._memory()
        after = messages.memory_after(
            self.plan, self.run, summary, before, failed=failed
        )
        if {**before, **after} != before:
            self._state().write({FORMAT: 1, **before, **after}, etag)

    def _memory(self) -> tuple[dict[str, Any], Optional[str]]:
        """Return the state of the DAG's earlier notifications, and the object's
        ETag."""
        content, etag = self._state().read()
        what, where = f"the notifications of {self.plan.dag_id}", self._state().address
        return parse_state(content or b"{}", what=what, where=where), etag

    def _state(self) -> S3Object:
        return self._object(f"{self.environment.runs}/states/{self.plan.dag_id}.json")

    def _note(self, outcome: str) -> Note:
        name = f"{outcome}_{self.clearing}" if self.clearing else outcome
        return Note(self._object(f"{self._folder()}/notifications/{name}.json"))

    def _object(self, address: str) -> S3Object:
        region = self.environment.region
        return S3Object(address, region=region, aws_conn_id=AWS_CONNECTION)

    def _folder(self) -> str:
        return report_folder(self.environment, self.run)

    def _links(self) -> list[str]:
        return [
            f"Run: {run_link(self.plan.dag_id, quote(self.run_id, safe=''))}",
            f"Summary: {self._folder()}/summary.json",
        ]


class Note:
    """The record of a notification, as an object next to the run's reports.

    It is there before the message is published, and says afterwards that it was:
    the next task or callback sends what was begun and never ended.
    """

    def __init__(self, address: S3Object) -> None:
        self._object = address

    def begin(self, message: messages.Notification) -> bool:
        """Record what is going to be published; return whether it is still to be
        done."""
        content, etag = self._object.read()
        if content is not None and json.loads(content)["published"]:
            return False
        note = {**message.to_json(), "published": False, "by": uuid4().hex}
        return self._object.write(note, etag)  # of two writers of the same, one wins

    def end(self, message: messages.Notification) -> None:
        """Record that it was published; a failure is no error, as it was published."""
        try:
            self._object.replace({**message.to_json(), "published": True})
        except (BotoCoreError, ClientError):
            log.warning("%s: the notification may be sent again.", self._object.address)


def publish(plan: DagPlan, message: messages.Notification) -> None:
    """Publish a notification to SNS, with attributes that subscriptions can filter
    by."""
    topic = plan.notifications.topic
    assert topic is not None, "events are of a topic"
    region = _region(topic)
    hook = SnsHook(  # type: ignore[no-untyped-call]
        aws_conn_id=AWS_CONNECTION, region_name=region
    )
    names = {"domain": plan.domain, "dag_id": plan.dag_id}
    hook.publish_to_target(
        topic, message.message, message.subject, {**names, **message.attributes}
    )


class FailureCallback:
    """Airflow's callback for a failed run: reports what its last task could not."""

    def __init__(self, plan: DagPlan, environment: EnvironmentSpec) -> None:
        self.plan = plan
        self.environment = environment

    def __call__(self, context: Any, more: tuple[str, ...] = ()) -> None:
        """Notify of the failed run; `reason` is Airflow's reason for the failure."""
        also = () if context.get("reason") == "task_failure" else _also(context)
        notifier_after(self.plan, self.environment, context).failed((*also, *more))


def notifier_after(
    plan: DagPlan, environment: EnvironmentSpec, context: Any
) -> RunNotifier:
    """Return the notifier of a run that is over, for a callback: it has no XComs."""
    known = {name: context.get(name) for name in ("run_id", "dag_run")}
    return RunNotifier(plan, environment, known)


def _also(context: Any) -> tuple[str, ...]:
    return (f"Airflow reports: {context.get('reason') or 'no reason given'}.",)


def alarm_notifier(dag_id: str, topic: Optional[str]) -> Optional[SnsNotifier]:
    """Return a notifier for the environment's topic of orphaned clusters."""
    if topic is None:
        return None
    link = run_link(dag_id, "{{ run_id | urlencode }}")
    return SnsNotifier(
        target_arn=topic,
        region_name=_region(topic),
        subject=f"{dag_id}: failed"[: messages.LONGEST_SUBJECT],
        message=(
            f"The run {{{{ run_id }}}} of the DAG {dag_id} failed.\nOrphaned clusters "
            f"keep running and accrue cost; its log names them.\nRun: {link}"
        ),
    )


def run_link(dag_id: str, run_id: str) -> str:
    """Return the URL of a run's page; the run id must be quoted already."""
    return f"{airflow_address()}/dags/{dag_id}/runs/{run_id}"


def airflow_address() -> str:
    """Return the URL of Airflow's pages, without a slash at its end."""
    base_url = conf.get("api", "base_url", fallback=None) or "http://localhost:8080"
    return base_url.rstrip("/")


def _region(topic: str) -> str:
    return topic.split(":")[3]
