"""maintenance: compaction, clustering and cleaning, each only where due.

They run as Hudi's SQL procedures inside our application; Hudi's own utility
jobs exit 0 after a failure in some releases and fail with nothing to do in
others.
"""

from __future__ import annotations

from typing import Optional

from lake_spec.hudi_options import clustering_options, upkeep_options
from lake_spec.model import TableType
from lake_spec.report import State
from lake_spec.sql_text import sql_literal
from lake_spark.hudi_table import HudiTable
from lake_spark.table_run import TableRun

LAYERS = ("changes", "current", "history", "surrogate_keys")


def maintenance(run: TableRun) -> None:
    """Compact what is merged on read, cluster the change log, clean all."""
    if run.dry_run:
        run.report.state = State.DRY_RUN.value
        return
    for layer in LAYERS:
        table = getattr(run, "log" if layer == "changes" else layer)
        if table.has_data():
            _upkeep(run, layer, table)
    if run.report.commits:
        run.report.state = State.DONE.value


def _upkeep(run: TableRun, layer: str, table: HudiTable) -> None:
    merged = run.spec.storage.type is TableType.MERGE_ON_READ and layer != "changes"
    if merged and _log_commits(table) >= run.spec.maintenance.compact_after:
        _note(run, layer, "compaction", _compact(run, table))
    if layer == "changes" and small_files(table) >= run.spec.maintenance.cluster_after:
        _note(run, layer, "clustering", _cluster(run, table))
    if _commits(table) > run.spec.maintenance.keep_commits:
        _note(run, layer, "cleaning", table.clean(run.spec.maintenance.keep_commits))


def _note(run: TableRun, layer: str, what: str, instant: Optional[str]) -> None:
    if instant:
        run.report.commits[f"{layer}_{what}"] = instant
        run.say(f"{what} of {layer}: {instant}")


def _log_commits(table: HudiTable) -> int:
    """Delta commits since the last compaction."""
    count = 0
    for action in table.actions():
        if action == "commit":
            break
        count += 1
    return count


def _commits(table: HudiTable) -> int:
    return sum(1 for _ in table.actions())


def small_files(table: HudiTable) -> int:
    """Files of the newest state of a table, each far below a full file."""
    return len(table.read().inputFiles())


def _compact(run: TableRun, table: HudiTable) -> Optional[str]:
    options = upkeep_options()
    _call(run, "run_compaction", table, op="schedule", options=options)
    return _call(run, "run_compaction", table, op="run", options=options)


def _cluster(run: TableRun, table: HudiTable) -> Optional[str]:
    options = clustering_options(pinned=table.is_pinned)
    return _call(
        run,
        "run_clustering",
        table,
        op="scheduleAndExecute",
        order="lake_key",
        options=options,
    )


def _call(
    run: TableRun, procedure: str, table: HudiTable, **arguments: str
) -> Optional[str]:
    """Call a procedure of Hudi on the table's path; the instant of what it did.

    Values enter the text as literals.
    """
    given = {"path": table.path, **arguments}
    text = ", ".join(f"{name} => {sql_literal(value)}" for name, value in given.items())
    done = run.spark.sql(f"CALL {procedure}({text})").collect()
    return str(done[0][0]) if done else None
