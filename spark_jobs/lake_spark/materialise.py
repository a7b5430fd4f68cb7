"""Bring current and history up to the change log."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Dict, Optional, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from lake_spec.model import Feed, SurrogateKind, TableSpec
from lake_spark import definition, derived, fold, partial_images, scopes
from lake_spark import whole_table, withdrawals
from lake_spark.current import current_layer
from lake_spark.derived import Built, Layer, TouchedEvents
from lake_spark.errors import UnfinishedRedo
from lake_spark.history import history_layer, numbered_layer
from lake_spark.hudi_table import HudiTable
from lake_spark.inputs import NARROW, PARTIAL, RENAMED, WIDE, Inputs
from lake_spark.log_rows import ALL_KEYS, IS_LOAD, RELOAD
from lake_spark.moved_keys import moved_keys
from lake_spark.row_sql import Columns, typed
from lake_spark.spark_types import typed_names, with_types
from lake_spark.table_run import TableRun, table_columns
from lake_spark.widening import is_same


@dataclass(frozen=True)
class Pending:
    """What the log holds that a table was not built from yet."""

    since: Optional[str]
    log_instant: str
    taken: Inputs


def pending(run: TableRun, table: HudiTable, *, anew: bool) -> Optional[Pending]:
    """What to build: from the whole log if anew, else if the table is behind it."""
    newest = run.log.last_instant("inputs")
    built = None if anew else table.last_value(derived.LOG_INSTANT)
    if newest is None or newest == built:
        return None
    taken = run.taken_in()
    if _is_half_redone(run, taken.redo, anew=anew):
        return None
    return Pending(built, newest, taken)


def _is_half_redone(run: TableRun, paths: Sequence[str], *, anew: bool) -> bool:
    """Whether the log waits for extracts of a redo: nobody may see it folded."""
    if not paths:
        return False
    words = (
        f"a redo is not finished, {len(paths)} file(s) are still to be taken anew, "
        f"first {paths[0]}: run {run.spec.domain}_redo or {run.spec.domain}_incremental"
    )
    if anew:
        raise UnfinishedRedo(f"{run.spec.full_name}: {words}.")
    run.report.warnings.append(f"the tables stay as they were: {words}")
    return True


def build_current(run: TableRun, *, anew: bool = False) -> Dict[str, int]:
    """Bring current up to the log; duplicates found per landing path."""
    waiting = pending(run, run.current, anew=anew)
    if waiting is None:
        keep_counts(run)
        return {}
    kinds = table_columns(run.spec, run.log)
    columns = [name for name, _ in kinds]
    waiting = _anew_if_retyped(run.current, waiting, kinds)
    marked, keys = _marked(run, waiting, kinds)
    marked = marked.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        duplicates = {}
        if isinstance(run.spec.source, Feed):  # extracts are compared on their way in
            duplicates = _duplicates(marked, waiting.since)
            run.report.ties += _ties(run, marked, waiting.since)
        layer = current_layer(run.spec, columns)
        _build(run, layer, marked, keys, waiting, columns)
    finally:
        marked.unpersist()
    return duplicates


def build_history(run: TableRun, *, anew: bool = False) -> bool:
    """Bring history up to the log; whether a commit was made."""
    waiting = pending(run, run.history, anew=anew)
    if waiting is None:
        keep_counts(run)
        return False
    kinds = table_columns(run.spec, run.log)
    columns = [name for name, _ in kinds]
    waiting = _anew_if_retyped(run.history, waiting, kinds)
    marked, keys = _marked(run, waiting, kinds)
    layer = layer_of_history(run, columns, _narrow(run, waiting.taken))
    _build(run, layer, marked, keys, waiting, columns)
    return True


def write(run: TableRun, layer: Layer, events: TouchedEvents, **said: str) -> None:
    """Write what differs as one commit that says so, and tell the report."""
    built = derived.build(
        getattr(run, layer.name),
        layer,
        events,
        partition_by=run.spec.storage.partition_by,
        metadata={
            **run.commit_metadata(),
            "definition": json.dumps(definition.of_table(run.spec, layer.name)),
            **said,
        },
        must_be_open=_living(run, layer, events.log_instant),
    )
    _note(run, layer.name, built)


def _note(run: TableRun, layer: str, built: Built) -> None:
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
    run: TableRun, columns: Sequence[str], narrow: Sequence[str] = ()
) -> Layer:
    """How the history of this run's table is built, its surrogate keys told."""
    layer = replace(
        history_layer(run.spec, columns, narrow),
        on_removed=lambda changes: _note_moved_keys(run, changes),
    )
    if run.spec.history.surrogate_key.kind is SurrogateKind.DETERMINISTIC:
        return layer
    return numbered_layer(layer, run.spec, run.surrogate_keys, run.commit_metadata())


def _note_moved_keys(run: TableRun, changes: DataFrame) -> None:
    moved = moved_keys(changes, run.spec)
    run.report.keys_moved = moved.count
    run.report.moved_keys = list(moved.first)
    if moved.count:
        run.say(f"{moved.count:,} surrogate keys went, as the report lists")


