"""A step's process: started under supervision, ended with all its children."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Mapping, Sequence

from lake_emulator.emr import supervisor

PID_FILE = "process.json"


class StepProcess:
    """A running command whose output goes to `stdout` and `stderr` in a folder."""

    def __init__(
        self,
        folder: Path,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        cwd: Path,
        grace: float,
    ) -> None:
        self._pid_file = folder / PID_FILE
        with open(folder / "stdout", "wb") as out, open(folder / "stderr", "ab") as err:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", supervisor.__file__),
                    *(str(self._pid_file), str(grace), *argv),
                ],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                env=dict(env),
                cwd=cwd,
                start_new_session=True,
            )

    def end(self) -> None:
        """Ask the process to end; `wait` returns when it has ended."""
        line: IO[bytes] | None = self._process.stdin
        if line is not None and not line.closed:
            line.close()

    def wait(self) -> int:
        """Return the exit code, when nothing of the step runs any more."""
        code = self._process.wait()
        self.end()
        end_leftover(self._pid_file, leader_may_be_gone=True)
        return code if code >= 0 else 128 - code


def end_leftover(pid_file: Path, *, leader_may_be_gone: bool = False) -> bool:
    """Kill the process group that a pid file names, if it is still that one."""
    try:
        noted = json.loads(pid_file.read_text())
    except (OSError, ValueError):
        return False
    pid_file.unlink(missing_ok=True)
    started = supervisor.start_time(noted["pid"])
    if started == noted["started"] or (leader_may_be_gone and not started):
        return supervisor.signal_group(noted["pid"], signal.SIGKILL)
    return False


def end_leftovers(folder: Path) -> int:
    """Kill what a crash left running; how many."""
    return sum(end_leftover(file) for file in folder.glob(f"*/*/{PID_FILE}"))


def signal_name(code: int) -> str:
    """Return `signal 9 (SIGKILL)` for 137; "" if no signal ended the process."""
    number = code - 128
    if number not in {entry.value for entry in signal.Signals}:
        return ""
    return f"signal {number} ({signal.Signals(number).name})"


def clean_environment() -> dict[str, str]:
    """Return what a step may know of this machine: no keys, no settings of Airflow."""
    passed = ("HOME", "JAVA_HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "USER")
    return {name: os.environ[name] for name in passed if name in os.environ}
