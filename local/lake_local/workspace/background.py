"""Processes that outlive a function, started, found again and ended.

Every process that is started here carries a mark in its environment, which its
children inherit. So a leftover is found whoever its parent is by now: after a
crash, a kill -9 of the command line, or a worker that lost its scheduler.
"""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Sequence

import psutil

MARK = "LAKE_LOCAL_HOME"
KILL_SECONDS = 5


@dataclass(frozen=True)
class Process:
    """A started process; with its start time, since ids are used again."""

    name: str
    pid: int
    created: float

    def is_alive(self) -> bool:
        """Return whether this very process is still running, not a zombie."""
        return self._process() is not None

    def _process(self) -> psutil.Process | None:
        try:
            found = psutil.Process(self.pid)
            alive = found.status() != psutil.STATUS_ZOMBIE
            same = abs(found.create_time() - self.created) < 1
        except psutil.Error:
            return None
        return found if alive and same else None


def start(
    name: str, argv: Sequence[str], *, env: dict[str, str], log: Path, home: Path
) -> Process:
    """Start `argv` in a session of its own, its output appended to `log`."""
    marked_env = {**env, MARK: str(home), "SPT_NOENV": "1"}
    with open(log, "ab") as output:
        started = subprocess.Popen(
            list(argv),
            env=marked_env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Process(name, started.pid, _created(started.pid))


def stop(processes: Iterable[Process], *, grace: float) -> list[str]:
    """Terminate processes, kill them after `grace` seconds; return the killed ones."""
    asked = [each for each in processes if each.is_alive()]
    for each in asked:
        _signal(each._process(), "terminate")
    _wait(asked, grace)
    stubborn = [each for each in asked if each.is_alive()]
    for each in stubborn:
        _signal(each._process(), "kill")
    _wait(stubborn, KILL_SECONDS)
    _reap(asked)
    return [each.name for each in stubborn]


def marked(home: Path) -> list[psutil.Process]:
    """List the running processes of a state directory, and their children."""
    return [each for each in psutil.process_iter() if _has_mark(each, str(home))]


def end_marked(home: Path, *, grace: float) -> list[int]:
    """Stop all processes of a state directory; return the ids that were found."""
    found = marked(home)
    for each in found:
        _signal(each, "terminate")
    _, alive = psutil.wait_procs(found, timeout=grace)
    for each in alive:
        _signal(each, "kill")
    psutil.wait_procs(alive, timeout=5)
    return [each.pid for each in found]


def tail(log: Path, lines: int = 15) -> str:
    """Return the last lines of a log, for an error message."""
    if not log.exists():
        return "(no output)"
    text = log.read_text(errors="replace").splitlines()
    return "\n".join(text[-lines:]) or "(no output)"


def _wait(processes: list[Process], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(each.is_alive() for each in processes):
        time.sleep(0.05)


def _created(pid: int) -> float:
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return time.time()


def _has_mark(process: psutil.Process, home: str) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return bool(process.environ().get(MARK) == home)
    except (psutil.Error, OSError):
        return False


def _signal(process: psutil.Process | None, how: str) -> None:
    try:
        if process is not None:
            getattr(process, how)()
    except psutil.Error:
        pass  # It ended by itself in the meantime.


def _reap(processes: Iterable[Process]) -> None:
    for each in processes:
        try:
            os.waitpid(each.pid, os.WNOHANG)
        except ChildProcessError:
            pass  # Another command had started it.
