"""maintenance: compaction, clustering and cleaning, each only where due; old lists of files.

They run as Hudi's SQL procedures inside our application; Hudi's own utility
jobs exit 0 after a failure in some releases and fail with nothing to do in
others.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Iterator, List, Optional

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.hudi.buckets import LARGEST, resized
from lake_spec.hudi.file_names import data_file
from lake_spec.hudi.options import (
    SMALL_FILES,
    clean_options,
    clustering_options,
    has_lists_and_decimals,
    maintenance_options,
)
from lake_spec.model import Index, TableType
from lake_spec.state.report import LayerSize, Maintained
from lake_spec.text.marked_values import row_value
from lake_spec.text.sql_text import sql_literal
from lake_spark.changelog.schema import LogColumn
from lake_spark.errors import LegacyLists
from lake_spark.profiling.profile import profile_where_due
from lake_spark.publish.publication import drop_unasked, publish
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.storage.object_store import StoredObject
from lake_spark.storage.parquet_file import has_legacy_lists
from lake_spark.storage.parquet_table import ParquetTable
from lake_spark.storage.session import session_for_statements
from lake_spark.storage.table_size import layer_size
from lake_spark.tables import catalog, whole_messages
from lake_spark.tables.table_run import Table, TableRun


def maintenance(run: TableRun) -> None:
    """Compact what is merged on read, cluster the change log, clean all."""
    if run.dry_run:
        return
    for layer in run.layers:
        table = run.table(layer)
        if table.has_data():
            _maintenance(run, layer, table)
    _sweep_ingested_files(run)
    drop_unasked(run)
    profile_where_due(run)
    whole_messages.remove_old(run)


def _sweep_ingested_files(run: TableRun) -> None:
    """Remove objects about ingested files that no commit can need any more."""
    newest = run.log.last_value(CommitValue.INPUTS)
    if newest is None:
        return
    needed = {newest, *run.log.active_values(CommitValue.INPUTS)}
    gone = run.ingested_files_folder.sweep(needed, datetime.now(timezone.utc))
    if gone:
        run.say(f"removed {gone} object(s) about ingested files")


def _maintenance(run: TableRun, layer: str, table: Table) -> None:
    table.roll_back_failed_writes()
    before, known = _size(run, table), set(run.report.commits)
    _do_what_is_due(run, layer, table)
    new = (each for each in run.report.commits if each not in known)
    done = [each[len(layer) + 1 :] for each in new if each.startswith(f"{layer}_")]
    after = _size(run, table) if done else before
    run.report.maintained.append(Maintained(layer, done, before, after))


def _size(run: TableRun, table: Table) -> LayerSize:
    if isinstance(table, ParquetTable):
        return table.size()
    files = run.store.list(f"{table.path}/")
    return layer_size(files, table.path, table.replaced_groups())


def _do_what_is_due(run: TableRun, layer: str, table: Table) -> None:
    due = run.spec.maintenance
    if isinstance(table, ParquetTable):
        warn_of_size(run, layer, table)
        if len(table.instants()) > due.keep_commits:
            catalog.register(run)  # what it names until then may be removed
            _note(run, layer, "cleaning", table.clean(due.keep_commits))
        return
    if layer == "changes":
        _cluster_where_due(run, table, due.cluster_after)
    elif run.spec.storage.type is TableType.MERGE_ON_READ:
        for operation in _compactions(table, due.compact_after):
            _note(run, layer, "compaction", _compact(run, table, operation))
    if layer in ("current", "history"):
        warn_of_size(run, layer, table)
    is_cleaned = _commits(table) > due.keep_commits
    publish(run, [layer], keep_commits=due.keep_commits if is_cleaned else None)
    if is_cleaned:
        _note(run, layer, "cleaning", table.clean(clean_options(due.keep_commits)))


def warn_of_size(run: TableRun, layer: str, table: Table) -> None:
    """Warn where a bucket has outgrown one core, and propose a number of buckets."""
    storage = run.spec.storage
    if storage.index is not Index.BUCKET:
        return
    largest = max(sizes(run, table), default=0)
    proposed = resized(storage.buckets, largest)
    if proposed is None:
        return
    words = (
        f"the largest file of {layer} has {largest:,} bytes (limit {LARGEST:,}) with "
        f"storage.buckets: {storage.buckets}. Write `buckets: {proposed}`, then run "
        f"{run.spec.domain}_rebuild for the table."
    )
    run.warn(WarningId.LARGE_BUCKET, words)


def finish_killed(run: TableRun, layer: str, table: HudiTable) -> None:
    """Bring to an end what was killed: writes are taken away, maintenance is done."""
    table.roll_back_failed_writes()
    if table.has_unfinished():
        maintenance = _cluster if layer == "changes" else _compact
        maintenance(run, table, "execute")


def compact_all(run: TableRun, table: HudiTable) -> None:
    """Merge every log file of a table into its base files."""
    for operation in _compactions(table, 1):
        _compact(run, table, operation)


def _compactions(table: HudiTable, due: int) -> Iterator[str]:
    """Yield what Hudi is asked for: first the end of what was killed, then what is due.

    Next to a new plan it would leave the older one alone, and after the older one
    alone what was written since would be due once more.
    """
    if table.has_unfinished():
        yield "execute"
    if _log_commits(table) >= due:
        yield "scheduleAndExecute"


def _cluster_where_due(run: TableRun, log: HudiTable, due: int) -> None:
    """Cluster the change log's files the same way: what was killed, then what is due."""
    if log.has_unfinished():
        _note(run, "changes", "clustering", _cluster(run, log, "execute"))
    limit = due_below(sizes(run, log), due)
    if limit:
        done = _cluster(run, log, "scheduleAndExecute", limit)
        _note(run, "changes", "clustering", done)


