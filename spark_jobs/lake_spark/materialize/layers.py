"""Bring current and history up to the change log."""

from __future__ import annotations

import json
from contextlib import ExitStack
from functools import partial
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.model import FeedTable, FileTable, SurrogateKind
from lake_spark.changelog import retractions
from lake_spark.changelog.not_sent import is_missing
from lake_spark.changelog.schema import (
    ALL_KEYS,
    DELETE,
    FULL_REFRESH,
    IS_LOAD,
    LogColumn,
    UPSERT,
)
from lake_spark.checks import table_checks
from lake_spark.landing.ingested_files import IngestedFiles, LogContents
from lake_spark.materialize import affected_keys, difference, previous_rows
from lake_spark.materialize.affected_keys import AffectedKeys
from lake_spark.materialize.difference import AffectedEvents, Built
from lake_spark.materialize.pending import Pending, rebuild_if_retyped, pending
from lake_spark.scd2 import all_key_deletes, partial_updates, snapshot_scopes
from lake_spark.scd2.current import CurrentLayer, mark_of, not_deleted
from lake_spark.scd2.derived_table import Layer
from lake_spark.scd2.events import (
    distinct_events,
    KEY,
    mark_events,
    marked_then,
    may_restart,
    Roles,
)
from lake_spark.scd2.history import HistoryLayer
from lake_spark.scd2.order import FORMER, total_order, with_epochs
from lake_spark.scd2.surrogate_key_changes import moved_keys
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.spark_jobs import (
    cache_until,
    in_background,
    nothing,
    row_of,
)
from lake_spark.tables import recorded_settings
from lake_spark.tables.table_run import FileRun, table_columns, TableRun, VersionedRun


def build_current(run: FileRun, *, rebuild: bool = False) -> Dict[str, int]:
    """Bring current up to the log; return duplicates found per landing path."""
    current = run.hudi("current")
    waiting = pending(run, current, rebuild=rebuild)
    if waiting is None:
        keep_counts(run)
        return {}
    if run.dry_run:
        run.report.warn(
            WarningId.DRY_RUN_NOT_BUILT,
            "current lacks what an earlier run ingested, and a dry run does not build it. "
            "Run without dry_run first.",
        )
        return {}
    kinds = table_columns(run.spec, run.log)
    columns = [name for name, _ in kinds]
    waiting = rebuild_if_retyped(current, waiting, kinds)
    roles = Roles.of(run.spec, columns)
    with ExitStack() as kept:
        found = kept.enter_context(
            affected_keys.find_affected(run, current, waiting, kinds)
        )
        marked = cache_until(_marked(found, waiting, roles), kept)
        find = partial(_findings, run, marked, waiting.since)
        # Two jobs would mark the same rows on two executors: of all keys they are many.
        findings = kept.enter_context(
            in_background(find, done_first=waiting.since is None)
        )
        layer = CurrentLayer(run.spec, columns)
        _build(run, layer, found, marked, waiting, roles, findings)
        duplicates, ties, restarts = findings()
    run.report.ties += ties
    for each in restarts:
        run.report.warn(WarningId.RESTARTED_LOG, each)
    return duplicates


def build_history(run: FileRun, *, rebuild: bool = False) -> bool:
    """Bring history up to the log; return whether a commit was made."""
    waiting = pending(run, run.history, rebuild=rebuild)
    if waiting is None:
        keep_counts(run)
        return False
    kinds = table_columns(run.spec, run.log)
    columns = [name for name, _ in kinds]
    waiting = rebuild_if_retyped(run.history, waiting, kinds)
    layer = layer_of_history(run, columns, _narrow(run, waiting.ingested))
    roles = Roles.of(run.spec, columns)
    with ExitStack() as kept:
        found = kept.enter_context(
            affected_keys.find_affected(run, run.history, waiting, kinds)
        )
        marked = _marked(found, waiting, roles)
        made: Callable[[], Any] = nothing
        if found.is_folded:  # twice
            marked = cache_until(marked, kept)
            made = kept.enter_context(in_background(marked.count))
        _build(run, layer, found, marked, waiting, roles, made)
    affected_keys.clear(run)
    return True


def write(
    run: VersionedRun,
    layer: Layer,
    events: AffectedEvents,
    before_commit: Callable[[], Any] = nothing,
    said: Mapping[str, str] = {},
) -> None:
    """Write what differs as one commit that says so, and note it in the report.

    What `before_commit` raises stops it, and so do checks of the table.
    """
    table = run.hudi(layer.name)
    built = difference.build(
        table,
        layer,
        events,
        partition_by=run.spec.storage.partition_by,
        metadata={
            **run.commit_metadata(),
            CommitValue.DEFINITION: json.dumps(
                recorded_settings.of_table(run.spec, layer.name)
            ),
            **previous_rows.said(table, events.since),
            **said,
        },
        must_be_open=_living(run, layer, events.log_instant),
        before_commit=before_commit,
        checks=table_checks.pre_commit(run, layer.name),
    )
    table_checks.settle(run, layer.name)
    _note(run, layer.name, built)


