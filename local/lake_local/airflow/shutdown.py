"""Ending what is at work before Airflow's processes are ended.

A task that is cut off leaves its run `running` in the database, and the run
would go on at the next start; so runs are brought to their end first. Their
clusters are not left to the teardown task, which may take its time or fail:
whoever stops Airflow ends the clusters next.
"""

from __future__ import annotations

import time
from typing import Callable

from lake_local.airflow.rest import Airflow, ApiError

END_SECONDS = 8
POLL_SECONDS = 0.3
ENDED = ("success", "failed", "skipped", "upstream_failed", "removed")
Run = tuple[str, str]


def settle(api: Airflow, tell: Callable[[str], None]) -> None:
    """Bring every active run to its end as failed."""
    try:
        runs = api.active_runs()
        for run in runs:
            tell(f"ending {' '.join(run)}")
            api.fail(*run)
            _fail_tasks(api, run)
        _wait_for_end(api)
        for run in runs:
            # Airflow judges by the last task, which was skipped: that is no success.
            api.fail(*run)
    except (ApiError, OSError) as error:
        tell(f"runs could not be ended in good order: {error}")


def _fail_tasks(api: Airflow, run: Run) -> None:
    """Also those that wait: for a trigger, for a retry, or to be started."""
    for task in api.tasks(*run):
        if task["state"] not in ENDED:
            api.fail_task(*run, task["task_id"])


def _wait_for_end(api: Airflow) -> None:
    deadline = time.monotonic() + END_SECONDS
    while api.active_runs() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
