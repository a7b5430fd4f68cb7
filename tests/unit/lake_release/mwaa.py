"""MWAA as boto3's client sees it: requests are checked by AWS's model, replies are ours."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Callable, Dict, List, Optional

import boto3

from lake_spec.layout.dag_names import PROOF

from tests.unit.lake_release.buckets import BUCKET

OTHERS = "scheduled__1"  # the run that keeps a DAG busy


class Mwaa:
    """An environment that is updated in one look, and an Airflow behind its REST API."""

    def __init__(self, region: str) -> None:
        self.there: Optional[Dict[str, Any]] = {
            "Status": "AVAILABLE",
            "SourceBucketArn": f"arn:aws:s3:::{BUCKET}",
            "DagS3Path": "dags",
        }
        self.updates: List[Dict[str, Any]] = []
        self.update_fails = False
        self.shows: List[str] = []
        self.knows_proof = True
        self.paused = False
        self.busy: Dict[str, str] = {}  # the state of a run that others have of a DAG
        self.busy_since: Optional[str] = None
        self.errors = 0  # answers with errors of its own that are to come
        self.run_state = "success"
        self.runs: List[Dict[str, Any]] = []
        self.folder = "/usr/local/airflow/dags"  # of the DAG files that are ours
        self.dags: Dict[str, Dict[str, Any]] = {}  # others that Airflow knows, by id
        self.is_gone: Callable[[str], bool] = lambda file: False
        self.asked: List[tuple] = []  # method and path of each request to Airflow
        self.fails: Callable[[str, str], Optional[tuple]] = lambda method, path: None
        """The status and code of an error that a request meets, if it meets one.

        The code `ReplyLost`: it was done, and met itself when it was sent again.
        """
        self.client = boto3.client("mwaa", region_name=region)
        events = self.client.meta.events
        events.register("before-call.mwaa.GetEnvironment", self._get)
        events.register("before-call.mwaa.UpdateEnvironment", self._update)
        events.register("before-call.mwaa.InvokeRestApi", self._rest)
        events.register("provide-client-params.mwaa.*", self._note)
        self._asked: Dict[str, Any] = {}

    def ends_credentials(self, after: str = "") -> None:
        """Let nothing be answered any more, from the first request of that method on."""
        self.fails = lambda method, path: (
            (400, "ExpiredTokenException")
            if not after or any(each[0] == after for each in self.asked)
            else None
        )

    def begins_at(self, request: str, **states: str) -> None:
        """Let runs of these DAGs, in these states, begin with the first such request."""

        def begin(method: str, path: str) -> None:
            if method == request:
                self.busy.update(states)

        self.fails = begin

    def _note(self, params, **_) -> None:
        self._asked = params

    def _get(self, **_) -> tuple:
        if error := self.fails("GetEnvironment", ""):
            return _error(*error)
        if self.there is None:
            return _error(404, "ResourceNotFoundException")
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
        error = self.fails("UpdateEnvironment", "")
        if error and error[1] != "ReplyLost":
            return _error(*error)
        self.updates.append(dict(self._asked))
        if not self.update_fails:
            self.there.update(self._asked)
        self.there["Status"] = "UPDATING"
        if error:
            return _error(400, "ValidationException")  # what the second one meets
        return SimpleNamespace(status_code=200), {"Arn": "arn"}

    def _rest(self, **_) -> tuple:
        method, path = self._asked["Method"], self._asked["Path"]
        self.asked.append((method, path))
        error = self.fails(method, path)
        if error and error[1] != "ReplyLost":
            return _error(*error)
        _, _, dag, *rest = [*path.split("/"), ""][:4]
        found: Any = {}
        unknown = dag not in self.dags and not rest[0] and dag != PROOF
        if unknown or (dag == PROOF and not self.knows_proof):
            return _error(400, "RestApiClientException", 404)
        if not rest[0]:
            found = self._dag(method, dag)
        elif method == "POST":
            self.runs.append(self._asked["Body"])
            if error:  # what the second one meets
                return _error(400, "RestApiClientException", 409)
        elif method == "DELETE":
            pass
        elif path.endswith("/dagRuns"):
            found = {"dag_runs": self._active(dag)}
        elif self.errors:
            self.errors -= 1
            return _error(502, "RestApiServerException")
        elif path.endswith("/xcomEntries/release"):
            shown = self.shows.pop(0) if len(self.shows) > 1 else self.shows[0]
            found = {"value": shown}
        else:
            found = {"state": self.run_state}
        return SimpleNamespace(status_code=200), {
            "RestApiStatusCode": 200,
            "RestApiResponse": found,
        }

    def _dag(self, method: str, dag: str) -> Dict[str, Any]:
        """Give a DAG, which a request may pause or delete."""
        body = self._asked.get("Body", {})
        if dag == PROOF:
            self.paused = body.get("is_paused", self.paused)
            self.knows_proof = method != "DELETE"
            file = f"{self.folder}/{PROOF}.py"
            found = {"dag_id": PROOF, "is_paused": self.paused, "fileloc": file}
        else:
            found = self.dags[dag]
            found.update(body)
            if method == "DELETE":
                del self.dags[dag]
        return {**found, "is_stale": self.is_gone(found["fileloc"])}

    def _active(self, dag: str) -> List[Dict[str, str]]:
        state = self.busy.get(dag)
        is_asked = state and state == self._asked["QueryParameters"]["state"]
        since = {"running": "start_date", "queued": "queued_at"}.get(state, "")
        run = {"state": state, "dag_run_id": OTHERS, since: self.busy_since}
        return [run] if is_asked else []


def _error(status: int, code: str, of_airflow: int = 0) -> tuple:
    more = {"RestApiStatusCode": of_airflow} if of_airflow else {}
    message = {"RestApiServerException": "bad gateway"}.get(code, "not there")
    error = {"Code": code, "Message": message}
    return SimpleNamespace(status_code=status), {"Error": error, **more}
