"""Programs that answer one question after the other: a line of JSON each.

A program of another Python calls `serve`, this one starts it as a `Child`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

from lake_emulator.emr.supervisor import is_empty_within, signal_group

SECONDS_TO_END = 30


class Refused(Exception):
    """What was asked ended with an error, whose text this is."""


def serve(make: Callable[[], Callable[..., Any]]) -> None:
    """Answer each line of stdin by what is made; all else that is printed goes to stderr."""
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # of Java too, which what is made may start
    answer = make()
    for line in sys.stdin:
        try:
            reply = {"done": answer(**json.loads(line))}
        except BaseException as error:  # of any library: it is an answer
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply, default=str), file=told, flush=True)


class Child:
    """Such a program; its stderr is a file."""

    def __init__(
        self, argv: Sequence[str], env: Mapping[str, str], log: Path, cwd: Path
    ) -> None:
        with open(log, "ab") as errors:
            self._process = subprocess.Popen(
                argv,
                env=env,
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
        self._log = log

    def ask(self, **question: Any) -> Any:
        """Return the answer; Refused with the text of an error."""
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"it ended: see {self._log}")
        reply = json.loads(line)
        if "error" in reply:
            raise Refused(reply["error"])
        return reply["done"]

    def end(self) -> None:
        """Let it end, and Java with it, which deletes its files at last."""
        self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(SECONDS_TO_END)
        if not is_empty_within(self._process.pid, SECONDS_TO_END):
            signal_group(self._process.pid, signal.SIGKILL)
        self._process.wait()
