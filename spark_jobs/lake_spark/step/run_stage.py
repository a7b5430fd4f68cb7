"""One stage on one table: what goes wrong is told by its report, never raised."""

from __future__ import annotations

import time
import traceback
from datetime import datetime, timezone
from typing import Callable

from lake_spec.contract.report import State
from lake_spark.errors import first_line
from lake_spark.tables import recorded_settings
from lake_spark.tables.table_run import TableRun

Stage = Callable[[TableRun], None]

POOL = "spark.scheduler.pool"
"""The property of a thread by which Spark's fair scheduler tells jobs apart."""


def attempt(run: TableRun, stage: Stage) -> None:
    """Run the stage, unless settings that it relies on were changed."""
    began = time.monotonic()
    run.report.started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    # Within one pool Spark would serve the table that came first; pools share the cores.
    run.spark.sparkContext.setLocalProperty(POOL, run.spec.full_name)
    try:
        recorded_settings.check(run)
        stage(run)
    except Exception as error:
        traceback.print_exc()
        run.report.state = State.FAILED.value
        run.report.error = {"type": type(error).__name__, "message": first_line(error)}
    run.report.seconds = round(time.monotonic() - began, 1)
