"""How a cluster's steps stand and ended, from what EMR says about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Optional

from lake_airflow.cluster import ENDED, ENDING

ALIVE = ("PENDING", "CANCEL_PENDING", "RUNNING")
MISSING = "MISSING"


def newest_by_name(steps: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The newest step of each name; EMR lists the newest first."""
    found: dict[str, Mapping[str, Any]] = {}
    for step in steps:
        found.setdefault(step["Name"], step)
    return found


def is_alive(step: Optional[Mapping[str, Any]]) -> bool:
    """Whether the step may still do something."""
    return step is not None and step["Status"]["State"] in ALIVE


def created(step: Mapping[str, Any]) -> datetime:
    """When the step was handed to the cluster."""
    return step["Status"]["Timeline"]["CreationDateTime"]


def end_of_step(
    name: str, step: Optional[Mapping[str, Any]], *, log_folder: str
) -> dict[str, Any]:
    """How a step ended, as the summary tells it; `log_folder` is the cluster's."""
    if step is None:
        return {"name": name, "state": MISSING, "reason": "EMR does not list it."}
    status = step["Status"]
    details = status.get("FailureDetails") or {}
    told = filter(None, (details.get("Reason", "").rstrip("."), details.get("Message")))
    reason = ": ".join(told) or (status.get("StateChangeReason") or {}).get("Message")
    log = details.get("LogFile") or f"{log_folder}steps/{step['Id']}/stderr.gz"
    return {
        "name": name,
        "id": step["Id"],
        "state": status["State"],
        "reason": reason,
        "log": log,
    }


def end_of_cluster(cluster: Mapping[str, Any]) -> Optional[str]:
    """Why a cluster is gone or going, in EMR's words; None while it lives."""
    status = cluster["Status"]
    if status["State"] not in (*ENDING, *ENDED):
        return None
    reason = status.get("StateChangeReason") or {}
    text = reason.get("Message") or reason.get("Code") or "no reason given"
    return f"cluster {cluster['Id']} {status['State']}: {text}"
