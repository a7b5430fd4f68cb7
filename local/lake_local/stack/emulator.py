"""The local AWS emulator: its process and its clusters."""

from __future__ import annotations

import sys
import time
from typing import Any, Iterable

from lake_emulator.emr.state_machine import ClusterState
from lake_emulator.keys import secret_of
from lake_emulator.pages import is_healthy
from lake_local.errors import StartFailed
from lake_local.workspace import background
from lake_local.workspace.background import Process
from lake_local.workspace.project import Project
from lake_local.workspace.state_dir import StateDirectory

NAME = "aws"
START_SECONDS = 60
STOP_SECONDS = 20


def start(
    home: StateDirectory, project: Project, env: dict[str, str], port: int
) -> Process:
    """Start the emulator on `port`; it is not ready yet when this returns."""
    path = [str(project.root / each) for each in ("emulator", "local", "dags")]
    argv = [sys.executable, "-m", "lake_local.emulator"]
    return background.start(
        NAME,
        [*argv, "--state-dir", str(home.root), "--port", str(port)],
        env={**env, "PYTHONPATH": ":".join(path)},
        log=home.logs / f"{NAME}.log",
        home=home.root,
    )


def wait_until_healthy(home: StateDirectory, process: Process, url: str) -> None:
    """Wait until it answers. Raises StartFailed with the end of its log."""
    log = home.logs / f"{NAME}.log"
    deadline = time.monotonic() + START_SECONDS
    while not is_healthy(url, secret_of(home.root)):
        late = time.monotonic() > deadline
        if late or not process.is_alive():
            what = f"did not answer in {START_SECONDS} s" if late else "ended at once"
            raise StartFailed(
                f"the local AWS emulator {what}. The end of its log {log}:\n"
                f"{background.tail(log)}"
            )
        time.sleep(0.1)


def stop(found: Iterable[Process]) -> None:
    """Stop the emulator; its state is on disk."""
    background.stop(found, grace=STOP_SECONDS)


def live_clusters(emr: Any) -> list[dict[str, Any]]:
    """List the clusters that have not ended: id, name and state."""
    states = [each.value for each in ClusterState if not each.over]
    pages = emr.get_paginator("list_clusters").paginate(ClusterStates=states)
    return [each for page in pages for each in page["Clusters"]]


def end_clusters(emr: Any) -> list[str]:
    """Terminate every cluster that has not ended; return their ids."""
    ids = [each["Id"] for each in live_clusters(emr)]
    for each in ids:
        emr.set_termination_protection(JobFlowIds=[each], TerminationProtected=False)
        emr.terminate_job_flows(JobFlowIds=[each])
    return ids
