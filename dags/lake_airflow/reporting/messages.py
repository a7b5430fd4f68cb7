"""Messages of a run to its domain's topic, as plain data without Airflow.

A DAG's memory has the state of earlier notifications: the unrecovered failure,
and which sources are known to be late.

    {"failed": {"run": "<dag_id>/<run key>", "tables": [...], "window": ...} or null,
     "late_sources": [...]}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lake_airflow.planning.plan import DagPlan
from lake_airflow.redaction import masked
from lake_check.messages.message_ids import help_lines
from lake_spec.model import Event

LONGEST_SUBJECT = 99  # SNS takes less than 100 characters
MOST, LONGEST = 10, 1000
"""So many causes, so many warnings and so many characters of each: whatever they
hold, that is less than the 256 KB of a message."""

NO_SUMMARY = "The run ended without a summary: see the logs of its tasks."
_WORDS = {
    Event.FAILURE: "failed",
    Event.RECOVERY: "recovered",
    Event.QUARANTINE: "bad rows in the quarantine",
    Event.LATE_SOURCE: "source is late",
}

Summary = Mapping[str, Any]  # the content of summary.json; empty without one
Memory = Mapping[str, Any]


@dataclass(frozen=True)
class Notification:
    """One message: what it is about, and its words."""

    events: tuple[Event, ...]
    subject: str
    message: str

    @property
    def attributes(self) -> dict[str, Any]:
        """Attributes that subscriptions can filter by, besides the DAG."""
        return {"events": [event.value for event in self.events]}

    def to_json(self) -> dict[str, Any]:
        """Return the record for the run's folder: the message as it was sent."""
        return {**self.attributes, "subject": self.subject, "message": self.message}


def of_failure(
    plan: DagPlan, run_id: str, summary: Summary, also: Iterable[str], links: list[str]
) -> Notification:
    """Build the message of a failed run: the causes in its summary and others."""
    causes = (*summary.get("causes", ()), *also) or (NO_SUMMARY,)
    return _notification(
        plan, run_id, "failed", (Event.FAILURE,), causes, summary, links
    )


def of_success(
    plan: DagPlan,
    run_id: str,
    summary: Summary,
    events: tuple[Event, ...],
    links: list[str],
) -> Notification:
    """Build the message of a successful run that has something to report."""
    return _notification(plan, run_id, "succeeded", events, (), summary, links)


def events_of(plan: DagPlan, summary: Summary, before: Memory) -> tuple[Event, ...]:
    """List the new events of a successful run; a dry run has none."""
    if summary.get("dry_run"):
        return ()
    failed = before.get("failed")
    late = set(summary.get("late_sources", ())) - set(before.get("late_sources", ()))
    found = {
        Event.RECOVERY: failed and _recovers(plan, summary, failed),
        Event.QUARANTINE: summary.get("over_warn_share"),
        Event.LATE_SOURCE: late,
    }
    return tuple(event for event, is_so in found.items() if is_so)


def memory_after(
    plan: DagPlan, run_name: str, summary: Summary, before: Memory, *, failed: bool
) -> Memory:
    """Return what the next runs of the DAG have to know."""
    if summary.get("dry_run") and not failed:
        return before
    asked, open_failure = _asked(plan, summary), before.get("failed")
    if failed:
        tables = asked.union(open_failure["tables"] if open_failure else ())
        window = summary.get("window")
        if open_failure and open_failure["window"] != window:
            window = None  # only a run without a window does what both were to do
        open_failure = {"run": run_name, "tables": sorted(tables), "window": window}
    elif Event.RECOVERY in events_of(plan, summary, before):
        open_failure = None
    late = set(before.get("late_sources", ()))
    if "late_sources" in summary and not failed:  # the next green run reports them
        late = late - asked | set(summary["late_sources"])
    return {"failed": open_failure, "late_sources": sorted(late)}


def _recovers(plan: DagPlan, summary: Summary, failed: Memory) -> bool:
    """Return whether a successful run did all the work of the failed one."""
    took_all = summary.get("window") in (None, failed["window"])
    return took_all and set(failed["tables"]) <= _asked(plan, summary)


def _asked(plan: DagPlan, summary: Summary) -> set[str]:
    """Return the tables that the run covered; all if unknown."""
    return set(summary.get("asked") or plan.tables)


def _notification(
    plan: DagPlan,
    run_id: str,
    ended: str,
    events: tuple[Event, ...],
    causes: tuple[str, ...],
    summary: Summary,
    links: list[str],
) -> Notification:
    warnings = tuple(summary.get("warnings", ()))
    lines = [
        f"The run {run_id} of the DAG {plan.dag_id} {ended}.",
        *_first(causes, "FAILED", "cause(s)"),
        *_first(warnings, "WARNING", "warning(s)"),
        *links,
        *help_lines((*causes[:MOST], *warnings[:MOST])),
    ]
    subject = f"{plan.dag_id}: {', '.join(_WORDS[event] for event in events)}"
    return Notification(events, subject[:LONGEST_SUBJECT], "\n".join(lines))


def _first(texts: Iterable[str], word: str, what: str) -> Iterator[str]:
    texts = tuple(texts)
    for text in texts[:MOST]:
        text = masked(text)
        yield f"{word} {text if len(text) <= LONGEST else text[:LONGEST] + '...'}"
    if len(texts) > MOST:
        yield f"... and {len(texts) - MOST} more {what}; see the summary."
