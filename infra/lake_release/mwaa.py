"""MWAA: which files an environment installs, its update, and a run that proves it.

`airflow` of the constructor is boto3's client of MWAA. All waiting is said, and bounded:
each kind of it, and all of it together by `minutes`, so that it ends before the
credentials do.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any, Callable, Collection, Dict, Iterator, List, Optional, Tuple

from botocore.exceptions import ClientError

from lake_release.airflow_files import PLUGINS, REQUIREMENTS, STARTUP
from lake_release.errors import (
    AWS_ERRORS,
    CredentialsEnded,
    NotTried,
    ReleaseError,
    answer_of,
    as_release_error,
)
from lake_release.pointer import AirflowFile
from lake_release.target import Target
from lake_spec.layout.dag_names import PROOF, PROOF_TASK, RELEASE_NOTE

SETTINGS = {
    REQUIREMENTS: ("RequirementsS3Path", "RequirementsS3ObjectVersion"),
    STARTUP: ("StartupScriptS3Path", "StartupScriptS3ObjectVersion"),
    PLUGINS: ("PluginsS3Path", "PluginsS3ObjectVersion"),
}
"""Settings of an environment for a file and its version."""

PARAMETERS = {
    REQUIREMENTS: "RequirementsVersion",
    STARTUP: "StartupVersion",
    PLUGINS: "PluginsVersion",
}
"""The same, as the layer mwaa of the templates takes them."""

REPLACE_WORKERS = "GRACEFUL"
"""How an update replaces workers: running tasks end first. MWAA's default kills them."""

EVERY, UPDATE_LIMIT, SMOKE_LIMIT = 30, 90 * 60, 20 * 60  # seconds
QUEUED_LOOKS = 6
"""Looks after which a run that has not ended says nothing about the release before."""

MINUTES = 210
"""Of all waiting together: an update that is under way, one of ours, and the proof."""

TRIES = 3  # looks at an Airflow that answers with its own errors
PAGE = 100  # DAGs in one answer; Airflow gives no more
_WORKING = ("CREATING", "UPDATING", "PENDING", "MAINTENANCE", "ROLLING_BACK")
_ACTIVE = {"running": "start_date", "queued": "queued_at"}
"""The states of a run that is not over, and where it says since when it is so."""
_OVER = ("success", "failed")
_PARSES = ("dag_processor.min_file_process_interval", 30)
_STALE = ("dag_processor.stale_dag_threshold", 50)
"""Options of an environment, and Airflow's defaults, in seconds."""
_LONGEST = 300  # characters of an answer of Airflow's
_CONFLICT, _NOT_FOUND = 409, 404


class Refused(NotTried):
    """Airflow's REST API on MWAA refused a request.

    It carries the status of HTTP.

    Fix: Check that the deploy role may call the API (docs/deploy.md) and that the DAG
    exists and is not paused; then run the command again.
    """

    def __init__(self, words: str, status: int) -> None:
        super().__init__(words)
        self.status = status