def _note(run: TableRun, layer: str, what: str, instant: Optional[str]) -> None:
    if instant:
        run.report.commits[f"{layer}_{what}"] = instant
        run.say(f"{what} of {layer}: {instant}")


def _log_commits(table: HudiTable) -> int:
    """Count the delta commits since the last compaction."""
    count = 0
    for action in table.actions():
        if action == "commit":
            break
        count += 1
    return count


def _commits(table: HudiTable) -> int:
    return sum(1 for _ in table.actions())


def sizes(run: TableRun, table: Table) -> List[int]:
    """Return the bytes of each file of the newest state of a table."""
    return [each.size for each in _newest_files(run, table)]


def _newest_files(run: TableRun, table: Table) -> List[StoredObject]:
    newest = {file.rpartition("/")[2] for file in table.read().inputFiles()}
    files = run.store.list(f"{table.path}/")
    return [each for each in files if each.uri.rpartition("/")[2] in newest]


def due_below(files: List[int], due: int) -> Optional[int]:
    """Return the least size, of those of small files, that so many files are below.

    So the few that are larger are not written again with each lot of smaller ones.
    """
    for limit in SMALL_FILES:
        if sum(size < limit for size in files) >= due:
            return limit
    return None


def _compact(run: TableRun, table: HudiTable, operation: str) -> Optional[str]:
    schema = table.schema().simpleString()
    if has_lists_and_decimals(schema):
        _refuse_legacy_lists(run, table)
    options = maintenance_options(table.options, schema)
    return _call(run, "run_compaction", table, op=operation, options=options)


def _refuse_legacy_lists(run: TableRun, table: HudiTable) -> None:
    """Refuse to compact files whose lists would become null.

    All files of a commit have lists in one form, so one of each is opened.
    """
    named = {each.uri: data_file(each.uri) for each in _newest_files(run, table)}
    base = {of.instant: uri for uri, of in named.items() if of and not of.is_log}
    for file in base.values():
        if has_legacy_lists(run.spark, file):
            raise LegacyLists(
                f"{row_value(file)}: an earlier version compacted this file, and its lists are in "
                "Parquet's legacy form, which a compaction reads as null. Nothing was "
                f"compacted. Run {run.spec.domain}_rebuild for the table "
                f"{run.spec.name}, then start the run again."
            )


def _cluster(
    run: TableRun, table: HudiTable, operation: str, smaller_than: Optional[int] = None
) -> Optional[str]:
    options = clustering_options(table.options, smaller_than)
    return _call(
        run, "run_clustering", table, op=operation, order=LogColumn.KEY, options=options
    )


def _call(
    run: TableRun, procedure: str, table: HudiTable, **arguments: str
) -> Optional[str]:
    """Call a procedure of Hudi on the table's path; return the instant of what it did.

    Values enter the text as literals.
    """
    given = {"path": table.path, **arguments}
    text = ", ".join(f"{name} => {sql_literal(value)}" for name, value in given.items())
    table.before_commit()
    try:
        done = session_for_statements().sql(f"CALL {procedure}({text})").collect()
    finally:
        table.forget()
    return str(done[0][0]) if done else None
