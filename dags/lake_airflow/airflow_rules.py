"""What Airflow does to tasks and runs that stop, by version, as its sources have it.

Tasks are right by each of these rules, for nothing tells them which Airflow they run in:
what a version may leave undone, they never wait for. The simulator of the tests draws a
version for each of its schedules.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AirflowRules:
    """The rules of one version of Airflow."""

    version: str
    retry_resumes: bool
    """A try after one that failed once it had slept begins in the method that failed,
    with the XComs of before; else it begins anew, without them."""
    restarting_stays: bool
    """A task that is cleared while it runs stays `restarting` for ever."""
    downstream_marks_teardowns: bool
    """A mark with *Downstream* takes the tasks with it that end the run: none of them
    runs, also not the one that ends the cluster."""
    forwards_sigterm: bool
    """A worker that shuts down ends its tasks' processes by SIGTERM, which calls their
    `on_kill`. In all versions so does a state that changed while the process worked."""
    callback_makes_stale: bool
    """DAGs may count as gone after a callback, until their file is parsed again."""
    cancelled_backfill_stays_queued: bool
    """A run of a cancelled backfill that is cleared stays queued for ever."""


RULES = (
    AirflowRules("3.0.6", True, True, True, False, True, True),
    AirflowRules("3.2.1", False, False, True, False, False, True),
    AirflowRules("3.3.1", False, False, False, True, False, True),
)

STAYS = {"restarting"} if any(rules.restarting_stays for rules in RULES) else set()
"""States in which a task may stay for ever in a version, although it is at work."""
