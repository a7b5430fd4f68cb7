"""./run_locally.sh as a user types it, its output kept in files."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Tuple

PROGRAM = Path(__file__).resolve().parents[2] / "run_locally.sh"
SECONDS_OF_A_COMMAND = 900
SECONDS_TO_STOP = 90


@dataclass(frozen=True)
class Done:
    """A command that ended; as text it is all that was seen of it."""

    argv: Tuple[str, ...]
    code: int
    out: str
    err: str

    def __str__(self) -> str:
        line = " ".join(self.argv)
        return f"{line}\nexit code {self.code}\n-- out\n{self.out}\n-- err\n{self.err}"


class Running:
    """A command under way."""

    def __init__(
        self,
        argv: Tuple[str, ...],
        folder: Path,
        number: int,
        env: Mapping[str, str],
    ) -> None:
        self.argv = argv
        self._out = folder / f"{number:02d}-{argv[1]}.out"
        self._err = self._out.with_suffix(".err")
        with open(self._out, "wb") as out, open(self._err, "wb") as err:
            self._process = subprocess.Popen(
                argv,
                cwd=folder,
                env={**os.environ, **env},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    @property
    def is_over(self) -> bool:
        """Whether it ended, by itself or not."""
        return self._process.poll() is not None

    def end(self, *, code: int = 0) -> Done:
        """Wait for its end; AssertionError with all it said for another exit code."""
        try:
            found = self._process.wait(SECONDS_OF_A_COMMAND)
        except BaseException:
            self.stop()
            raise
        done = Done(self.argv, found, self._out.read_text(), self._err.read_text())
        assert done.code == code, f"exit code {code} was expected:\n{done}"
        return done

    def stop(self) -> None:
        """End it, if it is not over: as a user does, or at once if that does not help."""
        if self.is_over:
            return
        self._process.terminate()
        try:
            self._process.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class CommandLine:
    """The commands on one home and one tables folder, and on an environment's file."""

    def __init__(
        self,
        *,
        home: Path,
        tables: Path,
        output: Path,
        environment: Path | None = None,
    ) -> None:
        self._where = ("--state-dir", str(home), "--tables", str(tables))
        self._env = {"LAKE_ENVIRONMENT": str(environment)} if environment else {}
        self._output = output
        self._number = 0
        output.mkdir()

    def start(self, *args: str) -> Running:
        """Start a command and return at once."""
        self._number += 1
        argv = (str(PROGRAM), *args, *self._where)
        return Running(argv, self._output, self._number, self._env)

    def __call__(self, *args: str, code: int = 0) -> Done:
        """A command from start to end."""
        return self.start(*args).end(code=code)
