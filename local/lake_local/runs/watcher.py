"""Follows a run: the states of its tasks, and the progress lines of its steps."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterable

from lake_spec.layout.dag_names import CREATE_TASK

from lake_local.airflow.rest import Airflow, ApiError
from lake_local.errors import StartFailed
from lake_local.text import elapsed

DONE = ("success", "failed")
WAITING = ("deferred", "up_for_reschedule")
PROGRESS = b"LAKE "
POLL_SECONDS = 1.0


@dataclass
class StepOutput:
    """The progress lines of running steps, each returned once.

    `folders` returns the folders `<cluster>` of the run's steps, as they appear.
    """

    folders: Callable[[], Iterable[Path]]
    _read: dict[Path, int] = field(default_factory=dict)

    def new_lines(self) -> list[str]:
        """Return the complete lines since the last call."""
        lines: list[str] = []
        for folder in self.folders():
            for file in sorted(folder.glob("*/stdout")):
                lines += self._new_lines_of(file)
        return lines

    def _new_lines_of(self, file: Path) -> list[str]:
        with open(file, "rb") as stdout:
            stdout.seek(self._read.get(file, 0))
            fresh = stdout.read()
        whole = fresh[: fresh.rfind(b"\n") + 1]
        self._read[file] = self._read.get(file, 0) + len(whole)
        return [
            line[len(PROGRESS) :].decode(errors="replace").rstrip()
            for line in whole.splitlines()
            if line.startswith(PROGRESS)
        ]


@dataclass
class Follower:
    """Prints the changes of a run until it ends."""

    api: Airflow
    show: Callable[[str], None]
    output: StepOutput
    dead: Callable[[], list[str]]
    held_up: Callable[[], str]
    """Says what keeps a run waiting whose cluster is not there yet; "" where nothing is
    known to."""
    _told: str = ""
    _seen: dict[tuple[str, int], str] = field(default_factory=dict)

    def follow(self, dag_id: str, run_id: str) -> str:
        """Follow the run; return the state in which it ended: `success` or `failed`.

        Raises StartFailed if a process that the run needs has ended.
        """
        begin = time.monotonic()
        while True:
            state = self._state(dag_id, run_id)
            self._show_changes(dag_id, run_id, time.monotonic() - begin)
            if state in DONE:
                return state
            gone = self.dead()
            if gone:
                raise StartFailed(
                    f"{', '.join(gone)} ended while {run_id} was running. See its log in the"
                    " state directory's logs/, then start the run again; that is safe."
                )
            time.sleep(POLL_SECONDS)

    def _state(self, dag_id: str, run_id: str) -> str:
        try:
            state: str = self.api.run(dag_id, run_id)["state"]
            return state
        except (ApiError, OSError) as error:
            if isinstance(error, ApiError) and error.status < 500:
                raise
            return "running"  # A busy server: `dead` says when it is gone.

    def _show_changes(self, dag_id: str, run_id: str, seconds: float) -> None:
        for task in self._tasks(dag_id, run_id):
            key, state = (task["task_id"], task["try_number"]), task["state"]
            if state and self._seen.get(key) != state:
                self._seen[key] = state
                self.show(f"{elapsed(seconds):>6}  {task['task_id']:<28} {state}")
            if task["task_id"] == CREATE_TASK and state in WAITING:
                self._show_what_it_waits_for(seconds)
        for line in self.output.new_lines():
            self.show(f"{elapsed(seconds):>6}    {line}")

    def _show_what_it_waits_for(self, seconds: float) -> None:
        words = self.held_up()
        if words and words != self._told:
            self._told = words
            self.show(f"{elapsed(seconds):>6}    {words}")

    def _tasks(self, dag_id: str, run_id: str) -> list[dict[str, Any]]:
        try:
            return self.api.tasks(dag_id, run_id)
        except (ApiError, OSError):
            return []