def _note(run: VersionedRun, layer: str, built: Built) -> None:
    report = run.report
    report.commits[layer] = built.instant or ""
    if layer == "current":
        report.current_rows = built.open
        run.say(f"current has {built.open:,} rows, commit {built.instant}")
        return
    report.versions, report.versions_open = built.rows, built.open
    report.versions_opened += built.inserted
    report.versions_closed += built.closed
    run.say(
        f"history has {built.rows:,} versions, {built.open:,} open, commit {built.instant}"
    )


def layer_of_history(
    run: VersionedRun, columns: Sequence[str], narrow: Sequence[str] = ()
) -> Layer:
    """Return how this run's history is built, with its surrogate keys noted."""
    counts_up = run.spec.history.surrogate_key.kind is SurrogateKind.INCREASING
    return HistoryLayer(
        run.spec,
        columns,
        narrow,
        numbers=run.surrogate_keys if counts_up else None,
        metadata=run.commit_metadata(),
        on_removed=partial(_note_moved_keys, run),
    )


def _note_moved_keys(run: VersionedRun, changes: DataFrame) -> None:
    moved = moved_keys(changes, run.spec)
    run.report.keys_moved = moved.count
    run.report.set_moved_keys(moved.first)
    if moved.count:
        run.say(f"{moved.count:,} surrogate keys were replaced; the report lists them")


def _narrow(run: FileRun, ingested: IngestedFiles) -> Sequence[str]:
    """Return the paths of doubles that were floats, in files or in the table before."""
    return sorted(ingested.contents.float_paths.union(run.log.narrow_paths()))


def complete_events(
    marked: DataFrame, spec: FileTable, roles: Roles, contents: LogContents
) -> DataFrame:
    """Return each key's events, with the deletes of every key and the values not sent."""
    events = distinct_events(marked)
    scope = spec.scope
    if scope:
        events = snapshot_scopes.standing_events(events, scope.column, roles)
    if contents.has_all_key_events:
        events = all_key_deletes.with_deletes_of_all(events, roles, spec)
    events = with_epochs(events, roles).drop(FORMER)
    if spec.envelope is not None and spec.load_effective_at is not None:
        events = _with_times_of_snapshots(events, spec, roles)
    if contents.has_unsent_values:
        dropped = [name for name, column in spec.columns if column.dropped]
        events = partial_updates.with_values_before(
            events, roles, dropped, renamed=contents.has_key_changes
        )
    if spec.keeps_absent and spec.effective_at:
        events = _with_times_before(events, spec, spec.effective_at)
    return events


def _with_times_before(
    events: DataFrame, spec: FileTable, effective_at: str
) -> DataFrame:
    """Date upserts whose records lack the time by the one before, as whole records are."""
    before = F.col(effective_at).cast("timestamp")
    is_unsent = F.expr(is_missing(effective_at)) & before.isNotNull()
    is_dated = is_unsent & (F.col(LogColumn.OP) == UPSERT)
    if spec.load_effective_at is not None:
        is_dated &= F.col(LogColumn.RANK) > 0
    time = F.when(is_dated, before).otherwise(F.col(LogColumn.EFFECTIVE_AT))
    return events.withColumn(LogColumn.EFFECTIVE_AT, time)


def _with_times_of_snapshots(
    events: DataFrame, spec: FileTable, roles: Roles
) -> DataFrame:
    """Date snapshot rows behind other events of their key from their own snapshot."""
    order = Window.partitionBy(KEY).orderBy(*total_order(roles))
    later = (F.row_number().over(order) > 1) & F.col(LogColumn.STARTED).isNotNull()
    assert spec.effective_at is not None, "else no row has another time"
    own = F.coalesce(F.col(spec.effective_at).cast("timestamp"), LogColumn.EFFECTIVE_AT)
    time = F.when(later, own).otherwise(F.col(LogColumn.EFFECTIVE_AT))
    return events.withColumn(LogColumn.EFFECTIVE_AT, time)


def _marked(found: AffectedKeys, waiting: Pending, roles: Roles) -> DataFrame:
    then = waiting.since if found.is_folded else None
    return mark_events(found.deliveries, roles, then)


def _build(
    run: FileRun,
    layer: Layer,
    found: AffectedKeys,
    marked: DataFrame,
    waiting: Pending,
    roles: Roles,
    before_commit: Callable[[], Any],
) -> None:
    def complete(marked: DataFrame) -> DataFrame:
        return complete_events(marked, run.spec, roles, waiting.ingested.contents)

    events, before = complete(marked), None
    if layer.name == "current":
        run.report.unresolved += _unresolved(events)
    if found.is_folded:
        before = complete(marked_then(marked))
    write(
        run,
        layer,
        AffectedEvents(
            events,
            found.keys,
            waiting.since,
            waiting.log_instant,
            before=before,
            single_events=found.single_events,
        ),
        before_commit,
        said={CommitValue.REPROCESSES: str(waiting.ingested.reprocesses)},
    )


