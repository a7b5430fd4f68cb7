"""The emulator's own pages below /_lake: health, ledger, faults, policies."""

from __future__ import annotations

import json
import os
import time
from typing import Any, Callable, Iterable, Optional
from urllib.parse import parse_qsl

from lake_emulator.call import Call
from lake_emulator.emr import instances
from lake_emulator.emr.describe import timestamp
from lake_emulator.emr.errors import EmrError
from lake_emulator.emr.models import Cluster
from lake_emulator.emr.service import LocalEmr
from lake_emulator.faults import FaultError, Faults
from lake_emulator.policies.enforcer import PolicyEnforcer
from lake_emulator.s3.request import Reply

PAGES = "/_lake/"
Page = Callable[[dict[str, Any]], Any]
START_MINUTES = 9.0
"""Minutes that a cluster on EMR takes until its first step; here it does not wait."""


class Admin:
    """Answers in JSON; status 400 with the error of a request."""

    def __init__(
        self, emr: LocalEmr, faults: Faults, enforcer: PolicyEnforcer, *, state_dir: str
    ) -> None:
        self._emr = emr
        self._faults = faults
        self._enforcer = enforcer
        self._state_dir = state_dir
        self._pages: dict[tuple[str, str], Page] = {
            ("GET", "health"): self._health,
            ("GET", "ledger"): self._ledger,
            ("GET", "faults"): lambda environ: self._faults.waiting(),
            ("POST", "faults"): self._add_fault,
            ("DELETE", "faults"): lambda environ: self._faults.clear(),
            ("PUT", "policies"): self._replace_policies,
            ("DELETE", "policies"): lambda environ: self._enforcer.replace(None),
        }

    def answer(self, call: Call) -> Optional[Reply]:
        """Answer a request for a page of the emulator; None for any other."""
        if not call.path.startswith(PAGES):
            return None
        name = call.path[len(PAGES) :].strip("/")
        page = self._pages.get((call.method, name))
        if page is None:
            pages = ", ".join(f"{method} {path}" for method, path in self._pages)
            return _json(404, {"error": f"no such page. Pages: {pages}"})
        try:
            return _json(200, page(call.environ))
        except (FaultError, EmrError, ValueError, TypeError) as problem:
            return _json(400, {"error": str(problem)})

    def _health(self, environ: dict[str, Any]) -> dict[str, Any]:
        clusters = self._emr.clusters()
        return {
            "status": "ok",
            "pid": os.getpid(),
            "home": self._state_dir,
            "clusters_alive": [c.id for c in clusters if not c.over],
            "judges_calls": self._enforcer.is_on,
        }

    def _ledger(self, environ: dict[str, Any]) -> dict[str, Any]:
        query = dict(parse_qsl(environ.get("QUERY_STRING", "")))
        minutes = float(query.get("start_minutes", START_MINUTES))
        return _ledger(self._emr.clusters(), minutes)

    def _add_fault(self, environ: dict[str, Any]) -> dict[str, Any]:
        asked = _body(environ)
        if asked.get("kind") == "cluster_dies":
            self._emr.lose_cluster(asked.get("cluster", ""))
            return {"done": asked}
        self._faults.add(asked)
        return {"waiting": self._faults.waiting()}

    def _replace_policies(self, environ: dict[str, Any]) -> dict[str, Any]:
        self._enforcer.replace(_body(environ))
        return {"judges_calls": True}


def _body(environ: dict[str, Any]) -> Any:
    length = int(environ.get("CONTENT_LENGTH") or 0)
    return json.loads(environ["wsgi.input"].read(length) or b"{}")


def _ledger(clusters: Iterable[Cluster], start_minutes: float) -> dict[str, Any]:
    """Return what clusters would have cost, in minutes: one entry per cluster, and the sums."""
    entries = [_entry(cluster, start_minutes) for cluster in clusters]
    return {
        "start_minutes": start_minutes,
        "cluster_minutes": round(sum(entry["minutes"] for entry in entries), 3),
        "instance_minutes": round(
            sum(entry["minutes"] * entry["instances"] for entry in entries), 3
        ),
        "clusters": entries,
    }


def _entry(cluster: Cluster, start_minutes: float) -> dict[str, Any]:
    lived = (cluster.ended or time.time()) - cluster.created
    created = timestamp(cluster.created)
    return {
        "id": cluster.id,
        "name": cluster.name,
        "tags": cluster.tags,
        "state": cluster.state,
        "created": created.isoformat() if created else None,
        "steps": len(cluster.steps),
        "instances": len(instances.instances(cluster)),
        "run_seconds": round(lived, 3),
        "minutes": round(start_minutes + lived / 60, 3),
    }


def _json(status: int, value: Any) -> Reply:
    body = json.dumps(value, indent=1).encode() + b"\n"
    return Reply(status, {"content-type": "application/json"}, body)