def _anew_if_retyped(table: HudiTable, waiting: Pending, columns: Columns) -> Pending:
    """A stored column never changes its type: the table is built anew instead.

    New columns are none of it, they are added by the next commit (decision 013).
    """
    if waiting.since is None:
        return waiting
    stored = dict(typed_names(table.schema()))
    retyped = any(
        name in stored and not is_same(stored[name], kind)
        for name, kind in typed(columns)
    )
    return replace(waiting, since=None) if retyped else waiting


def _narrow(run: TableRun, taken: Inputs) -> Sequence[str]:
    """The paths of doubles that came as floats, in files or in the table before."""
    held = [each for each in taken.holds if each.startswith(NARROW)]
    told = {each[len(NARROW) :] for each in held}
    return sorted(told.union(run.log.narrow_paths()))


def _marked(run: TableRun, waiting: Pending, columns: Columns) -> tuple:
    read = with_types(run.log.read(), typed(columns))
    log = withdrawals.judged(read, waiting.taken)
    sightings, keys = derived.sightings_of(log, waiting.since, waiting.taken.holds)
    if waiting.since is not None:
        keys = keys.persist()
    names = [name for name, _ in columns]
    return fold.mark_events(sightings, fold.Roles.of(run.spec, names)), keys


def complete_events(
    marked: DataFrame, spec: TableSpec, roles: fold.Roles, holds: Sequence[str]
) -> DataFrame:
    """Each key's events, with the deletes of every key and the values not sent."""
    events = fold.distinct_events(marked)
    scope = spec.scope
    if scope:
        events = scopes.standing_events(events, scope.column, roles)
    if WIDE in holds:
        events = whole_table.with_deletes_of_all(events, roles, spec)
    if PARTIAL in holds:
        dropped = [name for name, column in spec.columns if column.dropped]
        events = partial_images.with_values_before(
            events, roles, dropped, renamed=RENAMED in holds
        )
    return events


def _build(
    run: TableRun,
    layer: Layer,
    marked: DataFrame,
    keys: DataFrame,
    waiting: Pending,
    columns: Sequence[str],
) -> None:
    try:
        roles = fold.Roles.of(run.spec, columns)
        complete = complete_events(marked, run.spec, roles, waiting.taken.holds)
        if layer.name == "current":
            run.report.unresolved += _unresolved(complete)
        events = TouchedEvents(complete, keys, waiting.since, waiting.log_instant)
        write(run, layer, events)
    finally:
        keys.unpersist()


def _living(run: TableRun, layer: Layer, log_instant: str) -> Optional[int]:
    """How many versions must be open: the rows of current, built from the same log."""
    if layer.name != "history":
        return None
    if run.current.last_value(derived.LOG_INSTANT) != log_instant:
        return None
    return open_rows(run)


def _duplicates(marked: DataFrame, since: Optional[str]) -> Dict[str, int]:
    """New sightings of events that an earlier row of the log already was."""
    landed = _is_new(since) & (F.col("lake_op") != RELOAD)
    again = marked.where(landed & (F.col("lake_arrival") > 1))
    return {
        row.lake_path: row["count"]
        for row in again.groupBy("lake_path").count().collect()
    }


def _is_new(since: Optional[str]) -> Column:
    return F.lit(True) if since is None else F.col("_hoodie_commit_time") > since


def _ties(run: TableRun, marked: DataFrame, since: Optional[str]) -> int:
    """Keys and orders at which events of several files stand, new ones among them."""
    changes = marked.where("lake_seen = 1").where(~F.expr(IS_LOAD))
    places = changes.where(F.col(fold.KEY) != ALL_KEYS).groupBy(
        fold.KEY, *(run.spec.order_by or ("lake_extract_at",))
    )
    found = places.agg(
        F.count_distinct("lake_path").alias("files"), F.max(_is_new(since)).alias("new")
    )
    return found.where("files > 1 AND new").count()


def _unresolved(events: DataFrame) -> int:
    """Values not sent that had nothing before them."""
    if partial_images.UNRESOLVED not in events.columns:
        return 0
    return events.agg(F.sum(partial_images.UNRESOLVED)).first()[0] or 0


def living_keys(run: TableRun) -> Optional[DataFrame]:
    """The keys that live as of the last build, None before the first."""
    if not run.current.has_data():
        return None
    return living_rows(run).select(fold.KEY)


def living_rows(run: TableRun) -> DataFrame:
    """The rows of current that are not marked as deleted."""
    stored, mark = run.current.read(), run.spec.history.columns.is_deleted
    return stored.where(~F.col(mark)) if mark in stored.columns else stored


def keep_counts(run: TableRun) -> None:
    """Counts of tables that needed nothing, as their last commits say."""
    if run.current.has_data():
        run.report.current_rows = open_rows(run)
    if run.history.has_data():
        rows, still_open = (
            run.history.last_value(n) for n in (derived.ROWS, derived.OPEN)
        )
        run.report.versions, run.report.versions_open = int(rows or 0), int(
            still_open or 0
        )


def open_rows(run: TableRun) -> int:
    """How many rows current has, as its last commit says."""
    return int(run.current.last_value(derived.OPEN) or 0)