def _living(run: VersionedRun, layer: Layer, log_instant: str) -> Optional[int]:
    """Return how many versions must be open: current's rows, built from the same log."""
    if layer.name != "history":
        return None
    if run.current.last_value(CommitValue.LOG_INSTANT) != log_instant:
        return None
    return open_rows(run)


def _findings(
    run: FileRun, marked: DataFrame, since: Optional[str]
) -> Tuple[Dict[str, int], int, List[str]]:
    """Return duplicates by landing path, ties, and warnings of logs that started over.

    Snapshots are compared on ingest.
    """
    if not isinstance(run.spec, FeedTable):
        return {}, 0, []
    restarts = _restarts(run.spec, marked, since)
    return _duplicates(marked, since), count_ties(run, marked, since), restarts


def _restarts(spec: FileTable, marked: DataFrame, since: Optional[str]) -> List[str]:
    """Return warnings where new events start over from the log before: contract 2.1."""
    if not may_restart(spec):
        return []
    roles = Roles.of(spec, spec.order_by)
    events = with_epochs(distinct_events(marked), roles)
    started = events.where(F.col(FORMER).isNotNull())
    if since is not None:  # what it starts over from may be late
        newer = F.greatest(retractions.COMMIT, f"{FORMER}.arrived")
        started = started.where(newer > since)
    first = F.min(F.struct(LogColumn.POSITION, LogColumn.PATH, LogColumn.RECORD)).alias(
        "first"
    )
    logs = started.groupBy(F.col(f"{FORMER}.log").alias("former"), LogColumn.LOG)
    rows = logs.agg(F.count("*").alias("keys"), first).orderBy("first").limit(20)
    return [
        f"{_log_of(row)}: {row['keys']:,} key(s) have events that count after those of the "
        f"log before, first {row['first'].lake_path} record {row['first'].lake_record}. "
        "If other changes were lost with the old log, take a new full load "
        "(source.full_refresh)."
        for row in rows.collect()
    ]


def _log_of(row: Row) -> str:
    if row.former is None:
        return "log positions restarted"
    return f"binlog restarted: {row.former} -> {row.lake_log}"


def _duplicates(marked: DataFrame, since: Optional[str]) -> Dict[str, int]:
    """Count per path the new deliveries of events that an earlier row already was."""
    landed = retractions.arrived_after(since) & (F.col(LogColumn.OP) != FULL_REFRESH)
    if LogColumn.OLD_KEY in marked.columns:  # the record counts as what it was made of
        landed &= F.col(LogColumn.OLD_KEY).isNull() | (F.col(LogColumn.OP) != DELETE)
    again = marked.where(landed & (F.col("lake_arrival") > 1))
    return {
        row.lake_path: row["count"]
        for row in again.groupBy(LogColumn.PATH).count().collect()
    }


def count_ties(run: FileRun, marked: DataFrame, since: Optional[str]) -> int:
    """Count keys and orders that have events of several files, new ones among them."""
    changes = marked.where("lake_event_copy = 1").where(~F.expr(IS_LOAD))
    in_log = [LogColumn.LOG] if run.spec.envelope is not None else []
    places = changes.where(F.col(KEY) != ALL_KEYS).groupBy(
        KEY, *in_log, *(run.spec.order_by or (LogColumn.SNAPSHOT_AT,))
    )
    found = places.agg(
        F.count_distinct(LogColumn.PATH).alias("files"),
        F.max(retractions.arrived_after(since)).alias("new"),
    )
    return found.where("files > 1 AND new").count()


def _unresolved(events: DataFrame) -> int:
    """Count the values not sent that had nothing before them."""
    if partial_updates.UNRESOLVED not in events.columns:
        return 0
    return row_of(events.agg(F.sum(partial_updates.UNRESOLVED)))[0] or 0


def living_keys(run: TableRun) -> Optional[DataFrame]:
    """Return the keys that live as of the last build, None before the first."""
    if not run.current.has_data():
        return None
    return living_rows(run).select(KEY)


def living_rows(run: TableRun) -> DataFrame:
    """Return the rows of current that are not marked as deleted."""
    return not_deleted(run.current.read(), mark_of(run.spec))


def keep_counts(run: TableRun) -> None:
    """Keep the counts of tables that needed nothing, as their last commits say."""
    if run.current.has_data():
        run.report.current_rows = open_rows(run)
    if "history" in run.layers and run.history.has_data():
        run.report.versions = run.history.last_count(CommitValue.ROWS)
        run.report.versions_open = run.history.last_count(CommitValue.OPEN)


def open_rows(run: TableRun) -> int:
    """Return how many rows current has, as its last commit says."""
    return run.current.last_count(CommitValue.OPEN)