class Airflow:
    """The Airflow of an environment."""

    def __init__(
        self,
        airflow: Any,
        name: str,
        *,
        minutes: float = MINUTES,
        say: Callable[[str], None] = print,
    ) -> None:
        self._airflow = airflow
        self._name = name
        self._say = say
        self._minutes = minutes
        self._end = time.monotonic() + minutes * 60

    def missing(self, files: Dict[str, AirflowFile]) -> Optional[str]:
        """Describe how to create an Airflow that does not exist yet; None if it
        does."""
        if self._described() is not None:
            return None
        return f"{self._name} does not exist yet. Create it with these: {words(files)}"

    def described(self) -> Dict[str, Any]:
        """Return the environment as MWAA describes it. Raises ReleaseError for none."""
        there = self._described()
        if there is None:
            raise ReleaseError(
                f"{self._name}: there is no MWAA environment of that name in this "
                "account and region. Correct `airflow` of the environment's file."
            )
        return there

    def check_reads(self, target: Target) -> None:
        """Raise ReleaseError where the environment, if there is one, takes its DAGs and
        what it installs from elsewhere: then it is not this deployment's. What others
        install in a shared one is theirs to place."""
        there = self._described()
        if there is None:
            return
        installs = () if target.is_shared else SETTINGS
        wanted = {
            "SourceBucketArn": f"arn:aws:s3:::{target.dags_bucket}",
            "DagS3Path": target.dags.rstrip("/"),
            **{SETTINGS[name][0]: name for name in installs if _has_path(there, name)},
        }
        wrong = [
            f"{setting} is {there.get(setting)}, not {value}"
            for setting, value in wanted.items()
            if _path(there.get(setting)) != _path(value)
        ]
        if wrong and target.is_shared:
            raise ReleaseError(
                f"{self._name} reads other places than `airflow` of environments/"
                f"{target.environment}.yml says: {'; '.join(wrong)}. Correct the file; "
                "nothing was written."
            )
        if wrong:
            raise ReleaseError(
                f"{self._name} reads other places than this deploy writes: "
                f"{'; '.join(wrong)}. It may be another team's, whose DAGs would stop; "
                "nothing was written. Name the bucket that it reads by --dags-bucket, or "
                "give the environment of this deploy another name, whose Airflow is "
                "lake-<name>."
            )

    def goes_stale(self) -> Optional[str]:
        """Describe settings with which DAGs vanish after a callback; None without.

        Airflow 3.0 takes the end of a callback for that of parsing: DAGs that were
        parsed longer before than `stale_dag_threshold` are gone until they are parsed
        again, and their runs stand still. Later versions do not.
        """
        there = self._described() or {}
        if not str(there.get("AirflowVersion", "")).startswith("3.0."):
            return None
        options = there.get("AirflowConfigurationOptions", {})
        every, limit = (_seconds(options, *each) for each in (_PARSES, _STALE))
        if every is None or limit is None or limit > every:
            return None
        return (
            f"{self._name} parses its DAGs every {every} s ({_PARSES[0]}) and takes those "
            f"that were not parsed for {limit} s as gone ({_STALE[0]}): in Airflow 3.0 all "
            "DAGs of a domain, and their runs, stand still after each failed run, until "
            f"the next parsing. Set {_STALE[0]} to {2 * every} in the environment's "
            "configuration options."
        )

    def has(self, file: str) -> bool:
        """Return whether the environment installs a file of that name, of any
        version."""
        return _has_path(self._described() or {}, file)

    def install(self, files: Dict[str, AirflowFile]) -> bool:
        """Install these versions and wait; return False if it has them already."""
        wanted = dict(_settings(files))
        there = self._settled()
        if _is_set(there, wanted):
            return False
        refusal = self._update(wanted)
        self._say(f"{self._name} is being updated")
        there = self._settled()
        if refusal and not _is_set(there, wanted):
            raise refusal
        status = there.get("LastUpdate", {}).get("Status")
        if there["Status"] != "AVAILABLE" or status not in (None, "SUCCESS"):
            error = there.get("LastUpdate", {}).get("Error", {})
            raise ReleaseError(
                f"{self._name} is {there['Status']}, its update {status}: "
                f"{error.get('ErrorMessage', 'no message')}. The previous release is "
                "still the current one."
            )
        return True

    def _update(self, wanted: Dict[str, str]) -> Optional[ReleaseError]:
        """Request the update; return the error of a reply that may have been lost."""
        try:
            self._airflow.update_environment(
                Name=self._name, WorkerReplacementStrategy=REPLACE_WORKERS, **wanted
            )
        except AWS_ERRORS as error:
            refusal = as_release_error(error, f"UpdateEnvironment of {self._name}")
            there = self._described() or {}
            if not there.get("Status", "").startswith(_WORKING):
                raise refusal from None
            return refusal
        return None

    def check_time(self) -> None:
        """Raise ReleaseError where too little is left of all time to try a release."""
        left = (self._end - time.monotonic()) / 60
        if left * 60 < SMOKE_LIMIT:
            raise ReleaseError(
                f"{left:.0f} of {self._minutes:g} minutes are left, too few to try "
                f"the release, which takes up to {SMOKE_LIMIT // 60}. The previous "
                "release is still the current one. Deploy again: finished work is not "
                "repeated."
            )

    def active_runs(self, dag: str) -> List[str]:
        """List the unfinished runs of a DAG, each by its id, its state and how long it
        has been so; empty for an unknown DAG."""
        found: Dict[str, str] = {}
        for state, since in _ACTIVE.items():
            asked = {"limit": PAGE, "state": state}
            try:
                runs = self._rest("GET", f"/dags/{dag}/dagRuns", QueryParameters=asked)
            except Refused as refusal:
                if refusal.status != _NOT_FOUND:
                    raise
                return []
            for each in runs["dag_runs"]:
                run_id = str(each.get("dag_run_id", "of unknown id"))
                found[run_id] = f"{run_id}, {state}{_age(each.get(since))}"
        return list(found.values())

    def dag(self, dag: str) -> Optional[Dict[str, Any]]:
        """Return what Airflow knows of a DAG; None of one that it does not know."""
        try:
            return self._rest("GET", f"/dags/{dag}")
        except Refused as refusal:
            if refusal.status != _NOT_FOUND:
                raise
            return None

    def pause(self, dag: str, is_paused: bool) -> None:
        """Pause a DAG, or let it go on."""
        body = {"is_paused": is_paused}
        self._rest("PATCH", f"/dags/{dag}", Body=body)

    def forget(self, dags: Collection[str]) -> List[str]:
        """Delete these DAGs, with their runs, from Airflow's database as soon as their
        files are gone; return those that stay."""
        left = sorted(dags)
        for _ in self._looks(SMOKE_LIMIT):
            left = [dag for dag in left if not self._forgets(dag)]
            if not left:
                break
        return left

    def _forgets(self, dag: str) -> bool:
        """Return whether Airflow has no such DAG any more."""
        there = self.dag(dag)
        if there is None:
            return True
        if there.get("is_stale"):
            try:
                self._rest("DELETE", f"/dags/{dag}")
                return True
            except Refused as refusal:
                return refusal.status == _NOT_FOUND
        return False

    def smoke(self, release: str) -> None:
        """Prove a release by a run of the DAG that has no other work.

        Raises NotTried where no run could show it, CredentialsEnded where no call could
        look, and ReleaseError where a run fails or Airflow does not show it in time.
        """
        self._say("waiting for Airflow to show the release")
        shown = ended = state = run = None
        begun = nth = 0
        for nth in self._looks(SMOKE_LIMIT):
            if run is None:
                run, begun, state = self._start(release, nth), nth, "queued"
                continue
            state = self._rest("GET", run)["state"]
            if state in _OVER:
                shown, ended = self._release_of(run), state
                if shown == release:
                    return self._tell(run, state, release)
                run = None
        if run:
            others = self._take_away(run, state)
            if ended is None or nth - begun >= QUEUED_LOOKS:
                raise NotTried(
                    f"{_words(run)} was still {state} after {_minutes(nth - begun)} "
                    f"minutes{others}, so nothing was proven"
                )
        raise ReleaseError(
            f"Airflow does not show release {release} after {_minutes(nth)} minutes;"
            f" {PROOF} ran as {shown}, its last run {ended}. Look at its import errors."
        )

    def _tell(self, run: str, state: str, release: str) -> None:
        """Report that a run proved the release, or raise ReleaseError if it failed."""
        if state != "success":
            raise ReleaseError(
                f"{_words(run)}, whose log of the task {PROOF_TASK} says why, {state}."
            )
        self._say(f"{PROOF} proved release {release}")

    def _take_away(self, run: str, state: Optional[str]) -> str:
        """Delete this deploy's queued run; describe what is beside it."""
        if state != "queued":
            return ""
        ours = run.rsplit("/", 1)[-1]
        others = [
            each for each in self.active_runs(PROOF) if not each.startswith(f"{ours}, ")
        ]
        beside = f" beside {'; '.join(others)}" if others else ""
        return beside + (" and was deleted" if self._delete(run) else "")

    def _start(self, release: str, nth: int) -> Optional[str]:
        """Start a run that proves the release; return its path, None while Airflow does
        not know the DAG. Raises NotTried where it is paused."""
        try:
            if self._rest("GET", f"/dags/{PROOF}").get("is_paused"):
                raise NotTried(
                    f"{PROOF} is paused, so nothing was tried. Unpause it: it has no "
                    "schedule, and its runs create nothing"
                )
            run_id = f"release-{release}-{int(time.time())}-{nth}"
            body = {"dag_run_id": run_id, "logical_date": None}
            self._rest("POST", f"/dags/{PROOF}/dagRuns", Body=body)
        except Refused as refusal:
            if refusal.status == _NOT_FOUND:
                return None
            if refusal.status != _CONFLICT:  # of this id: its first reply was lost
                raise
        return f"/dags/{PROOF}/dagRuns/{run_id}"

    def _delete(self, run: str) -> bool:
        """Delete a queued run; return False if it began meanwhile, or stays."""
        try:
            self._rest("DELETE", run)
        except Refused as refusal:
            return refusal.status == _NOT_FOUND
        except CredentialsEnded:
            raise
        except ReleaseError:
            return False
        return True

    def _release_of(self, run: str) -> Optional[str]:
        """Return the release that a run's first task noted."""
        entry = f"{run}/taskInstances/{PROOF_TASK}/xcomEntries/{RELEASE_NOTE}"
        try:
            value = self._rest("GET", entry).get("value")
        except CredentialsEnded:
            raise
        except ReleaseError:
            return None
        return value.strip('"') if isinstance(value, str) else None

    def _rest(self, method: str, path: str, **more: Any) -> Dict[str, Any]:
        """Return Airflow's response; repeat a read that fails."""
        failures = self._airflow.exceptions
        for tries_left in reversed(range(TRIES if method == "GET" else 1)):
            try:
                reply = self._airflow.invoke_rest_api(
                    Name=self._name, Method=method, Path=path, **more
                )
                found: Dict[str, Any] = reply.get("RestApiResponse", {})
                return found
            except failures.RestApiClientException as error:
                words = f"{self._name} refused {method} {path}: {_said(error)}"
                status = error.response.get("RestApiStatusCode", 0)
                raise Refused(words, status) from None
            except failures.RestApiServerException as error:
                if not tries_left:
                    words = f"{self._name} failed at {method} {path}: {_said(error)}"
                    raise answer_of(error).means(words) from None
            except AWS_ERRORS as error:
                meant = as_release_error(
                    error, f"InvokeRestApi of {self._name}, {method} {path}"
                )
                if not tries_left or isinstance(meant, CredentialsEnded):
                    raise meant from None
            time.sleep(EVERY)
        raise AssertionError("the last try returns or raises")

    def _settled(self) -> Dict[str, Any]:
        """Return the environment, once no update of it is in progress."""
        there: Dict[str, Any] = {"Status": "unknown"}
        began = time.monotonic()
        for _ in self._looks(UPDATE_LIMIT):
            there = self._described() or {"Status": "missing"}
            if not there["Status"].startswith(_WORKING):
                return there
        waited = (time.monotonic() - began) / 60
        raise ReleaseError(
            f"{self._name} is still {there['Status']} after {waited:.0f} minutes. The "
            "previous release is still the current one; deploy again when it is done."
        )

    def _described(self) -> Optional[Dict[str, Any]]:
        try:
            reply: Dict[str, Dict[str, Any]] = self._airflow.get_environment(
                Name=self._name
            )
            return reply["Environment"]
        except self._airflow.exceptions.ResourceNotFoundException:
            return None
        except AWS_ERRORS as error:
            raise as_release_error(error, f"GetEnvironment of {self._name}") from None

    def _looks(self, limit: int) -> Iterator[int]:
        """Yield for each look at what is awaited, with pauses, for so many seconds."""
        for nth in range(limit // EVERY):
            yield nth
            if time.monotonic() + EVERY > self._end:
                return
            time.sleep(EVERY)


def _has_path(there: Dict[str, Any], file: str) -> bool:
    """Return whether a described environment installs a file of that name."""
    return bool(there.get(SETTINGS[file][0]))


def _path(value: Any) -> str:
    """Return a path, or the bucket of an ARN of any partition, for comparison."""
    return str(value).split(":::")[-1].strip("/")


def _said(error: ClientError) -> str:
    """Format MWAA's words, Airflow's own, and what to do."""
    answer = error.response.get("RestApiResponse")
    words = f" {str(answer)[:_LONGEST]}" if answer else ""
    return f"{error}{words}. {answer_of(error).remedy}"


def _is_set(there: Dict[str, Any], wanted: Dict[str, str]) -> bool:
    return all(there.get(setting) == value for setting, value in wanted.items())


def _minutes(looks: int) -> int:
    return looks * EVERY // 60


def _seconds(options: Dict[str, str], name: str, default: int) -> Optional[int]:
    """Return an option in whole seconds; None for what Airflow would not take."""
    text = str(options.get(name, default))
    return int(text) if text.isascii() and text.isdigit() else None


def _age(since: Any) -> str:
    """Format for how long something is so, given its instant; empty if unknown."""
    try:
        began = datetime.fromisoformat(str(since)).timestamp()
    except ValueError:
        return ""
    minutes = int(time.time() - began) // 60
    if minutes < 120:
        return f" for {minutes} minutes"
    return (
        f" for {minutes // 60} h"
        if minutes < 48 * 60
        else f" for {minutes // 1440} days"
    )


def _words(run: str) -> str:
    """Format a run's path as words."""
    _, _, dag, _, run_id = run.split("/")
    return f"{dag}: the run {run_id}"


def words(files: Dict[str, AirflowFile]) -> str:
    """Format the versions of the files as parameters of the layer mwaa."""
    return " ".join(
        f"{PARAMETERS[name]}={file.version}" for name, file in sorted(files.items())
    )


def _settings(files: Dict[str, AirflowFile]) -> Iterator[Tuple[str, str]]:
    for name, file in files.items():
        path, version = SETTINGS[name]
        yield path, name
        if file.version:
            yield version, file.version
