"""Running a choice of tests: each command is shown, the first that fails ends all others."""

from __future__ import annotations

import os
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import IO, Iterable, Optional

from tools.checks.commands import Command, SideBySide, Stage, Step
from tools.processes import ProcessGroups, side_by_side

NOT_STARTED = 127


def run(stages: Iterable[Stage], root: Path, groups: ProcessGroups) -> None:
    """Run stages one after the other, each when the one before has succeeded.

    Raises:
        SystemExit: with the exit code of the first command that failed.
    """
    for stage in stages:
        if isinstance(stage, SideBySide):
            _run_parts(stage, root, groups)
        else:
            _run_alone(stage, root, groups)


def _run_alone(step: Step, root: Path, groups: ProcessGroups) -> None:
    def ended(_: str, code: int) -> None:
        if code:
            sys.stderr.write(_failure(step, code))
            raise SystemExit(code)

    side_by_side({"": lambda: _run(step, root, groups)}, groups, ended)


def _run_parts(stage: SideBySide, root: Path, groups: ProcessGroups) -> None:
    names = " ".join(stage.parts)
    print(f"\nSide by side, each shown whole when it ends: {names}", flush=True)
    with tempfile.TemporaryDirectory() as folder:

        def ended(name: str, code: int) -> None:
            sys.stdout.flush()
            sys.stdout.buffer.write((Path(folder) / name).read_bytes())
            sys.stdout.flush()
            if code:
                raise SystemExit(code)

        def work(name: str, steps: list[Step]) -> int:
            with (Path(folder) / name).open("wb") as output:
                return _run_part(steps, root, groups, output)

        side_by_side(
            {name: partial(work, name, steps) for name, steps in stage.parts.items()},
            groups,
            ended,
        )


def _run_part(
    steps: list[Step], root: Path, groups: ProcessGroups, output: IO[bytes]
) -> int:
    for step in steps:
        code = _run(step, root, groups, output)
        if code:
            output.write(_failure(step, code).encode())
            return code
    return 0


def _run(
    step: Step, root: Path, groups: ProcessGroups, output: Optional[IO[bytes]] = None
) -> int:
    """Run a command, or show words; return 0 where that is no failure."""
    words = f"\n+ {step}\n" if isinstance(step, Command) else f"{step}\n"
    shown = output or sys.stdout.buffer
    shown.write(words.encode())
    shown.flush()
    if isinstance(step, str):
        return 0
    try:
        code = groups.run(step.argv, root, {**os.environ, **step.env}, output)
    except OSError as error:
        shown.write(f"{error.strerror}: {error.filename}\n".encode())
        return NOT_STARTED
    return 0 if code in step.fine else code


def _failure(step: Step, code: int) -> str:
    again = f"To run only this again:\n    {step}\n"
    return f"\nFailed (exit code {code}). {again}"
