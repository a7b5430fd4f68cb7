"""MWAA: which files an environment installs, its update, and a run that proves it.

`airflow` of the constructor is boto3's client of MWAA. All waiting is said, and bounded.
"""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, Iterator, Optional

from lake_release.airflow_files import PLUGINS, REQUIREMENTS, STARTUP
from lake_release.errors import ReleaseError
from lake_release.pointer import AirflowFile

SETTINGS = {
    REQUIREMENTS: ("RequirementsS3Path", "RequirementsS3ObjectVersion"),
    STARTUP: ("StartupScriptS3Path", "StartupScriptS3ObjectVersion"),
    PLUGINS: ("PluginsS3Path", "PluginsS3ObjectVersion"),
}
"""Where an environment names a file, and its version."""

PARAMETERS = {
    REQUIREMENTS: "RequirementsVersion",
    STARTUP: "StartupVersion",
    PLUGINS: "PluginsVersion",
}
"""The same, as the layer mwaa of the templates takes them."""

EVERY, UPDATE_LIMIT, SMOKE_LIMIT = 30, 90 * 60, 20 * 60  # seconds
TRIES = 3  # looks at an Airflow that answers with its own errors
_WORKING = ("CREATING", "UPDATING", "PENDING", "MAINTENANCE", "ROLLING_BACK")
_RELEASE = "release"  # of the first task: what it runs as, also where it refuses to


class Airflow:
    """The Airflow of an environment."""

    def __init__(
        self, airflow: Any, name: str, *, say: Callable[[str], None] = print
    ) -> None:
        self._airflow = airflow
        self._name = name
        self._say = say

    def missing(self, files: Dict[str, AirflowFile]) -> Optional[str]:
        """How to make an Airflow that is not there yet; None where it is."""
        if self._described() is not None:
            return None
        return f"{self._name} is not there yet. Make it with these: {words(files)}"

    def install(self, files: Dict[str, AirflowFile]) -> bool:
        """Let it install these versions and wait; False where it has them already."""
        wanted = dict(_settings(files))
        there = self._settled()
        if all(there.get(setting) == value for setting, value in wanted.items()):
            return False
        self._airflow.update_environment(Name=self._name, **wanted)
        self._say(f"{self._name} is being updated")
        there = self._settled()
        status = there.get("LastUpdate", {}).get("Status")
        if there["Status"] != "AVAILABLE" or status not in (None, "SUCCESS"):
            error = there.get("LastUpdate", {}).get("Error", {})
            raise ReleaseError(
                f"{self._name} is {there['Status']}, its update {status}:"
                f" {error.get('ErrorMessage', 'no message')}. The release before is the"
                " current one still."
            )
        return True

    def smoke(self, release: str) -> Optional[str]:
        """A run that only plans, as this release; why there was none, if there was none.

        Raises ReleaseError where it fails, or where Airflow does not show the release in time.
        """
        dags = list(self._dags_that_run())
        if not dags:
            return "no DAG <domain>_incremental is unpaused, so nothing was tried"
        dag = next(filter(self._is_idle, dags), None)
        if dag is None:
            return f"{', '.join(dags)}: each has a run under way, so nothing was tried"
        looks = _looks(SMOKE_LIMIT)
        self._say("waiting for Airflow to show the release")
        for nth in looks:
            run_id = f"release-{release}-{int(time.time())}-{nth}"
            state, shown = self._plan(dag, run_id, looks)
            if shown == release and state == "success":
                self._say(f"{dag} planned as release {release}")
                return None
            if shown == release:
                raise ReleaseError(
                    f"{dag}: the run {run_id}, which only plans, {state}."
                )
        raise ReleaseError(
            f"Airflow does not show release {release} after {SMOKE_LIMIT // 60} minutes;"
            f" {dag} ran as {shown}, its last run {state}. Look at its import errors."
        )

    def _is_idle(self, dag: str) -> bool:
        """Whether a run would begin at once: one at a time works."""
        asked = {"limit": 1, "state": "running"}
        runs = self._rest("GET", f"/dags/{dag}/dagRuns", QueryParameters=asked)
        return not runs["dag_runs"]

    def _plan(self, dag: str, run_id: str, looks: Iterator[int]) -> tuple:
        body = {"dag_run_id": run_id, "logical_date": None, "conf": {"plan_only": True}}
        self._rest("POST", f"/dags/{dag}/dagRuns", Body=body)
        run = f"/dags/{dag}/dagRuns/{run_id}"
        for _ in looks:
            state = self._rest("GET", run)["state"]
            if state in ("success", "failed"):
                return state, self._release_of(run)
        return "not done", None

    def _release_of(self, run: str) -> Optional[str]:
        """The release that a run's first task noted."""
        entry = f"{run}/taskInstances/create_cluster/xcomEntries/{_RELEASE}"
        try:
            value = self._rest("GET", entry).get("value")
        except ReleaseError:
            return None
        return value.strip('"') if isinstance(value, str) else None

    def _dags_that_run(self) -> Iterator[str]:
        asked = {"limit": 1000, "paused": False}
        found = self._rest("GET", "/dags", QueryParameters=asked)["dags"]
        ids = sorted(each["dag_id"] for each in found)
        return (each for each in ids if each.endswith("_incremental"))

    def _rest(self, method: str, path: str, **more: Any) -> Dict[str, Any]:
        """What Airflow says; a look that it fails to answer is repeated."""
        failures = self._airflow.exceptions
        for tries_left in reversed(range(TRIES if method == "GET" else 1)):
            try:
                reply = self._airflow.invoke_rest_api(
                    Name=self._name, Method=method, Path=path, **more
                )
                return reply["RestApiResponse"]
            except failures.RestApiClientException as error:
                words = f"Airflow refused {method} {path}: {error}"
                raise ReleaseError(words) from None
            except failures.RestApiServerException as error:
                if not tries_left:
                    words = f"Airflow did not answer {method} {path}: {error}"
                    raise ReleaseError(words) from None
                time.sleep(EVERY)
        raise AssertionError("the last try returns or raises")

    def _settled(self) -> Dict[str, Any]:
        """The environment, once nothing is being done to it."""
        for _ in _looks(UPDATE_LIMIT):
            there = self._described() or {"Status": "missing"}
            if not there["Status"].startswith(_WORKING):
                return there
        raise ReleaseError(
            f"{self._name} is {there['Status']} after {UPDATE_LIMIT // 60} minutes. The"
            " release before is the current one still; deploy again when it is done."
        )

    def _described(self) -> Optional[Dict[str, Any]]:
        try:
            return self._airflow.get_environment(Name=self._name)["Environment"]
        except self._airflow.exceptions.ResourceNotFoundException:
            return None


def _looks(limit: int) -> Iterator[int]:
    """Looks at what is awaited, each with a pause after it, for so many seconds."""
    for nth in range(limit // EVERY):
        yield nth
        time.sleep(EVERY)


def words(files: Dict[str, AirflowFile]) -> str:
    """The versions of the files, as parameters of the layer mwaa."""
    return " ".join(
        f"{PARAMETERS[name]}={file.version}" for name, file in sorted(files.items())
    )


def _settings(files: Dict[str, AirflowFile]) -> Iterator[tuple]:
    for name, file in files.items():
        path, version = SETTINGS[name]
        yield path, name
        if file.version:
            yield version, file.version
