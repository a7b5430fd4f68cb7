"""Runs one command and outlives it, so that nothing outlives the emulator.

    python supervisor.py PID_FILE GRACE_SECONDS COMMAND ARG...

The command gets a process group of its own. Standard input is a line to the
emulator: when it closes, because a step is to end or because the emulator is
gone however it went, the whole group gets TERM and then KILL. On Linux the
command also dies if this process is killed. The exit code is the command's,
128 + N if signal N ended it.

Run as a script: it imports nothing of ours.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time

PR_SET_PDEATHSIG = 1
SECONDS_TO_DIE = 2.0


def start_time(pid: int) -> str:
    """Return when a process started, or ""; a later process of its id has another time."""
    if sys.platform == "linux":
        try:
            with open(f"/proc/{pid}/stat") as file:
                return file.read().rpartition(")")[2].split()[19]
        except OSError:
            return ""
    shown = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True
    )
    return shown.stdout.strip()


def die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def signal_group(group: int, number: int) -> bool:
    """Return whether the signal reached a process."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def is_empty_within(group: int, seconds: float) -> bool:
    """Wait for the last process of a group, but not longer than this."""
    deadline = time.monotonic() + seconds
    while signal_group(group, 0):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.02)
    return True


def end_group(group: int, grace: float) -> None:
    """End a group: SIGTERM, then SIGKILL after `grace` seconds."""
    signal_group(group, signal.SIGTERM)
    if not is_empty_within(group, grace):
        signal_group(group, signal.SIGKILL)


def end_when_line_closes(group: int, grace: float) -> None:
    while os.read(0, 4096):
        pass
    end_group(group, grace)


def main(pid_file: str, grace: str, *command: str) -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
    except OSError as reason:
        print(f"{command[0]}: {reason.strerror}", file=sys.stderr)
        return 127
    with open(pid_file, "w") as file:
        json.dump({"pid": process.pid, "started": start_time(process.pid)}, file)
    threading.Thread(
        target=end_when_line_closes, args=(process.pid, float(grace)), daemon=True
    ).start()
    code = process.wait()
    signal_group(process.pid, signal.SIGKILL)
    is_empty_within(process.pid, SECONDS_TO_DIE)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
