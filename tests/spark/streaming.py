"""The HoodieStreamer step of a lake, in a process of its own or as this session does it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Sequence

from pyspark.sql import DataFrame

from lake_spec.hudi.options import Operation
from lake_spec.state.report import Report
from lake_emulator import runtimes
from lake_spark.tables.table_run import TableRun
from tests.spark.lake import Lake


def stream(lake: Lake, stage: str, scratch: Path) -> int:
    """Prepare, then run the HoodieStreamer step if there is one; its exit code."""
    run = lake.prepare(stage)
    return submit(run.streamer_argv, scratch) if run.streamer_argv else 0


def submit(argv: Sequence[str], scratch: Path) -> int:
    """Run a HoodieStreamer step; its exit code."""
    made = runtimes.command(
        "emr-7.13.0",
        ["spark-submit", *argv],
        endpoint="http://127.0.0.1:9",
        secret="none",
        scratch=scratch,
        properties={},
    )
    with open(scratch / "streamer.log", "w", encoding="utf-8") as log:
        return subprocess.call(
            made.argv, env={**os.environ, **made.env}, stderr=log, stdout=log
        )


def staged_rows(lake: Lake, run: TableRun) -> DataFrame:
    """The rows that HoodieStreamer would commit after this prepare stage."""
    id = run.report.commits["inputs"]
    sql = lake.root / f"warehouse/tests/things/inputs/{id}.sql"
    view, rows = sql.read_text().split(";\n")
    lake.spark.sql(view)
    return lake.spark.sql(rows)


def commit(lake: Lake, run: TableRun) -> None:
    """Commit what a prepare stage has staged, as HoodieStreamer would."""
    inputs = {"inputs": run.report.commits["inputs"]}
    run.log.write(staged_rows(lake, run), Operation.BULK_INSERT, inputs)


def streamed(lake: Lake, stage: str) -> Report:
    """Prepare, commit and account; the report of the stage."""
    commit(lake, lake.prepare(stage))
    return lake.done(stage)[0]
