"""Queries of tables on the emulator's S3, run by a process of their own."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Sequence

from lake_spec.hudi.file_names import is_taken_for_rows
from lake_spec.hudi.layout import METADATA_FOLDER
from lake_spec.layout.published_tables import (
    DELTA_FOLDER,
    ICEBERG_FOLDER,
    iceberg_location,
)
from lake_spec.layout.table_folders import COMMITS
from lake_spec.model import ReadableAs

from lake_local.airflow import settings
from lake_local.cli import programs
from lake_local.errors import BadRequest
from lake_local.show.request import Request, Through
from lake_local.stack import objects, session
from lake_local.stack.session import Session
from lake_local.text import progress
from lake_local.workspace import background, project
from lake_local.workspace.specs import Specs
from lake_local.workspace.state_dir import StateDirectory

FORMATS = {
    Through.ICEBERG: (ReadableAs.ICEBERG,),
    Through.DELTA: (ReadableAs.DELTA,),
    Through.DUCKDB: (ReadableAs.ICEBERG, ReadableAs.DELTA),
}
"""What each reader without Hudi takes, the first one that is published."""
METADATA: dict[ReadableAs, Callable[[str], str]] = {
    ReadableAs.ICEBERG: lambda folder: f"{iceberg_location(folder)}/{ICEBERG_FOLDER}/",
    ReadableAs.DELTA: lambda folder: f"{folder}/{DELTA_FOLDER}/",
}
"""Where the metadata of a format lies, by the folder of the table."""


def answer(home: StateDirectory, specs: Specs, asked: Request) -> bool:
    """Write the rows of a request; return False for a table that was never written."""
    with session.opened(home, specs, who=f"show {asked.table}") as opened:
        return answer_in(opened, asked)


def answer_in(opened: Session, asked: Request) -> bool:
    """Write the rows of a request; return False for a table that was never written."""
    if asked.through != Through.HUDI.value:
        asked = replace(asked, published=_published(opened, asked))
        progress(f"reading {asked.table} {asked.layer} as {asked.published}")
        ask(opened, [asked])
        return True
    mark = COMMITS if asked.is_plain else METADATA_FOLDER
    if not objects.exists_under(opened.aws("s3"), f"{asked.path}/{mark}/"):
        return False
    progress(f"reading {asked.table} {asked.layer} by Spark")
    ask(opened, [asked])
    return True


def ask(opened: Session, requests: Sequence[Request]) -> None:
    """Run the requests; the rows go to standard output, or into their files.

    Raises BadRequest with the reason for a request that cannot be answered.
    """
    by_hudi = all(each.through == Through.HUDI.value for each in requests)
    require = project.require_spark if by_hudi else project.require_readers
    require(opened.specs.project)
    if by_hudi:
        _refuse_foreign_files(opened, requests)
    with tempfile.TemporaryDirectory(
        prefix=programs.SCRATCH, dir=opened.home.root
    ) as folder:
        question = Path(folder) / "requests.json"
        question.write_text(json.dumps(_question(opened, requests)), encoding="utf-8")
        log = opened.home.logs / "show.log"
        program = _hudi_program(opened) if by_hudi else _readers_program(opened)
        argv = [*program, str(question), str(log)]
        code, words = programs.run(argv, Path(folder), _environment(opened))
    programs.finish(code, words, lambda: f"{log}\n{background.tail(log)}")


def _published(opened: Session, asked: Request) -> str:
    """Return the format to read; BadRequest where the table has none of the reader's."""
    s3 = opened.aws("s3")
    formats = FORMATS[Through(asked.through)]
    for each in formats:
        if objects.exists_under(s3, METADATA[each](asked.path)):
            return each.value
    domain, name = asked.table.split(".")
    wanted = formats[0].value
    spec = opened.specs.table(asked.table)
    if set(formats) & set(spec.storage.formats):
        remedy = f"Run it once more: ./run_locally.sh run {domain}_incremental"
    else:
        remedy = (
            f"Write `storage: {{readable_as: [{wanted}]}}` in {domain}/{name}.yml, then"
            f" run: ./run_locally.sh run {domain}_incremental"
        )
    names = " or ".join(each.value for each in formats)
    place = " or ".join(METADATA[each](asked.path) for each in formats)
    raise BadRequest(
        f"{asked.table} {asked.layer} is not published as {names}: there is no object"
        f" below {place}. {remedy}"
    )


def _refuse_foreign_files(opened: Session, requests: Sequence[Request]) -> None:
    """Raise BadRequest where Hudi takes files for rows of a table that it did not write."""
    for each in requests:
        if each.is_plain:
            continue
        _, folder = objects.split(f"{each.path}/")
        for key in objects.under(opened.aws("s3"), f"{each.path}/"):
            if is_taken_for_rows(key[len(folder) :]):
                raise BadRequest(
                    f"{each.table} {each.layer}: Hudi did not write"
                    f" {each.path}/{key[len(folder) :]}, and takes it for rows of the"
                    f" table. Run: ./run_locally.sh run {each.table.split('.')[0]}_maintenance"
                    " --param move_foreign_files=true"
                )


def _question(opened: Session, requests: Sequence[Request]) -> dict[str, Any]:
    return {
        "jars": str(opened.specs.project.spark_jars),
        "endpoint": opened.stack.aws_url,
        "requests": [asdict(each) for each in requests],
    }


def _hudi_program(opened: Session) -> list[str]:
    return [str(opened.specs.project.spark_python), "-m", "lake_local.show.query"]


def _readers_program(opened: Session) -> list[str]:
    return [str(opened.specs.project.readers_python), "-m", "lake_local.show.readers"]


def _environment(opened: Session) -> dict[str, str]:
    region = opened.specs.environment.region
    ours = opened.specs.project
    return {
        **programs.environment(opened.home, ours),
        **settings.aws_environment(
            opened.stack.aws_url, region, opened.stack.aws_secret
        ),
        "PYSPARK_PYTHON": str(ours.spark_python),
    }
