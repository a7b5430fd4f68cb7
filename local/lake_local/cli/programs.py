"""Runs the programs of `show` and `sql` in environments of their own."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lake_local.airflow import settings
from lake_local.errors import BadRequest, LakeLocalError
from lake_local.show.query import CHANGED, NEEDS_HUDI, REFUSED
from lake_local.text import progress
from lake_local.workspace import background, project
from lake_local.workspace.project import Project
from lake_local.workspace.state_dir import StateDirectory

SCRATCH = "show-"
LOG = "log"
_TRIES = 3


class NeedsSpark(BadRequest):
    """A table has what DuckDB does not read, as log files of Hudi are.

    Fix: Follow the message: read it by Spark, or have it compacted.
    """


def by_duckdb(
    home: StateDirectory,
    ours: Project,
    module: str,
    question: Callable[[], dict[str, Any]],
) -> None:
    """Run a program of `.venv-readers`; what it answers goes to standard output.

    Args:
        module: of the program, which takes the files of its question and its log.
        question: makes the question, anew where a run took files away meanwhile.

    Raises BadRequest with the reason for a question that cannot be answered, NeedsSpark
    where Spark could.
    """
    project.require_readers(ours)
    env = environment(home, ours)
    for _ in range(_TRIES):
        with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=home.root) as name:
            folder = Path(name)
            code, words = asked(ours.readers_python, module, question(), folder, env)
            if code != CHANGED:
                return finish(code, words, lambda: background.tail(folder / LOG))
    raise LakeLocalError(
        "runs changed the tables while they were read, each time that it was tried. Try it"
        " again when the run has ended: ./run_locally.sh status"
    )


def asked(
    python: Path,
    module: str,
    question: dict[str, Any],
    folder: Path,
    env: dict[str, str],
    *more: Path,
) -> tuple[int, str]:
    """Ask a program a question in a folder, which gets its LOG.

    Args:
        module: of the program, which takes the files of its question and its log.
        more: files that it takes besides.

    Returns:
        The exit code, and what it wrote to standard error.
    """
    file = folder / "question.json"
    file.write_text(json.dumps(question), encoding="utf-8")
    argv = [python, "-m", module, file, folder / LOG, *more]
    return run(list(map(str, argv)), folder, env)


def finish(code: int, words: str, tail: Callable[[], str]) -> None:
    """Say what a program said. Raises BadRequest, or LakeLocalError where it failed."""
    if code == NEEDS_HUDI:
        raise NeedsSpark(words)
    if code == REFUSED:
        raise BadRequest(words)
    if code:
        raise LakeLocalError(
            f"the query failed. The end of its log:\n{words or tail()}"
        )
    if words:
        progress(words)


def run(argv: list[str], folder: Path, env: dict[str, str]) -> tuple[int, str]:
    """Return the exit code of a program and what it wrote to standard error."""
    errors = folder / "stderr"
    with open(errors, "wb") as words:
        started = subprocess.Popen(
            argv,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stderr=words,
            start_new_session=True,
        )
        try:
            code = started.wait()
        except BaseException:
            # The whole group: Python and the JVM that it started.
            os.killpg(started.pid, 9)
            started.wait()
            raise
    text = errors.read_text(errors="replace").strip()
    return code, text


def environment(home: StateDirectory, ours: Project) -> dict[str, str]:
    """Return the variables of a program, which reaches no account."""
    return {
        **settings.inherited(os.environ),
        "PYTHONPATH": f"{ours.root / 'local'}{os.pathsep}{ours.root / 'dags'}",
        "PYTHONIOENCODING": "utf-8",
        "TZ": "UTC",
        background.MARK: str(home.root),
    }
