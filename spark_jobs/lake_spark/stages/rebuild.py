"""rebuild: current and history anew from the change log.

Each is replaced by one commit, so readers see the old rows until the new ones
are whole.
"""

from __future__ import annotations

from lake_spec.contract.report import State
from lake_spark.build.materialize import build_current, build_history
from lake_spark.stages.verify import verify
from lake_spark.tables import catalog
from lake_spark.tables.table_run import TableRun


def rebuild(run: TableRun) -> None:
    """Fold every event of the log again, with the settings of today.

    Where the run asks to verify, compare the fold with the tables instead.
    """
    if run.verify is not None:
        verify(run)
        return
    if run.dry_run:
        run.report.state = State.DRY_RUN.value
        return
    build_current(run, anew=True)
    build_history(run, anew=True)
    if run.report.commits:
        run.report.state = State.DONE.value
    catalog.register(run)
