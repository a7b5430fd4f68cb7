"""One stage on one table: what goes wrong is said by its report, never raised."""

from __future__ import annotations

import gc
import sys
import time
import traceback
from datetime import datetime, timezone
from typing import Callable, Dict, Optional

from lake_spec.state.report import State
from lake_spec.text.marked_values import unmarked
from lake_spark.errors import first_line
from lake_spark.stages import renamed
from lake_spark.tables import foreign_files, recorded_settings, whole_messages
from lake_spark.tables.table_run import TableRun

Stage = Callable[[TableRun], Optional[State]]
"""Works on a table; says how it ended where its commits do not."""

POOL = "spark.scheduler.pool"
"""The property of a thread by which Spark's fair scheduler separates jobs."""


def run_stage(
    run: TableRun,
    stage: Stage,
    foreign: Callable[[TableRun], None] = foreign_files.refuse,
) -> None:
    """Run the stage, unless settings that it relies on were changed.

    `foreign` is what is done first about files that the pipeline did not write.

    Java then forgets its queries. An object of py4j whose methods were called is in a
    reference cycle, and Java keeps what it stands for until Python collects garbage: by
    itself after about a hundred stages.
    """
    began = time.monotonic()
    run.report.started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    # Within one pool Spark would serve the table that was first; pools share the cores.
    run.spark.sparkContext.setLocalProperty(POOL, run.spec.full_name)
    try:
        renamed.settle(run)
        recorded_settings.refuse_other_type(run)
        foreign(run)
        recorded_settings.check(run)
        ended = stage(run)
        run.report.state = (ended or _state(run)).value
    except Exception as raised:
        run.report.state = State.FAILED.value
        run.report.error = _told(run, foreign_files.cause(run, raised))
    run.report.seconds = round(time.monotonic() - began, 1)
    gc.collect()


def _told(run: TableRun, error: Exception) -> Dict[str, str]:
    """Return what the report says of an error, and print where it was raised.

    The text of an error that is not ours may quote a value of a row, in whatever way.
    """
    kind, message = type(error).__name__, first_line(error)
    said = run.report.words(message)
    whole = unmarked(
        "".join(traceback.format_exception(type(error), error, error.__traceback__))
    )
    if run.report.guarded:
        if said != message:
            run.report.withhold(whole)
            said = f"{said} The whole message: {whole_messages.uri_of(run)}"
        whole = f"{''.join(traceback.format_tb(error.__traceback__))}{kind}: {said}\n"
    print(whole, file=sys.stderr, end="", flush=True)
    return {"type": kind, "message": said}


def _state(run: TableRun) -> State:
    if run.dry_run:
        return State.DRY_RUN
    return State.DONE if run.report.commits else State.NOTHING_NEW
