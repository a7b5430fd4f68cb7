"""The state and end of a cluster's steps, from EMR's descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Optional

from lake_airflow.emr.job_flow import ENDED, ENDING

ALIVE = ("PENDING", "CANCEL_PENDING", "RUNNING")
MISSING = "MISSING"
NOT_SUBMITTED = "NOT_SUBMITTED"
STARTING = ("STARTING", "BOOTSTRAPPING")


def newest_by_name(steps: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the newest step of each name; EMR lists the newest first."""
    found: dict[str, Mapping[str, Any]] = {}
    for step in steps:
        found.setdefault(step["Name"], step)
    return found


def is_alive(step: Optional[Mapping[str, Any]]) -> bool:
    """Return whether the step may still do something."""
    return step is not None and step["Status"]["State"] in ALIVE


def created(step: Mapping[str, Any]) -> datetime:
    """Return when the step was submitted to the cluster."""
    submitted: datetime = step["Status"]["Timeline"]["CreationDateTime"]
    return submitted


def started(step: Mapping[str, Any]) -> Optional[datetime]:
    """Return when the step began to run; None while it is pending."""
    status = step["Status"]
    began = status["Timeline"].get("StartDateTime")
    return began or (None if status["State"] == "PENDING" else created(step))


def over_limit(
    alive: Iterable[Mapping[str, Any]], *, now: datetime, limit: timedelta
) -> timedelta:
    """Return how far the longest running step is over the limit, from its own start."""
    starts = [began for step in alive if (began := started(step))]
    return now - min(starts) - limit if starts else timedelta(0)


def end_of_step(
    name: str, step: Optional[Mapping[str, Any]], *, log_folder: str
) -> dict[str, Any]:
    """Describe how a step ended, for the summary; `log_folder` is the cluster's."""
    if step is None:
        return {"name": name, "state": MISSING, "reason": "EMR does not list it."}
    status = step["Status"]
    details = status.get("FailureDetails") or {}
    words = filter(
        None, (details.get("Reason", "").rstrip("."), details.get("Message"))
    )
    reason = ": ".join(words) or (status.get("StateChangeReason") or {}).get("Message")
    log = details.get("LogFile") or f"{log_folder}steps/{step['Id']}/stderr.gz"
    return {
        "name": name,
        "id": step["Id"],
        "state": status["State"],
        "reason": reason,
        "log": log,
        "submitted": created(step).isoformat(),
    }


def not_submitted(name: str, reason: str) -> dict[str, Any]:
    """Describe the end of a step that EMR never got."""
    return {"name": name, "state": NOT_SUBMITTED, "reason": reason}


def is_failed(end: Mapping[str, Any]) -> bool:
    """Return whether a step did not end as it should."""
    return bool(end["state"] != "COMPLETED")


def is_cancelled(end: Mapping[str, Any]) -> bool:
    """Return whether somebody ended the step, before it ran or while it did."""
    return end["state"] in ("CANCELLED", "INTERRUPTED")


def add_reason(end: dict[str, Any], more: Optional[str]) -> None:
    """Add a reason why a step failed, unless it has it already."""
    words = end["reason"] or ""
    if more and more not in words:
        end["reason"] = " ".join(filter(None, (words, more)))


def words_of(end: Mapping[str, Any]) -> str:
    """Describe how a step ended: which, how, why, and where its log is."""
    id = f" {end['id']}" if end.get("id") else ""
    log = f" Log: {end['log']}" if end.get("log") else ""
    reason = end.get("reason") or "no reason given."
    return f"step{id} {end['name']!r} {end['state']}: {reason}{log}"


def overdue(
    cluster: Mapping[str, Any], *, now: datetime, limit: timedelta, file: str
) -> Optional[str]:
    """Return why a cluster's start is overdue; None while it may yet start."""
    status = cluster["Status"]
    age = now - status["Timeline"]["CreationDateTime"]
    if status["State"] not in STARTING or age <= limit:
        return None
    said = (status.get("StateChangeReason") or {}).get("Message") or "nothing"
    minutes = int(limit.total_seconds()) // 60
    return (
        f"cluster {cluster['Id']} has been {status['State']} for "
        f"{int(age.total_seconds()) // 60} min, limit {minutes} ({file}: "
        f"start_minutes); EMR says: {said}"
    )


def end_of_cluster(cluster: Mapping[str, Any]) -> Optional[str]:
    """Return why a cluster has ended or is ending, in EMR's words; else None."""
    status = cluster["Status"]
    if status["State"] not in (*ENDING, *ENDED):
        return None
    reason = status.get("StateChangeReason") or {}
    words = [": ".join(filter(None, (reason.get("Code"), reason.get("Message"))))]
    for each in status.get("ErrorDetails") or ():
        words.append(f"{each.get('ErrorCode')}: {each.get('ErrorMessage')}")
    text = "; ".join(filter(None, words)) or "no reason given"
    return f"cluster {cluster['Id']} {status['State']}: {text}"
