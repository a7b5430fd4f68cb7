"""Queries of tables, run by a PySpark process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, Sequence

from lake_spec.hudi.file_names import is_taken_for_rows

from lake_local.airflow import settings
from lake_local.errors import BadRequest, LakeLocalError
from lake_local.show.query import REFUSED
from lake_local.show.request import Request, Through
from lake_local.stack import objects
from lake_local.stack.session import Session
from lake_local.text import progress
from lake_local.workspace import background, project


def ask(session: Session, requests: Sequence[Request]) -> None:
    """Run the requests; the rows go to standard output, or into their files.

    Raises BadRequest with the reason for a request that cannot be answered.
    """
    by_hudi = all(each.through == Through.HUDI.value for each in requests)
    require = project.require_spark if by_hudi else project.require_readers
    require(session.specs.project)
    if by_hudi:
        _refuse_foreign_files(session, requests)
    with tempfile.TemporaryDirectory(prefix="show-", dir=session.home.root) as folder:
        question = Path(folder) / "requests.json"
        question.write_text(json.dumps(_question(session, requests)), encoding="utf-8")
        log = session.home.logs / "show.log"
        program = _hudi_program(session) if by_hudi else _readers_program(session)
        code, words = _run(session, [*program, str(question), str(log)], Path(folder))
    if code == REFUSED:
        raise BadRequest(words)
    if code:
        raise LakeLocalError(
            f"the query failed. The end of its log {log}:\n{words or background.tail(log)}"
        )
    if words:
        progress(words)


def _refuse_foreign_files(session: Session, requests: Sequence[Request]) -> None:
    """Raise BadRequest where Hudi takes files for rows of a table that it did not write."""
    for each in requests:
        if each.is_plain:
            continue
        _, folder = objects.split(f"{each.path}/")
        for key in objects.under(session.aws("s3"), f"{each.path}/"):
            if is_taken_for_rows(key[len(folder) :]):
                raise BadRequest(
                    f"{each.table} {each.layer}: Hudi did not write"
                    f" {each.path}/{key[len(folder) :]}, and takes it for rows of the"
                    f" table. Run: ./run_locally.sh run {each.table.split('.')[0]}_maintenance"
                    " --param move_foreign_files=true"
                )


def _question(session: Session, requests: Sequence[Request]) -> dict[str, Any]:
    return {
        "jars": str(session.specs.project.spark_jars),
        "endpoint": session.stack.aws_url,
        "requests": [asdict(each) for each in requests],
    }


def _hudi_program(session: Session) -> list[str]:
    return [str(session.specs.project.spark_python), "-m", "lake_local.show.query"]


def _readers_program(session: Session) -> list[str]:
    return [str(session.specs.project.readers_python), "-m", "lake_local.show.readers"]


def _run(session: Session, argv: list[str], folder: Path) -> tuple[int, str]:
    errors = folder / "stderr"
    with open(errors, "wb") as words:
        started = subprocess.Popen(
            argv,
            cwd=folder,
            env=_environment(session),
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


def _environment(session: Session) -> dict[str, str]:
    region = session.specs.environment.region
    ours = session.specs.project
    return {
        **settings.inherited(os.environ),
        **settings.aws_environment(
            session.stack.aws_url, region, session.stack.aws_secret
        ),
        "PYTHONPATH": f"{ours.root / 'local'}{os.pathsep}{ours.root / 'dags'}",
        "PYSPARK_PYTHON": str(ours.spark_python),
        "PYTHONIOENCODING": "utf-8",
        "TZ": "UTC",
        background.MARK: str(session.home.root),
    }
