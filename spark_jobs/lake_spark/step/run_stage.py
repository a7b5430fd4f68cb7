"""One stage on one table: what goes wrong is said by its report, never raised."""

from __future__ import annotations

import gc
import time
import traceback
from datetime import datetime, timezone
from typing import Callable, Optional

from lake_spec.contract.report import State
from lake_spark.errors import first_line
from lake_spark.tables import foreign_files, recorded_settings
from lake_spark.tables.table_run import TableRun

Stage = Callable[[TableRun], Optional[State]]
"""Works on a table; says how it ended where its commits do not."""

POOL = "spark.scheduler.pool"
"""The property of a thread by which Spark's fair scheduler separates jobs."""


def attempt(run: TableRun, stage: Stage) -> None:
    """Run the stage, unless settings that it relies on were changed.

    Java then forgets its queries. An object of py4j whose methods were called is in a
    reference cycle, and Java keeps what it stands for until Python collects garbage: by
    itself after about a hundred stages.
    """
    began = time.monotonic()
    run.report.started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    # Within one pool Spark would serve the table that was first; pools share the cores.
    run.spark.sparkContext.setLocalProperty(POOL, run.spec.full_name)
    try:
        recorded_settings.check(run)
        ended = stage(run)
        run.report.state = (ended or _state(run)).value
    except Exception as raised:
        traceback.print_exc()
        error = foreign_files.cause(run, raised)
        run.report.state = State.FAILED.value
        run.report.error = {"type": type(error).__name__, "message": first_line(error)}
    run.report.seconds = round(time.monotonic() - began, 1)
    gc.collect()


def _state(run: TableRun) -> State:
    if run.dry_run:
        return State.DRY_RUN
    return State.DONE if run.report.commits else State.NOTHING_NEW
