"""What the change log holds that a table was not built from yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Optional, Sequence

from lake_spec.diagnostics.warnings import WarningId
from lake_spark.errors import UnfinishedReprocess
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.schema.columns import Columns, typed
from lake_spark.schema.promotion import is_same
from lake_spark.schema.spark_types import typed_names
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.tables.table_run import FileRun


@dataclass(frozen=True)
class Pending:
    """What the log holds that a table was not built from yet."""

    since: Optional[str]
    log_instant: str
    ingested: IngestedFiles


def pending(run: FileRun, table: HudiTable, *, rebuild: bool) -> Optional[Pending]:
    """Return what to build: from the whole log if again, else if the table is behind it."""
    newest = run.log.last_instant(CommitValue.INPUTS)
    built = None if rebuild else table.last_value(CommitValue.LOG_INSTANT)
    if newest is None or newest == built:
        return None
    ingested = run.ingested_files()
    if _is_half_reprocessed(run, ingested.reprocess, rebuild=rebuild):
        return None
    return Pending(built, newest, ingested)


def _is_half_reprocessed(run: FileRun, paths: Sequence[str], *, rebuild: bool) -> bool:
    """Return whether the log waits for snapshots of a reprocess and must not be folded."""
    if not paths:
        return False
    words = (
        f"a reprocess is not finished: {len(paths)} file(s) are not ingested again, first "
        f"{paths[0]}. Run {run.spec.domain}_reprocess or {run.spec.domain}_incremental."
    )
    if rebuild:
        raise UnfinishedReprocess(f"{run.spec.full_name}: {words}")
    run.report.warn(
        WarningId.PENDING_REPROCESS, f"current and history were not built: {words}"
    )
    return True


def rebuild_if_retyped(table: HudiTable, waiting: Pending, columns: Columns) -> Pending:
    """Return a build of everything where a stored column would change its type.

    A stored column never changes its type: the table is rebuilt instead. New columns are
    none of it, they are added by the next commit (decision 013).
    """
    if waiting.since is None:
        return waiting
    stored = dict(typed_names(table.schema()))
    retyped = any(
        name in stored and not is_same(stored[name], kind)
        for name, kind in typed(columns)
    )
    return replace(waiting, since=None) if retyped else waiting
