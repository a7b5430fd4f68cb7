"""Airflow's processes on this machine: started, waited for, settled and ended.

They are what MWAA runs, as one process each, on SQLite.
"""

from __future__ import annotations

import subprocess
import time
import urllib.error
from importlib import metadata
from pathlib import Path
from typing import Callable

from lake_local.airflow import settings
from lake_local.airflow.rest import Airflow, ApiError
from lake_local.errors import StartFailed
from lake_local.workspace import background
from lake_local.workspace.background import Process
from lake_local.workspace.project import Project
from lake_local.workspace.state_dir import StateDirectory

API_SERVER = "api-server"
# Without the log servers: their fixed ports clash between two state directories.
COMPONENTS = {
    API_SERVER: ("api-server",),
    "scheduler": ("scheduler", "--skip-serve-logs"),
    "dag-processor": ("dag-processor",),
    "triggerer": ("triggerer", "--skip-serve-logs"),
}
HEALTHY = ("metadatabase", "scheduler", "dag_processor", "triggerer")
START_SECONDS = 180
SETTLE_SECONDS = 8
STOP_SECONDS = 10
POLL_SECONDS = 0.3
ENDED = ("success", "failed", "skipped", "upstream_failed", "removed")


def client(home: StateDirectory, url: str) -> Airflow:
    """Return a client of the Airflow of a state directory, with its password."""
    return Airflow(url, user=settings.USER, password=settings.password(home))


def migrate(home: StateDirectory, project: Project, env: dict[str, str]) -> None:
    """Create or upgrade the database, once per state directory and Airflow version."""
    version = metadata.version("apache-airflow")
    stamp = home.airflow / "migrated"
    if stamp.exists() and stamp.read_text() == version:
        return
    log = home.logs / "db-migrate.log"
    with open(log, "wb") as output:
        done = subprocess.run(
            [str(project.airflow_bin / "airflow"), "db", "migrate"],
            env={**env, background.MARK: str(home.root)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    if done.returncode:
        raise StartFailed(
            f"`airflow db migrate` failed. The end of its log {log}:\n{background.tail(log)}"
        )
    (home.airflow / "airflow.cfg").chmod(0o600)
    stamp.write_text(version)


def start_one(
    name: str, home: StateDirectory, project: Project, env: dict[str, str]
) -> Process:
    """Start a component; it is not ready yet when this returns."""
    return background.start(
        name,
        [str(project.airflow_bin / "airflow"), *COMPONENTS[name]],
        env=env,
        log=_fresh(home.logs / f"{name}.log"),
        home=home.root,
    )


def wait_until_healthy(
    home: StateDirectory,
    url: str,
    processes: list[Process],
    *,
    timeout: float = START_SECONDS,
) -> None:
    """Wait until every component is healthy.

    Raises StartFailed with the end of its log if one ends or does not become healthy.
    """
    api = client(home, url)
    deadline = time.monotonic() + timeout
    while not _is_healthy(api):
        for each in processes:
            if not each.is_alive():
                raise _failed(home, each.name, "ended while it was started")
        if time.monotonic() > deadline:
            raise _failed(home, _sickest(api), f"was not healthy in {timeout:.0f} s")
        time.sleep(POLL_SECONDS)


def settle(api: Airflow, show: Callable[[str], None]) -> None:
    """Mark every active run failed.

    A task that is killed leaves its run `running` in the database, and the run would
    continue at the next start. Clusters are not left to the teardown task, which may be
    slow or fail: whoever stops Airflow terminates them next.
    """
    try:
        runs = api.active_runs()
        for run in runs:
            show(f"stopping {' '.join(run)}")
            api.fail(*run)
            _fail_tasks(api, run)
        deadline = time.monotonic() + SETTLE_SECONDS
        while api.active_runs() and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        for run in runs:
            # Airflow sets the state by the last task, which was skipped: not a success.
            api.fail(*run)
    except (ApiError, OSError) as error:
        show(f"active runs could not be marked failed: {error}. They are killed.")


def stop(processes: list[Process]) -> None:
    """Stop the components; the API server last, since tasks report to it."""
    components = [each for each in processes if each.name in COMPONENTS]
    others = [each for each in components if each.name != API_SERVER]
    background.stop(others, grace=STOP_SECONDS)
    servers = [each for each in components if each.name == API_SERVER]
    background.stop(servers, grace=STOP_SECONDS)


def _fail_tasks(api: Airflow, run: tuple[str, str]) -> None:
    """Fail all unfinished tasks, also those that wait for a trigger or a retry."""
    for task in api.tasks(*run):
        if task["state"] not in ENDED:
            api.fail_task(*run, task["task_id"])


def _is_healthy(api: Airflow) -> bool:
    try:
        states = api.health()
    except (ApiError, urllib.error.URLError, OSError):
        return False
    return all(states.get(name) == "healthy" for name in HEALTHY)


def _sickest(api: Airflow) -> str:
    try:
        states = api.health()
    except (ApiError, OSError):
        return API_SERVER
    sick = [name for name in HEALTHY if states.get(name) != "healthy"]
    return sick[0].replace("_", "-") if sick else API_SERVER


def _failed(home: StateDirectory, name: str, what: str) -> StartFailed:
    log = home.logs / f"{name}.log"
    return StartFailed(
        f"Airflow's {name} {what}. The end of its log {log}:\n{background.tail(log)}"
    )


def _fresh(log: Path) -> Path:
    if log.exists():
        log.replace(log.with_suffix(".log.1"))
    return log
