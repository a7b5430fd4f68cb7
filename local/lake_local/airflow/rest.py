"""A client of Airflow's REST API: the calls that the command line needs."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote, urlencode

ACTIVE = ("queued", "running")
# Never through a proxy: the server is this machine.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class ApiError(Exception):
    """Airflow's REST API refused a request.

    It carries the status and Airflow's own text.

    Fix: Read Airflow's text after the status; `./run_locally.sh status` says whether
    Airflow still runs, and its log is in the state directory's logs/.
    """

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"Airflow's API answered {status}: {detail}")
        self.status = status
        self.detail = detail


class Airflow:
    """A signed-in client of one Airflow."""

    def __init__(self, url: str, *, user: str, password: str) -> None:
        self._url = url
        self._login = {"username": user, "password": password}
        self._token = ""

    def health(self) -> dict[str, str]:
        """Return the state of each component: `{"scheduler": "healthy", ...}`."""
        answer = self._call("GET", "/api/v2/monitor/health", signed=False)
        return {
            name: part.get("status") or "unknown"
            for name, part in answer.items()
            if isinstance(part, dict)
        }

    def dag(self, dag_id: str) -> dict[str, Any]:
        """Return one DAG. Raises ApiError 404 if Airflow does not know it (yet)."""
        return self._call("GET", f"/api/v2/dags/{_path(dag_id)}")

    def dag_ids(self) -> list[str]:
        """List every DAG that Airflow knows."""
        answer = self._call("GET", "/api/v2/dags?" + urlencode({"limit": 1000}))
        return [each["dag_id"] for each in answer["dags"]]

    def import_errors(self) -> list[tuple[str, str]]:
        """List (file, error) of every DAG file that cannot be imported."""
        answer = self._call("GET", "/api/v2/importErrors")
        return [
            (each["filename"], each["stack_trace"]) for each in answer["import_errors"]
        ]

    def trigger(self, dag_id: str, *, run_id: str, conf: dict[str, Any]) -> None:
        """Start a run. Raises ApiError 400 for params that the DAG refuses."""
        body = {"dag_run_id": run_id, "logical_date": None, "conf": conf}
        self._call("POST", f"/api/v2/dags/{_path(dag_id)}/dagRuns", body)

    def run(self, dag_id: str, run_id: str) -> dict[str, Any]:
        """Return one run with its state."""
        return self._call("GET", _run_path(dag_id, run_id))

    def tasks(self, dag_id: str, run_id: str) -> list[dict[str, Any]]:
        """List the task instances of a run, in the order of their start."""
        path = f"{_run_path(dag_id, run_id)}/taskInstances?limit=1000"
        found = self._call("GET", path)["task_instances"]
        return sorted(found, key=lambda each: each["start_date"] or "~")

    def active_runs(self) -> list[tuple[str, str]]:
        """List (DAG, run) of all runs that are queued or running."""
        query = urlencode([("state", state) for state in ACTIVE])
        answer = self._call("GET", f"/api/v2/dags/~/dagRuns?{query}&limit=1000")
        return [(each["dag_id"], each["dag_run_id"]) for each in answer["dag_runs"]]

    def backfill(self, dag_id: str, asked: dict[str, Any]) -> list[str]:
        """Create a backfill; return the logical dates of its runs, oldest first.

        Nothing is created if no interval is left to run. Raises ApiError for what
        Airflow refuses: 409 while the DAG has another one.
        """
        body = {"dag_id": dag_id, **asked}
        answer = self._call("POST", "/api/v2/backfills/dry_run", body)
        dates = sorted(each["logical_date"] for each in answer["backfills"])
        if dates:
            self._call("POST", "/api/v2/backfills", body)
        return dates

    def runs(self, dag_id: str) -> list[dict[str, Any]]:
        """List every run of a DAG, each with its state and what started it."""
        path = f"/api/v2/dags/{_path(dag_id)}/dagRuns?limit=1000"
        runs: list[dict[str, Any]] = self._call("GET", path)["dag_runs"]
        return runs

    def runs_at(self, dag_id: str, dates: list[str]) -> dict[str, str]:
        """Return the ids of the runs of these logical dates, by date."""
        query = {"logical_date_gte": dates[0], "logical_date_lte": dates[-1]}
        path = f"/api/v2/dags/{_path(dag_id)}/dagRuns?{urlencode(query)}&limit=1000"
        found = self._call("GET", path)["dag_runs"]
        return {each["logical_date"]: each["dag_run_id"] for each in found}

    def fail(self, dag_id: str, run_id: str) -> None:
        """Mark a run failed: its running tasks end, its teardown still runs."""
        self._call("PATCH", _run_path(dag_id, run_id), {"state": "failed"})

    def fail_task(self, dag_id: str, run_id: str, task_id: str) -> None:
        """Mark one task of a run failed, whatever it waits for."""
        path = f"{_run_path(dag_id, run_id)}/taskInstances/{_path(task_id)}"
        self._call("PATCH", path, {"new_state": "failed"})

    def clear_task(self, dag_id: str, run_id: str, task_id: str) -> None:
        """Clear one task of a run in any state, as in Airflow's pages."""
        body = {
            "dag_run_id": run_id,
            "task_ids": [task_id],
            "only_failed": False,
            "dry_run": False,
        }
        self._call("POST", f"/api/v2/dags/{_path(dag_id)}/clearTaskInstances", body)

    def _call(
        self, method: str, path: str, body: Any = None, *, signed: bool = True
    ) -> dict[str, Any]:
        try:
            return self._send(method, path, body, signed=signed)
        except ApiError as error:
            if error.status != 401 or not signed or not self._token:
                raise
        self._token = ""  # It has run out: sign in again, once.
        return self._send(method, path, body, signed=signed)

    def _send(
        self, method: str, path: str, body: Any, *, signed: bool
    ) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        if signed:
            headers["Authorization"] = f"Bearer {self._signed_in()}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._url + path, data=data, headers=headers, method=method
        )
        try:
            with _OPENER.open(request, timeout=30) as response:
                reply: dict[str, Any] = json.loads(response.read() or b"{}")
                return reply
        except urllib.error.HTTPError as error:
            raise ApiError(error.code, _detail(error.read())) from None

    def _signed_in(self) -> str:
        if not self._token:
            answer = self._send("POST", "/auth/token", self._login, signed=False)
            self._token = answer["access_token"]
        return self._token


def _path(part: str) -> str:
    return quote(part, safe="")


def _run_path(dag_id: str, run_id: str) -> str:
    return f"/api/v2/dags/{_path(dag_id)}/dagRuns/{_path(run_id)}"


def _detail(body: bytes) -> str:
    try:
        detail = json.loads(body)["detail"]
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")[:300]
    return detail if isinstance(detail, str) else json.dumps(detail)
