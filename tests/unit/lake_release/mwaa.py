"""MWAA as boto3's client sees it: requests are checked by AWS's model, replies are ours."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Dict, List, Optional

import boto3


class Mwaa:
    """An environment that is updated in one look, and an Airflow behind its REST API."""

    def __init__(self, region: str) -> None:
        self.there: Optional[Dict[str, Any]] = {"Status": "AVAILABLE"}
        self.updates: List[Dict[str, Any]] = []
        self.update_fails = False
        self.shows: List[str] = []
        self.paused = False
        self.is_busy = False
        self.errors = 0  # answers with errors of its own that are to come
        self.run_state = "success"
        self.runs: List[Dict[str, Any]] = []
        self.client = boto3.client("mwaa", region_name=region)
        events = self.client.meta.events
        events.register("before-call.mwaa.GetEnvironment", self._get)
        events.register("before-call.mwaa.UpdateEnvironment", self._update)
        events.register("before-call.mwaa.InvokeRestApi", self._rest)
        events.register("provide-client-params.mwaa.*", self._note)
        self._asked: Dict[str, Any] = {}

    def _note(self, params, **_) -> None:
        self._asked = params

    def _get(self, **_) -> tuple:
        if self.there is None:
            error = {"Code": "ResourceNotFoundException", "Message": "not there"}
            return SimpleNamespace(status_code=404), {"Error": error}
        found = dict(self.there)
        if self.there["Status"] == "UPDATING":
            status = "FAILED" if self.update_fails else "SUCCESS"
            self.there["Status"] = "AVAILABLE"
            self.there["LastUpdate"] = {
                "Status": status,
                "Error": {"ErrorMessage": "no such package"},
            }
        return SimpleNamespace(status_code=200), {"Environment": found}

    def _update(self, **_) -> tuple:
        self.updates.append(dict(self._asked))
        if not self.update_fails:
            self.there.update(self._asked)
        self.there["Status"] = "UPDATING"
        return SimpleNamespace(status_code=200), {"Arn": "arn"}

    def _rest(self, **_) -> tuple:
        method, path = self._asked["Method"], self._asked["Path"]
        if path == "/dags":
            ids = [] if self.paused else ["moma_full_load", "moma_incremental"]
            found: Any = {"dags": [{"dag_id": each} for each in ids]}
        elif method == "POST":
            self.runs.append(self._asked["Body"])
            found = {}
        elif path.endswith("/dagRuns"):
            found = {"dag_runs": [{"state": "running"}] if self.is_busy else []}
        elif self.errors:
            self.errors -= 1
            error = {"Code": "RestApiServerException", "Message": "bad gateway"}
            return SimpleNamespace(status_code=502), {"Error": error}
        elif path.endswith("/xcomEntries/release"):
            shown = self.shows.pop(0) if len(self.shows) > 1 else self.shows[0]
            found = {"value": shown}
        else:
            found = {"state": self.run_state}
        return SimpleNamespace(status_code=200), {
            "RestApiStatusCode": 200,
            "RestApiResponse": found,
        }
