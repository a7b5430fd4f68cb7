"""Child processes in groups of their own, which end with this process.

Commands are started by threads alone. The main thread waits, so that a signal finds it at
a place where it may raise, and never between the start of a process and the note of it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from types import TracebackType
from typing import IO, Callable, Mapping, Optional, Sequence, TypeVar, Union

Result = TypeVar("Result")
Output = Union[int, IO[bytes], None]

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 130
"""The exit code after any of them."""
TELL_EVERY = 15.0
"""Seconds between two words about what is still at work."""


class Ended(Exception):
    """A command was ended together with all others; nobody needs to be told."""


def exit_on_interrupts() -> None:
    """Let each of INTERRUPTS raise SystemExit in the main thread, the first one only.

    What is ignored stays so: `nohup` asks for it.
    """
    for each in INTERRUPTS:
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, _exit)


def _exit(*_: object) -> None:
    _exit_no_more()
    raise SystemExit(INTERRUPTED)


def _exit_no_more() -> None:
    """Heed no interrupt from now on: a second Ctrl-C must not cut the ending short."""
    for each in INTERRUPTS:
        if signal.getsignal(each) is _exit:
            # Not SIG_IGN, which a process that a thread is about to start would inherit.
            signal.signal(each, lambda *_: None)


class ProcessGroups:
    """Commands, each the head of a process group, all of which `end` ends whole.

    Args:
        end_by: the signal that asks a group to end.
        seconds: how long it has until SIGKILL.
        keep_open: file descriptors that the commands inherit.
    """

    def __init__(
        self, end_by: signal.Signals, seconds: float, keep_open: Sequence[int] = ()
    ) -> None:
        self._end_by = end_by
        self._seconds = seconds
        self._keep_open = keep_open
        self._lock = threading.Lock()
        self._running: list[subprocess.Popen[bytes]] = []
        self._is_ending = False

    def __enter__(self) -> ProcessGroups:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.end()

    def run(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Optional[Mapping[str, str]] = None,
        output: Output = None,
    ) -> int:
        """Run a command without input, and return its exit code.

        Args:
            output: where both its streams go; None: where those of this process go.

        Raises:
            Ended: all commands are being ended.
        """
        process = self._start(argv, cwd, env, output)
        code = process.wait()
        with self._lock:
            if self._is_ending:
                raise Ended
            self._running.remove(process)
        return code if code >= 0 else 128 - code  # of a signal, as shells say it

    def _start(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Optional[Mapping[str, str]],
        output: Output,
    ) -> subprocess.Popen[bytes]:
        with self._lock:  # `end` finds every process that there is
            if self._is_ending:
                raise Ended
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                # A group in the background must not ask the terminal: it would be stopped.
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=None if output is None else subprocess.STDOUT,
                process_group=0,
                pass_fds=self._keep_open,
            )
            self._running.append(process)
        return process

    def end(self) -> None:
        """End all groups and wait until they are gone; no command starts any more."""
        with self._lock:
            self._is_ending = True
        _signal(self._running, self._end_by)
        deadline = time.monotonic() + self._seconds
        while _signal(self._running, 0) and time.monotonic() < deadline:
            time.sleep(0.05)
        _signal(self._running, signal.SIGKILL)


def _signal(processes: Sequence[subprocess.Popen[bytes]], number: int) -> bool:
    """Whether one of their groups still had a process to take the signal."""
    reached = False
    for each in processes:
        each.poll()  # one that has ended stays in its group until it is asked
        try:
            os.killpg(each.pid, number)
        except (ProcessLookupError, PermissionError):
            continue  # the latter on macOS, where all that is left are zombies
        reached = True
    return reached


def side_by_side(
    works: Mapping[str, Callable[[], Result]],
    groups: ProcessGroups,
    ended: Callable[[str, Result], None],
    at_work: Optional[Callable[[list[str]], None]] = None,
) -> None:
    """Do all works at once, each in a thread; the first that raises ends all commands.

    Args:
        ended: told the name of a work that has ended, and what it returned.
        at_work: told every TELL_EVERY seconds which works have not ended.

    Raises:
        Whatever a work or `ended` raises.
    """
    # Not `with`, which waits for threads, also where an interrupt comes before all others
    # could be ended here: whoever made `groups` ends them then.
    pool = ThreadPoolExecutor(len(works))
    try:
        names = {pool.submit(work): name for name, work in works.items()}
        tell_at = time.monotonic() + TELL_EVERY
        while names:
            seconds = max(0.0, tell_at - time.monotonic())
            done, _ = wait(names, seconds, FIRST_COMPLETED)
            for each in done:
                ended(names.pop(each), each.result())
            if time.monotonic() >= tell_at:
                tell_at += TELL_EVERY
                if at_work and names:
                    at_work(list(names.values()))
    except BaseException:
        _exit_no_more()
        groups.end()
        raise
    finally:
        pool.shutdown(wait=False)
